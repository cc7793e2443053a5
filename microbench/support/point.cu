// SPDX-License-Identifier: Apache-2.0
// Measuring one point.

#include "microbench/support/point.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {

namespace {
/// A run should last 20 to 300 ms; aim between.
constexpr double aim_seconds = 0.05;
/// Operations of a run on the simulated device, and of a sample there.
constexpr std::uint32_t simulated_operations = 1024, simulated_sample = 256;
}  // namespace

row const& point::measure(std::string const& arm, sweep const& s) {
  if (rows_.empty() && failure_.empty()) {
    try {
      measure_all(s);
    } catch (std::exception const& e) {
      failure_ = e.what();  // of all arms: rows half filled would look finished
    }
    tear_down();
  }
  if (!failure_.empty()) throw std::runtime_error{failure_};
  return rows_.at(arm);
}

void point::measure_all(sweep const& s) {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  std::uint32_t const fixed = s.operations != 0 ? s.operations
                              : simulated       ? simulated_operations
                                                : 0;
  set_up(fixed != 0 ? fixed : most);
  for (std::string const& arm : s.arms) {
    if (!has(arm)) continue;
    row& r = rows_[arm];
    r.verified = true;
    if (arm == "lock_tuned")
      r.settings = tune(simulated ? std::min(simulated_sample, fixed) : fixed != 0 ? fixed : most);
    r.operations = fixed != 0 ? fixed : suitable(arm, r.verified);
  }
  std::map<std::string, std::vector<double>> seconds;
  std::uint64_t seed = 100;
  for (unsigned round = 0; round < s.repetitions; ++round) {
    for (auto& [arm, r] : rows_) {
      run_result const result = run(arm, static_cast<std::uint32_t>(r.operations), ++seed);
      r.verified = r.verified && result.verified;
      seconds[arm].push_back(result.cost.seconds);
      if (simulated) {
        auto const each = [&](std::uint64_t count) {
          return static_cast<double>(count) / static_cast<double>(r.operations);
        };
        r.counters["global_atomics"] = each(result.cost.global_atomics);
        r.counters["lock_retries"] = each(result.cost.lock_retries);
        r.counters["sectors"] = each(result.cost.sectors);
        r.counters["messages"] = each(result.cost.messages);
      }
    }
  }
  for (auto& [arm, times] : seconds) {
    std::sort(times.begin(), times.end());
    row& r = rows_[arm];
    r.seconds = times[times.size() / 2];
    r.counters["operations"] = static_cast<double>(r.operations);
    r.counters["runs"] = s.repetitions;
    if (!simulated) {
      r.counters["slowest_per_second"] = static_cast<double>(r.operations) / times.back();
      r.counters["fastest_per_second"] = static_cast<double>(r.operations) / times.front();
    }
  }
}

/// Warm-up and trial in one: runs grow until one is long enough to tell how many operations are
/// right.
std::uint32_t point::suitable(std::string const& arm, bool& verified) {
  bool warm = false;
  for (std::uint32_t n = least;; n *= 8) {
    run_result result = run(arm, n, 1);
    // A cold start does not matter to a run that is long enough.
    if (!warm && result.cost.seconds < aim_seconds) result = run(arm, n, 2);
    warm = true;
    verified = verified && result.verified;
    double const s = result.cost.seconds;
    if (s < aim_seconds / 16 && n < most / 8) continue;
    std::uint32_t best = least;
    while (best < most && s / n * 2 * best <= aim_seconds) best *= 2;
    return best;
  }
}

}  // namespace bench
