// SPDX-License-Identifier: Apache-2.0
// A point of the hash table's benchmark: one operation on one workload, by all arms.
#pragma once

#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/table.cuh"
#include "microbench/hash_table/operations.cuh"
#include "microbench/support/workload_point.cuh"

#include <warden/timer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hash_table_bench {

template <class Operation>
WARDEN_KERNEL void prepare_kernel(oracle o) {
  bench::for_each_of(o.n, [&](std::uint64_t i) { Operation::prepare(o, i); });
}
template <class Operation>
struct visit_entry {
  oracle o;
  __device__ void operator()(key_type key, value_type value) const {
    simt::fetch_add(o.entries, std::uint64_t{1});
    Operation::visit(o, key, value);
  }
};
template <class Operation>
WARDEN_KERNEL void finish_kernel(oracle o) {
  bench::for_each_of(o.keys, [&](std::uint64_t id) { Operation::finish(o, id); });
}

template <class Operation>
class point_of final : public bench::workload_point<Operation> {
  using base = bench::workload_point<Operation>;

 public:
  using base::base;

 private:
  using base::keys;
  using base::workload_;

  /// One array of ids and one table an arm; a bucket for each key, on average.
  struct memory {
    memory(std::uint32_t operations, std::uint32_t keys)
        : ids{operations},
          per_key{keys},
          numbers{2},
          runs{{keys, keys}},
          locks{{keys, keys}},
          locked{{keys, keys}},
          atomic{{keys, keys + hash_table::atomic_table_slack()}} {}
    warden::buffer<std::uint32_t> ids, per_key;
    warden::buffer<std::uint64_t> numbers;  ///< entries, wrong
    hash_table::table_by<warden::executor::runs<>, key_type, value_type> runs;
    hash_table::table_by<warden::executor::locks<>, key_type, value_type> locks;
    hash_table::locked_table<key_type, value_type> locked;
    hash_table::atomic_table<key_type, value_type> atomic;
  };

  void set_up(std::uint32_t operations) override { memory_.emplace(operations, keys()); }
  std::string tune(std::uint32_t operations) override {
    workload_.draw(memory_->ids.data(), operations, 1);
    Operation::start(memory_->locked, keys());
    memory_->locked.tune(typename Operation::make{memory_->ids.data()}, operations);
    return memory_->locked.chosen();
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    workload_.draw(memory_->ids.data(), n, seed);
    if (arm == "lock_tuned") return run_on(memory_->locked, n);
    if constexpr (Operation::has_atomic) {
      if (arm == "atomics") return run_on(memory_->atomic, n);
    }
    if (arm == "warden_locks") return run_on(memory_->locks, n);
    return run_on(memory_->runs, n);
  }
  void tear_down() override { memory_.reset(); }

  template <class Table>
  bench::run_result run_on(Table& table, std::uint32_t n) {
    table.clear_async({});
    Operation::start(table, keys());
    table.wait();
    warden::timer clock;
    clock.start();
    Operation::run(table, memory_->ids.data(), n);
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    table.wait();
    result.verified = verify(table, n);
    return result;
  }

  template <class Table>
  bool verify(Table& table, std::uint32_t n) {
    memory_->per_key.fill_bytes(0);
    memory_->numbers.fill_bytes(0);
    oracle const o{
        memory_->ids.data(),        n, keys(), memory_->per_key.data(), memory_->numbers.data(),
        memory_->numbers.data() + 1};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&prepare_kernel<Operation>, blocks, threads, 0, o, {});
    table.for_each_async(visit_entry<Operation>{o});
    simt::launch(&finish_kernel<Operation>, blocks, threads, 0, o, {});
    auto const numbers = memory_->numbers.to_host();
    return numbers[1] == 0 && Operation::adds_up(table.counts(), n, numbers[0]);
  }

  std::optional<memory> memory_;
};

// Each in a translation unit of its own: the kernels of one operation take long enough to compile.
std::shared_ptr<bench::point> make_count_point(bench::workload w);
std::shared_ptr<bench::point> make_assign_point(bench::workload w);
std::shared_ptr<bench::point> make_churn_point(bench::workload w);

}  // namespace hash_table_bench
