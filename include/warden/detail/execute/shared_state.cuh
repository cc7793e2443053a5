// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that a guarded array shares with its logs, also if any of them is moved.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/log_shard.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The part of a guarded array's state that its fused launches need.
class fused_part {
 public:
  fused_part() = default;
  virtual ~fused_part() = default;
  fused_part(fused_part const&) = delete;
  fused_part& operator=(fused_part const&) = delete;

  /// Returns the device memory of this part. Units: bytes.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Adds the state of the channels of a failed launch to `d`. Blocks the host. Precondition: the
  /// launch has ended.
  virtual void describe(diagnosis& d, failed_launch const& failed, stream_ref s,
                        std::source_location where) const = 0;
  /// Notes that a report was made, or that there is nothing to report.
  virtual void reported() = 0;
  /// Makes all channels and rings empty. Blocks the host.
  virtual void reset_channels(stream_ref s, std::source_location where) = 0;
  /// Forgets all calls. Blocks the host.
  virtual void reset_answers(stream_ref s, std::source_location where) = 0;
};

/// State that a guarded array shares with its logs; lives as long as any of them.
struct shared_state {
  /// Makes the state of a guarded array without failure and with an empty report. Blocks the host.
  /// Throws cuda_error.
  explicit shared_state(std::source_location where)
      : report{2, where},
        at_work{1, where},
        control{std::make_shared<buffer<launch_control>>(1, where)},
        last_work{where} {
    report.fill_bytes(0, {}, where);
    at_work.fill_bytes(0, {}, where);
    control->fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
  }
  /// Destroys the state for fused launches.
  ~shared_state() { delete fused_.load(); }
  shared_state(shared_state const&) = delete;
  shared_state& operator=(shared_state const&) = delete;

  /// Misuse by clients, and totals; followed by the part that `wait` has taken.
  buffer<guarded_report> report;
  /// Nonzero while the records are in use: 1 by a run, another number by a launch.
  buffer<std::uint32_t> at_work;
  /// Health, and counters of launches. Launches with other guarded arrays keep it alive.
  std::shared_ptr<buffer<launch_control>> control;
  bool has_logs = false;    ///< true from the first log on
  std::uint64_t waits = 0;  ///< times that `wait` has waited for all runs and launches
  /// Records of all ranks together, if the guarded array has one rank's share of them; otherwise 0.
  std::uint64_t all_records = 0;
  /// Recorded after all runs of logs and all launches, in all streams, captured ones excepted.
  event last_work;

  /// Counts of a destroyed log.
  struct remains {
    buffer<log_shard> shards;
    std::uint32_t size, shard_size;
  };
  /// Destroyed logs, until `wait` has reported the sections left in them.
  std::vector<remains> gone;

  /// Returns the state for fused launches; null before the first one. Thread-safe.
  [[nodiscard]] fused_part* fused() const { return fused_.load(); }
  /// Returns the state for fused launches, which `make` makes if there is none. Thread-safe.
  template <class Make>
  fused_part& fused(Make make) {
    fused_part* found = fused();
    if (found != nullptr) return *found;
    std::unique_ptr<fused_part> made = make();
    // If two host threads make one at the same time, the later one is destroyed again.
    if (!fused_.compare_exchange_strong(found, made.get())) return *found;
    return *made.release();
  }

  /// Returns the number of sections left in destroyed logs. Blocks the host. Precondition: none of
  /// their kernels is at work. Throws cuda_error.
  std::uint64_t never_run(stream_ref s, std::source_location where) const {
    std::uint64_t sections = 0;
    for (remains const& log : gone) {
      std::uint64_t begin = 0;
      for (log_shard const& r : log.shards.to_host(s, where)) {
        std::uint64_t const room = std::min<std::uint64_t>(log.shard_size, log.size - begin);
        std::uint64_t const taken = (r.taken & 0xffffffffu) + (r.taken >> 32);
        sections += std::min(taken, room);
        begin += room;
      }
    }
    return sections;
  }
  /// Returns the counters of the report and sets them to zero; the totals stay. Blocks the host.
  /// Throws cuda_error.
  guarded_report take_report(stream_ref s, std::source_location where) {
    guarded_report counted;
    guarded_report const nothing{};
    copy(&counted, report.data(), 1, s, where);
    s.synchronize(where);
    counted.totals = {};
    // Only if there is something to take: the kernel may have to wait until others of the device
    // have ended.
    if (std::memcmp(&counted, &nothing, sizeof(nothing)) == 0) return counted;
    guarded_report* const taken = report.data() + 1;
    launch(&detail::take_report<guarded_report>, 1, simt::warp_size, {s, where}, report.data(),
           taken);
    copy(&counted, taken, 1, s, where);
    s.synchronize(where);
    return counted;
  }
  /// Returns the failure since it was cleared last, if there was one. Blocks the host.
  /// Precondition: launches have ended, and the work of `s` is done.
  std::optional<diagnosis> failure(stream_ref s, std::source_location where) {
    guarded_health health;
    copy(&health, &control->data()->health, 1, s, where);
    s.synchronize(where);
    std::optional<diagnosis> result;
    if (health.poisoned != 0) {
      diagnosis& d = result.emplace();
      d.wait = health.first;
      d.limit_seconds = static_cast<double>(health.failed.limit_nanoseconds) * 1e-9;
      d.client_blocks = d.wait.client_blocks;
      d.client_blocks_done = d.wait.client_blocks_done;
      if (fused() != nullptr) fused()->describe(d, health.failed, s, where);
    }
    if (fused() != nullptr) fused()->reported();
    return result;
  }
  /// Clears the failure, which was reported. Launches run from here on. Blocks the host.
  void clear_failure(stream_ref s, std::source_location where) {
    runtime::fill_async(&control->data()->health, 0, sizeof(guarded_health), s, where);
    s.synchronize(where);
  }
  /// Notes that the guarded array has a log, so launches mark its records from here on. Blocks the
  /// host until the launches that do not mark them have ended, so that no run meets one. Throws
  /// cuda_error.
  void begin_logs(std::source_location where) {
    if (!has_logs) last_work.synchronize(where);  // mutation: launch-before-log
    has_logs = true;
  }
  /// Records that a run of a log, or a launch, is enqueued in `s`. If it is captured the event does
  /// not know when it runs. Allocates nothing. The event stays valid if the stream is destroyed.
  void enqueued(stream_ref s, std::source_location where) {
    if (runtime::capturing(s, where)) return;
    // Runs and launches of one guarded array are ordered already. This wait makes one event come
    // after those of other streams.
    s.wait_for(last_work, where);  // mutation: last-stream
    last_work.record(s, where);
  }

 private:
  std::atomic<fused_part*> fused_ = nullptr;  ///< owned; null before the first launch
};

}  // namespace detail
WARDEN_NAMESPACE_END
