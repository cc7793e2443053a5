// SPDX-License-Identifier: Apache-2.0
// Arms that do the same work again and again, by turns.
#pragma once

#include "microbench/support/point.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Calls `run(arm)`, which returns a run_result, for each of the rows in turn, `repetitions` times;
/// a row gets the median. Rows have their operations, and say whether they have been right so far.
template <class Run>
void by_turns(std::map<std::string, row>& rows, unsigned repetitions, Run run) {
  std::map<std::string, std::vector<double>> seconds;
  warden::runtime::profiled_scope const profiled;
  for (unsigned round = 0; round < repetitions; ++round) {
    for (auto& [arm, r] : rows) {
      run_result const result = run(arm);
      r.verified = r.verified && result.verified;
      seconds[arm].push_back(result.cost.seconds);
      if (result.cost.seconds == 0) note_counts(r, result.cost, r.operations);
    }
  }
  for (auto& [arm, times] : seconds) {
    std::sort(times.begin(), times.end());
    rows[arm].seconds = times[times.size() / 2];
    rows[arm].counters["runs"] = repetitions;
  }
}

}  // namespace bench
