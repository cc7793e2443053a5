// SPDX-License-Identifier: Apache-2.0
// Interleaved repetitions of the arms of one point.
#pragma once

#include "microbench/support/point.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Calls `run(arm)` for each row in turn, `repetitions` times, and writes the median time and the
/// range of rates to the row. `run` returns a run_result. Precondition: the rows have `operations`
/// after their last repetition, and `verified` holds the result of earlier checks.
template <class Run>
void measure_interleaved(std::map<std::string, row>& rows, unsigned repetitions, Run run) {
  std::map<std::string, std::vector<double>> seconds;
  warden::runtime::profiled_scope const profiled;
  for (unsigned k = 0; k < repetitions; ++k) {
    for (auto& [arm, r] : rows) {
      run_result const result = run(arm);
      r.verified = r.verified && result.verified;
      seconds[arm].push_back(result.cost.seconds);
      if (result.cost.seconds == 0) note_counts(r, result.cost, r.operations);
    }
  }
  for (auto& [arm, times] : seconds) {
    std::sort(times.begin(), times.end());
    row& r = rows[arm];
    r.seconds = times[times.size() / 2];
    r.counters["runs"] = repetitions;
    if (r.seconds == 0) continue;  // the simulated device
    r.counters["slowest_per_second"] = static_cast<double>(r.operations) / times.back();
    r.counters["fastest_per_second"] = static_cast<double>(r.operations) / times.front();
  }
}

}  // namespace bench
