// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times at which the phases of a run on several ranks end, for benchmarks.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/stream.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

/// Phases of a run on several ranks. `exchange` is in a stream of its own, concurrent with `home`.
enum class run_phase : unsigned char {
  count,     ///< this rank's messages for each rank are counted
  sort,      ///< messages that single threads sent are sorted into batches
  gather,    ///< the host knows the counts of all ranks
  pack,      ///< outgoing messages are in one piece for each rank
  combine,   ///< tables of partials for other ranks are filled
  exchange,  ///< messages of other ranks have arrived
  home,      ///< sections of this rank on its own records have run
  arrive,    ///< `exchange` and `home` have both ended
  join,      ///< messages that have arrived form one log
  remote,    ///< sections of other ranks have run
};
/// Number of phases.
inline constexpr std::size_t run_phases = 10;
/// Returns the name of a phase.
inline char const* to_string(run_phase phase) {
  constexpr char const* names[run_phases] = {"count",    "sort", "gather", "pack", "combine",
                                             "exchange", "home", "arrive", "join", "remote"};
  return names[static_cast<std::size_t>(phase)];
}
/// [phase] seconds from the begin of a run to the end of the phase; empty if the run had no such
/// phase. Zeros on the simulated device, which has no time.
using run_phase_ends = std::array<std::optional<double>, run_phases>;

namespace detail {

/// Timers of one run, all of which start at its begin.
class run_timeline {
 public:
  /// Notes that a run begins in `s`.
  void begin(stream_ref s, std::source_location where) {
    has_ended_.fill(false);
    for (timer& t : timers_) t.start(s, where);
  }
  /// Notes that the phase ends with the work that `s` contains now.
  void end(run_phase phase, stream_ref s, std::source_location where) {
    auto const p = static_cast<std::size_t>(phase);
    timers_[p].stop(s, where);
    has_ended_[p] = true;
  }
  /// Returns the ends of the phases. Blocks the host until the last run has ended. Throws
  /// cuda_error.
  [[nodiscard]] run_phase_ends ends(std::source_location where) const {
    run_phase_ends found;
    for (std::size_t p = 0; p < run_phases; ++p) {
      if (has_ended_[p]) found[p] = timers_[p].result(where).seconds;
    }
    return found;
  }

 private:
  std::array<timer, run_phases> timers_;
  std::array<bool, run_phases> has_ended_{};
};

}  // namespace detail
WARDEN_NAMESPACE_END
