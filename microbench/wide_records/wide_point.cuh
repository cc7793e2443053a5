// SPDX-License-Identifier: Apache-2.0
// Point of one operation, with locks and with Warden, by one thread and by several lanes.
#pragma once

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"
#include "microbench/wide_records/lock_arm.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace wide_records {

/// Policy of logs whose sections run under locks.
using logged_by_locks = warden::with_parts<contention::logged, warden::executor::locks<>>;

/// An `Operation` has a `name`, a `record`, a `context`, operations by sections of one thread
/// (`alone`) and of several lanes (`together`, `under_locks`), and a class `memory` for its other
/// data. This class has `memory(n, keys)`, `context()`, `reset(records)` and `verify(ids, n,
/// records)`.
template <class Operation>
class wide_point final : public bench::timed_point {
  using record = typename Operation::record;
  using context = typename Operation::context;

 public:
  explicit wide_point(bench::workload w) : workload_{std::move(w)} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    // Only sections with `never_changes` can check a record without its lock.
    if (arm == "lock_warp_checked") return checks;
    // The records of a partition must fit the shared memory of a block, and a log has a limited
    // number of partitions.
    return arm != "warden_lanes_on_chip" || workload_.keys() <= 1u << 16;
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{Operation::name} + "/" + workload_.name() + "/" + arm +
           "/keys:" + std::to_string(workload_.keys());
  }

 private:
  struct everything {
    everything(std::uint32_t n, std::uint32_t keys) : records{keys}, ids{n}, others{n, keys} {}
    warden::buffer<record> records;
    warden::buffer<std::uint32_t> ids;
    typename Operation::memory others;
  };

  void set_up(std::uint32_t operations) override { memory_.emplace(operations, workload_.keys()); }
  void prepare(std::string const& arm, std::uint32_t n, bench::row& r) override {
    workload_.draw(memory_->ids.data(), n, 1);
    memory_->others.reset(memory_->records);
    if (arm == "lock_warp") r.settings = locks().tune(memory_->ids.data(), n);
    if constexpr (checks) {
      if (arm == "lock_warp_checked") r.settings = checked_locks().tune(memory_->ids.data(), n);
    }
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    workload_.draw(memory_->ids.data(), n, seed);
    memory_->others.reset(memory_->records);
    auto const timed = [&](auto& timed_arm) {
      warden::timer clock;
      clock.start();
      timed_arm.run_async(memory_->ids.data(), n);
      clock.stop();
      warden::measurement const cost = clock.result();
      timed_arm.wait();
      return cost;
    };
    bench::run_result result;
    if (arm == "lock_warp") {
      result.cost = timed(locks());
    } else if (arm == "lock_warp_checked") {
      if constexpr (checks) result.cost = timed(checked_locks());
    } else {
      contention::warden_arm& chosen = arm_of(arm);
      chosen.prepare(n);
      result.cost = timed(chosen);
    }
    result.verified = memory_->others.verify(memory_->ids, n, memory_->records);
    return result;
  }
  void tear_down() override {
    arms_.clear();
    locks_.reset();
    checked_locks_.reset();
    memory_.reset();
  }

  using under_locks = typename Operation::under_locks;
  /// True if a section can tell that it would never change a record, although other threads may
  /// change the record concurrently.
  static constexpr bool checks =
      requires(typename under_locks::section const& section, record const& r) {
    section.never_changes(r);
  };
  template <bool Checks>
  using optional_locks = std::optional<lock_arm<under_locks, Checks>>;
  template <bool Checks>
  auto& made(optional_locks<Checks>& locks) {
    if (!locks) locks.emplace(memory_->records.data(), workload_.keys(), memory_->others.context());
    return *locks;
  }
  auto& locks() { return made<false>(locks_); }
  auto& checked_locks() { return made<checks>(checked_locks_); }
  contention::warden_arm& arm_of(std::string const& name) {
    using warden::placement;
    auto& made = arms_[name];
    if (made) return *made;
    auto const make = [&]<class Run, class Policy, placement Where>() {
      made = std::make_unique<contention::deferred_arm_of<Run, Policy, Where, bench::block_sender>>(
          memory_->records.data(), workload_.keys(), memory_->others.context());
    };
    auto const make_fused = [&]<class Run>() {
      made = std::make_unique<contention::warden_arm_of<
          Run, contention::executor_policy<warden::executor::sorted<>>, placement::in_memory>>(
          memory_->records.data(), workload_.keys(), memory_->others.context());
    };
    using alone = typename Operation::alone;
    using together = typename Operation::together;
    if (name == "warden_thread")
      make.template operator()<alone, contention::logged, placement::in_memory>();
    if (name == "warden_lanes")
      make.template operator()<together, contention::logged, placement::in_memory>();
    if (name == "warden_lanes_on_chip")
      make.template operator()<together, contention::logged, placement::on_chip>();
    if (name == "warden_lanes_locks")
      make.template operator()<together, logged_by_locks, placement::in_memory>();
    if (name == "warden_fused_thread") make_fused.template operator()<alone>();
    if (name == "warden_fused_lanes") make_fused.template operator()<together>();
    return *made;
  }

  bench::workload workload_;
  std::optional<everything> memory_;
  optional_locks<false> locks_;
  optional_locks<checks> checked_locks_;
  std::map<std::string, std::unique_ptr<contention::warden_arm>> arms_;
};

}  // namespace wide_records
