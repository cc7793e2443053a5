// SPDX-License-Identifier: Apache-2.0
/// @file
/// The launches that a guarded took part in and must still ask about, so that no failure is lost
/// between launches, streams and replays of graphs.
#pragma once

#include <warden/detail/launch_record.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

class launch_history {
 public:
  /// What went wrong since it was asked last.
  struct findings {
    std::optional<diagnosis> failure;
    std::string shared;  ///< the error of a client that asked for too much shared memory, or empty
  };

  /// Throws timeout_error for a failure that is known and that `report` has not returned.
  void check_reported(std::source_location where) const {
    for (entry const& e : entries_) {
      if (e.has_unreported_failure()) throw timeout_error{*e.launch->failure, where};
    }
  }

  /// A launch begins in `s`. Returns the health of the one before it, or null: a failure may not be
  /// known yet, and what comes behind it must not touch its channels.
  launch_health const* begin(std::shared_ptr<launch_record> const& launch, stream_ref s) {
    auto const earlier = entries_.empty() ? nullptr : entries_.back().launch;
    bool const captured = runtime::capturing(s);
    std::erase_if(entries_, [&](entry const& e) {
      return !captured && !e.captured && e.launch == launch && e.stream.handle() == s.handle();
    });
    entries_.push_back({launch, s, captured, launch->failures, earlier});
    return earlier ? &earlier->control.data()->health : nullptr;
  }

  /// Asks every launch; blocks the host. The work of `s` is done.
  findings report(stream_ref s) {
    findings result;
    for (entry& e : entries_) {
      auto const& launch = e.launch;
      launch_control control;
      copy(&control, launch->control.data(), 1, s);
      s.synchronize();
      if (control.health.poisoned != 0) {
        launch->failure = diagnose(*launch, control);
        ++launch->failures;
      }
      if (control.shared_asked != 0) {
        result.shared = "client_block::shared: " + std::to_string(control.shared_asked) +
                        " bytes asked for, but the kernel's shared_storage has " +
                        std::to_string(launch->user_shared_bytes);
      }
      if (control.health.poisoned != 0 || control.shared_asked != 0) launch->clear(s);
      if (!e.has_unreported_failure()) continue;
      e.reported = launch->failures;
      // Of several launches that failed, the first one is the cause.
      bool const is_cause = launch->failure->wait.kind != wait_kind::earlier;
      if (!result.failure || (is_cause && result.failure->wait.kind == wait_kind::earlier))
        result.failure = launch->failure;
    }
    // What was launched in another stream may still run, and what was captured may run again.
    std::erase_if(entries_, [&](entry const& e) {
      return !e.captured && (result.failure || e.stream.handle() == s.handle());
    });
    return result;
  }

 private:
  struct entry {
    std::shared_ptr<launch_record> launch;
    stream_ref stream;
    bool captured;                           ///< into a graph: it may run at any time from now on
    std::uint64_t reported;                  ///< of the launch's failures
    std::shared_ptr<launch_record> earlier;  ///< kept alive, because the launch looks at it

    [[nodiscard]] bool has_unreported_failure() const { return launch->failures != reported; }
  };
  /// By last use; each record once for each stream, unless captured.
  std::vector<entry> entries_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
