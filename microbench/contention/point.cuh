// SPDX-License-Identifier: Apache-2.0
// How a point is measured: warm-up, a trial run that sets the number of operations, and rounds in
// which every arm runs once.
#pragma once

#include "arms.cuh"
#include "point.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace contention {

template <class Operation>
class point_of final : public point {
 public:
  explicit point_of(class workload w) : workload_{std::move(w)} {}

  [[nodiscard]] std::string operation() const override { return Operation::name; }
  [[nodiscard]] std::string workload() const override { return workload_.name(); }
  [[nodiscard]] std::uint32_t keys() const override { return workload_.keys(); }
  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm != "atomics" || Operation::has_atomic;
  }

  row measure(std::string const& arm, std::vector<std::string> const& arms,
              std::uint32_t operations, unsigned repetitions) override {
    if (rows_.empty() && failure_.empty()) {
      try {
        measure_all(arms, operations, repetitions);
      } catch (std::exception const& e) {
        failure_ = e.what();  // of all arms: rows half filled would look finished
      }
    }
    if (!failure_.empty()) throw std::runtime_error{failure_};
    return rows_.at(arm);
  }

 private:
  static constexpr std::uint32_t least = 1u << 16, most = 1u << 26;
  /// A run should last 20 to 300 ms; aim between.
  static constexpr double aim_seconds = 0.05;

  void measure_all(std::vector<std::string> const& arms, std::uint32_t operations,
                   unsigned repetitions) {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    std::uint32_t const fixed = operations != 0 ? operations : simulated ? 1024 : 0;
    runner<Operation> runner{fixed != 0 ? fixed : most, keys()};
    bool const tunes = std::find(arms.begin(), arms.end(), "lock_tuned") != arms.end();
    if (tunes) runner.tune(workload_, simulated ? 256 : fixed != 0 ? fixed : most);

    std::map<std::string, std::vector<double>> seconds;
    for (std::string const& arm : arms) {
      if (!has(arm)) continue;
      row& r = rows_[arm];
      r.verified = true;
      r.operations = fixed != 0 ? fixed : suitable(runner, arm, r.verified);
      if (arm == "lock_tuned") r.settings = runner.tuned();
    }
    std::uint64_t seed = 100;
    for (unsigned round = 0; round < repetitions; ++round) {
      for (std::string const& arm : arms) {
        if (!has(arm)) continue;
        row& r = rows_[arm];
        auto const n = static_cast<std::uint32_t>(r.operations);
        run_result const result = runner.run(arm, workload_, n, ++seed);
        r.verified = r.verified && result.verified;
        seconds[arm].push_back(result.cost.seconds);
        if (simulated) {
          auto const each = [&](std::uint64_t count) { return static_cast<double>(count) / n; };
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
      r.counters["repetitions"] = repetitions;
      if (!simulated) {
        r.counters["slowest_per_second"] = static_cast<double>(r.operations) / times.back();
        r.counters["fastest_per_second"] = static_cast<double>(r.operations) / times.front();
      }
    }
  }

  /// Warm-up and trial in one: runs grow until one is long enough to tell how many operations are
  /// right.
  std::uint32_t suitable(runner<Operation>& runner, std::string const& arm, bool& verified) {
    bool warm = false;
    for (std::uint32_t n = least;; n *= 8) {
      run_result result = runner.run(arm, workload_, n, 1);
      // A cold start does not matter to a run that is long enough.
      if (!warm && result.cost.seconds < aim_seconds) result = runner.run(arm, workload_, n, 2);
      warm = true;
      verified = verified && result.verified;
      double const s = result.cost.seconds;
      if (s < aim_seconds / 16 && n < most / 8) continue;
      std::uint32_t best = least;
      while (best < most && s / n * 2 * best <= aim_seconds) best *= 2;
      return best;
    }
  }

  class workload workload_;
  std::map<std::string, row> rows_;
  std::string failure_;
};

template <class Operation>
std::shared_ptr<point> make_point_of(std::string const& name, std::uint32_t keys,
                                     std::string const& file) {
  if (!file.empty())
    return std::make_shared<point_of<Operation>>(workload::list(name, read_ids(file)));
  return std::make_shared<point_of<Operation>>(name == "uniform" ? workload::uniform(keys)
                                                                 : workload::zipf(keys));
}

// Each in a translation unit of its own: the kernels of one operation take long enough to compile.
std::shared_ptr<point> make_push_point(std::string const& name, std::uint32_t keys,
                                       std::string const& file);
std::shared_ptr<point> make_add_point(std::string const& name, std::uint32_t keys,
                                      std::string const& file);
std::shared_ptr<point> make_update_point(std::string const& name, std::uint32_t keys,
                                         std::string const& file);

}  // namespace contention
