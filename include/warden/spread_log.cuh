// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host object of a log on records that are spread over ranks.
#pragma once

#include <warden/deferred_log.cuh>
#include <warden/deferred_options.hpp>
#include <warden/error.hpp>
#include <warden/host/run_timeline.cuh>
#include <warden/host/spread_log.cuh>
#include <warden/launch/deferred_ref.cuh>
#include <warden/launch/record_numbers.cuh>
#include <warden/runtime.hpp>
#include <warden/spread_guarded.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN

/// A log of one rank, for sections on any rank's records: filled as any other log, and run by all
/// ranks together.
///
/// Takes, beside a log's memory, that of its messages once more, for what is packed, and
/// `deferred_options::room` for what comes; neither where there is one rank. Where sections send
/// sections there are two of all that: each holds what the sections of the other one send, and what
/// finds no place is refused and reported. Moves, does not copy.
template <class Policy, class Record, class... Sections>
requires is_spread<Policy>
class deferred<Policy, Record, Sections...> {
  using log_type = detail::spread_log<Policy, Record, Sections...>;
  static constexpr bool sends =
      (forwarding_section_of<Sections, Record, typename Policy::context> || ...);
  static_assert(!(Policy::order::in_order && Policy::combines),
                "warden: order::sequential runs each section by itself: let the policy not say "
                "combines");

 public:
  /// What a kernel is handed, by value.
  using ref_type = typename log_type::ref_type;

  /// A log for `sections` sections of this rank at most. Collective: all ranks make one, with the
  /// same partitions; how many sections each holds, and has room for, is its own. The log
  /// keeps this rank's records alive. Throws limit_error for an impossible plan and cuda_error when
  /// memory is short.
  template <class Guarded>
  deferred(Guarded& of, std::size_t sections, deferred_options chosen = {},
           std::source_location where = std::source_location::current()) {
    logs_.reserve(2);
    for (int k = 0; k < (sends ? 2 : 1); ++k) logs_.emplace_back(of, sections, chosen, where);
    if constexpr (sends) {
      logs_[0].send_to(logs_[1]);
      logs_[1].send_to(logs_[0]);
    }
  }

  /// What kernels that send are handed: trivially copyable, valid as long as the log lives. With
  /// order::sequential each launch has one of its own, and their sections run in the order of
  /// those, behind the sections of lower ranks, and before those of higher ones.
  [[nodiscard]] ref_type ref() { return logs_[0].ref(); }

  /// Runs everything that all ranks' logs accepted by then, each section on the rank that has its
  /// record; and what these sections send, until no rank has any. Collective. Blocks the host until
  /// all ranks have come and the counts of their messages are known, so until what `s` holds has
  /// run; the messages themselves, and the sections, are only enqueued. With one rank, and no
  /// sections that send any, it only enqueues. Where a rank's records are in another run nobody
  /// runs anything, which the guarded's `wait` tells, and the logs stay as they were. Throws
  /// limit_error on all ranks, and leaves the logs as they are, if more would come to a rank than
  /// its log has room for (what sent that, if sections did, has run); limit_error while the stream
  /// is being captured; communicator_error when a rank does not come; cuda_error. If it throws
  /// before sections have left for other ranks, the log holds its sections as before; otherwise it
  /// is emptied, and the guarded's `wait` reports how many may not have run.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    if (runtime::capturing(s, where)) {
      throw limit_error{
          "run: the stream is being captured into a graph, but the ranks have to tell one another "
          "how much they have for each when it runs",
          where};
    }
    logs_[0].run(s, where);
    if constexpr (sends) {
      for (unsigned turn = 1; logs_[turn].run(s, where); turn = 1 - turn) {
      }
    }
  }

  /// From here on each run records when its phases end, by timers in its streams. For benchmarks: a
  /// run takes longer. Sections that sections send are not recorded. Throws cuda_error.
  void record_phases(std::source_location where = std::source_location::current()) {
    logs_[0].record_phases(where);
  }
  /// Ends of the phases of the last run. Precondition: `record_phases` was called before that run.
  /// Blocks the host until the run has ended. Throws cuda_error.
  [[nodiscard]] run_phase_ends phase_ends(
      std::source_location where = std::source_location::current()) const {
    return logs_[0].phase_ends(where);
  }

  /// Sections that it holds.
  [[nodiscard]] std::size_t capacity() const { return logs_[0].capacity(); }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t sum = 0;
    for (log_type const& log : logs_) sum += log.memory_bytes();
    return sum;
  }

 private:
  std::vector<log_type> logs_;  ///< the one that kernels fill, and that which sections do
};

/// Which log is made of a spread_guarded.
template <class Policy, class Record, class... Sections>
deferred(basic_spread_guarded<Policy, Record, Sections...>&, std::size_t, deferred_options = {},
         std::source_location = {}) -> deferred<spread_policy<Policy>, Record, Sections...>;

WARDEN_NAMESPACE_END
