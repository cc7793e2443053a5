// SPDX-License-Identifier: Apache-2.0
// Points that measure the time that a caller waits.

#include "microbench/answers/call_fixture.cuh"
#include "microbench/answers/points.hpp"
#include "microbench/support/clock.cuh"
#include "microbench/support/quantile.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace answers {

namespace {

template <class Clock>
class latency_point final : public bench::point {
 public:
  explicit latency_point(std::uint32_t keys) : keys_{keys} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return has_executor(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{"latency/"} + Clock::name + "/" + arm + "/keys:" + std::to_string(keys_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    std::map<std::string, bench::row> rows;
    for (std::string const& arm : s.arms) {
      if (!has(arm)) continue;
      rows[arm] = with_executor_of(arm, [&]<class Executor>() { return measure_arm<Executor>(s); });
    }
    return rows;
  }

  template <class Executor>
  bench::row measure_arm(bench::sweep const& s) const {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    std::uint32_t const most = simulated ? 16 : 1024;
    std::uint32_t const n = s.operations != 0 ? std::min(s.operations, most) : most;
    call_fixture<Executor> through{keys_, n};
    warden::buffer<std::uint64_t> times{n};
    bench::row r;
    r.verified = true;
    std::vector<double> samples;
    // The first repetition only warms up.
    for (unsigned k = simulated ? 1 : 0; k <= s.repetitions; ++k) {
      auto const result = through.template run<call_alone<Clock>>(n, 100 + k, 1, times.data());
      r.verified = r.verified && result.verified;
      if (simulated) bench::note_counts(r, result.cost, n);
      if (k == 0) continue;
      for (std::uint64_t const time : times.to_host()) samples.push_back(static_cast<double>(time));
    }
    through.describe(r);
    r.counters["operations"] = n;
    r.counters["runs"] = s.repetitions;
    if (simulated) return r;
    std::sort(samples.begin(), samples.end());
    r.counters["median"] = bench::quantile(samples, 0.5);
    r.counters["p99"] = bench::quantile(samples, 0.99);
    r.counters["tick"] = bench::tick_of<Clock>();
    return r;
  }

  std::uint32_t keys_;
};

}  // namespace

std::shared_ptr<bench::point> make_latency_point(bool by_cycles, std::uint32_t keys) {
  if (by_cycles) return std::make_shared<latency_point<bench::cycle_clock>>(keys);
  return std::make_shared<latency_point<bench::nanosecond_clock>>(keys);
}

}  // namespace answers
