// SPDX-License-Identifier: Apache-2.0
// Point of one operation on one workload, by number of GPUs.
#pragma once

#include "microbench/several_gpus/points.hpp"

#include <warden/communicator.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace several_gpus {

/// Stands for an arm that an operation lacks.
struct no_arm {};

/// Point whose arms are made for `n` operations of each rank, as `Rank{world, workload, keys, n,
/// choices}`. The arm `two_gpus_on_chip` is an `OnChip` of the same arguments, `one_gpu_best` is a
/// `Single{workload, keys, n}`. All have three functions. `run(seed)` returns seconds. `phases()`
/// returns the seconds to the end of each phase of the last run, by name, if recorded. `verify()`
/// returns true if the last run was right. `Rank::name` is the name of the operation.
template <class Rank, class OnChip = no_arm, class Single = no_arm>
class point_of final : public bench::point {
 public:
  point_of(std::string workload, std::uint32_t keys, choices const& chosen)
      : workload_{std::move(workload)}, keys_{keys}, chosen_{chosen} {}
  [[nodiscard]] bool has(std::string const& arm) const override {
    if (arm == best_arm && std::is_same_v<Single, no_arm>) return false;
    if (arm == on_chip_arm && std::is_same_v<OnChip, no_arm>) return false;
    return gpus_of(arm) <= gpus_there();
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{Rank::name} + "/" + workload_ + "/" + arm + "/keys:" + std::to_string(keys_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    std::map<std::string, bench::row> rows;
    for (std::string const& arm : s.arms) {
      if (has(arm)) rows[arm] = measure(arm, s);
    }
    return rows;
  }

  /// The time of a repetition is that of its slowest rank.
  bench::row measure(std::string const& arm, bench::sweep const& s) const {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    // The ids and outcomes of all ranks must fit on each GPU.
    std::uint32_t const n = s.operations != 0 ? s.operations : simulated ? 512 : 1u << 26;
    std::vector<double> seconds(s.repetitions);
    std::map<std::string, std::vector<double>> phases;  // [phase][repetition] of the slowest rank
    std::mutex mutex;
    bench::row r;
    r.verified = true;
    auto const measure_runs = [&](auto& one) {
      one.run(99);  // warm-up; leaves state that the repetitions must reset
      for (unsigned k = 0; k < s.repetitions; ++k) {
        double const took = one.run(100 + k);
        bool const good = one.verify();
        std::lock_guard const lock{mutex};
        seconds[k] = std::max(seconds[k], took);
        if (chosen_.has_timeline) {
          for (auto const& [phase, end] : one.phases()) {
            auto& ends = phases.try_emplace(phase, s.repetitions).first->second;
            ends[k] = std::max(ends[k], end);
          }
        }
        r.verified = r.verified && good;
      }
    };
    int const gpus = gpus_of(arm);
    auto const measure_ranks = [&]<class Made>() {
      warden::run_on_gpus(gpus, [&](warden::communicator const& world) {
        Made one{world, workload_, keys_, n, chosen_};
        measure_runs(one);
      });
    };
    if (arm == best_arm) {
      if constexpr (!std::is_same_v<Single, no_arm>) {
        Single one{workload_, keys_, n};
        measure_runs(one);
      }
    } else if (arm == on_chip_arm) {
      if constexpr (!std::is_same_v<OnChip, no_arm>) measure_ranks.template operator()<OnChip>();
    } else {
      measure_ranks.template operator()<Rank>();
    }
    std::sort(seconds.begin(), seconds.end());
    r.operations = std::uint64_t{n} * static_cast<std::uint64_t>(gpus);
    r.counters["operations"] = static_cast<double>(r.operations);
    r.counters["gpus"] = gpus;
    r.counters["runs"] = s.repetitions;
    for (auto& [phase, ends] : phases) {
      std::sort(ends.begin(), ends.end());
      r.counters["seconds_to_" + phase] = ends[ends.size() / 2];
    }
    if (!simulated) {
      r.seconds = seconds[seconds.size() / 2];
      r.counters["slowest_per_second"] = static_cast<double>(r.operations) / seconds.back();
      r.counters["fastest_per_second"] = static_cast<double>(r.operations) / seconds.front();
    }
    return r;
  }

  std::string workload_;
  std::uint32_t keys_;
  choices chosen_;
};

}  // namespace several_gpus
