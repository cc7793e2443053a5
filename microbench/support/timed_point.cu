// SPDX-License-Identifier: Apache-2.0
// Measures one point by timed repetitions.

#include "microbench/support/timed_point.hpp"

#include "microbench/support/enough_operations.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <vector>

namespace bench {

namespace {
/// Operations of a repetition and of a sample on the simulated device.
constexpr std::uint32_t simulated_operations = 1024, simulated_sample = 256;
/// An arm is not repeated if a repetition takes longer: locks on one record take 6 s.
constexpr double slow_seconds = 1;
}  // namespace

std::map<std::string, row> timed_point::measure_all(sweep const& s) {
  try {
    auto const rows = measure_rows(s);
    tear_down();
    return rows;
  } catch (...) {
    tear_down();
    throw;
  }
}

std::map<std::string, row> timed_point::measure_rows(sweep const& s) {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  std::uint32_t const fixed = operations() != 0   ? operations()
                              : s.operations != 0 ? s.operations
                              : simulated         ? simulated_operations
                                                  : 0;
  set_up(fixed != 0 ? fixed : most());
  std::map<std::string, row> rows;
  for (std::string const& arm : s.arms) {
    if (!has(arm)) continue;
    row& r = rows[arm];
    r.verified = true;
    prepare(arm, simulated ? std::min(simulated_sample, fixed) : fixed != 0 ? fixed : most(), r);
    r.operations = fixed != 0 ? fixed : suitable(arm, r.verified);
  }
  std::map<std::string, std::vector<double>> seconds;
  std::uint64_t seed = 100;
  // Earlier repetitions, which chose settings and sizes, are not profiled.
  warden::runtime::profiled_scope const profiled;
  for (unsigned k = 0; k < s.repetitions; ++k) {
    for (auto& [arm, r] : rows) {
      if (k != 0 && seconds[arm].front() > slow_seconds) continue;
      run_result const result = run(arm, static_cast<std::uint32_t>(r.operations), ++seed);
      r.verified = r.verified && result.verified;
      seconds[arm].push_back(result.cost.seconds);
      if (simulated) note_counts(r, result.cost, r.operations);
    }
  }
  for (auto& [arm, times] : seconds) {
    std::sort(times.begin(), times.end());
    row& r = rows[arm];
    r.seconds = times[times.size() / 2];
    r.counters["operations"] = static_cast<double>(r.operations);
    r.counters["runs"] = static_cast<double>(times.size());
    if (!simulated) {
      r.counters["slowest_per_second"] = static_cast<double>(r.operations) / times.back();
      r.counters["fastest_per_second"] = static_cast<double>(r.operations) / times.front();
    }
    finish(arm, r);
  }
  return rows;
}

/// Returns a suitable number of operations. The first trial is also the warm-up.
std::uint32_t timed_point::suitable(std::string const& arm, bool& verified) {
  bool warm = false;
  return enough_operations(least, most(), [&](std::uint32_t n) {
    run_result result = run(arm, n, 1);
    // A cold start does not matter if the repetition is long enough.
    if (!warm && result.cost.seconds < aim_seconds) result = run(arm, n, 2);
    warm = true;
    verified = verified && result.verified;
    return result.cost.seconds;
  });
}

}  // namespace bench
