// SPDX-License-Identifier: Apache-2.0
// Point of the hash table benchmark: one operation on one workload.
#pragma once

#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/table.cuh"
#include "microbench/hash_table/oracle.cuh"
#include "microbench/support/workload_point.cuh"

#include <warden/stream.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace hash_table_bench {

/// An operation that a log runs by itself.
template <class Section>
struct single : Section {
  static constexpr bool combines = false;
};
/// Makes such operations.
template <class Make>
struct make_single {
  Make make;
  using section = std::remove_cvref_t<decltype(std::declval<Make const&>()(0u))>;
  __device__ single<section> operator()(std::uint32_t i) const { return {make(i)}; }
};
/// Table of the arm `warden_deferred_runs`. Other tables combine operations of one key, and use
/// atomics if possible.
template <class Value>
class sorted_table
    : public hash_table::table_by<warden::executor::sorted<>, key_type, Value, keys_type> {
  using base = hash_table::table_by<warden::executor::sorted<>, key_type, Value, keys_type>;

 public:
  using base::base;
  template <class Make>
  void run_async(Make make, std::uint32_t n) {
    base::run_async(make_single<Make>{make}, n);
  }
  template <class Section>
  void reserve(std::uint32_t n) {
    base::template reserve<single<Section>>(n);
  }
};
using in_order = warden::with_parts<hash_table::table_policy, warden::order::sequential>;

template <class Operation>
class point_of final : public bench::workload_point<Operation> {
  using base = bench::workload_point<Operation>;
  using value_type = typename Operation::value_type;
  template <class Policy>
  using deferred_table = hash_table::table<key_type, value_type, keys_type, Policy>;

 public:
  using base::base;

 private:
  using base::keys;
  using base::workload_;

  /// Ids, the memory of the oracle, and the table of each arm, which is made at its first use.
  struct memory {
    memory(std::uint32_t operations, std::uint32_t keys)
        : ids{operations},
          per_key{keys},
          sums{Operation::has_atomic ? 0 : 2 * std::size_t{keys}},
          numbers{2},
          locked{{.capacity = keys}} {}
    warden::buffer<std::uint32_t> ids, per_key;
    warden::buffer<std::uint64_t> sums;
    warden::buffer<std::uint64_t> numbers;  ///< number of entries, number of errors
    hash_table::locked_table<key_type, value_type> locked;
    std::optional<hash_table::atomic_table<key_type, value_type>> atomic;
    std::optional<deferred_table<hash_table::table_policy>> deferred;
    std::optional<sorted_table<value_type>> runs;
    std::optional<deferred_table<in_order>> ordered;
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
      if (arm == "atomics") return run_on(made(memory_->atomic), n);
    }
    if (arm == "warden_deferred_runs") return run_on(made(memory_->runs), n);
    if (arm == "warden_deferred_sequential") return run_on(made(memory_->ordered), n);
    return run_on(made(memory_->deferred), n);
  }
  void tear_down() override { memory_.reset(); }

  template <class Table>
  Table& made(std::optional<Table>& table) const {
    if (!table) table.emplace(hash_table::table_options{.capacity = keys()});
    return *table;
  }

  template <class Table>
  bench::run_result run_on(Table& table, std::uint32_t n) {
    table.clear_async({});
    Operation::start(table, keys());
    reserve<typename Operation::make>(table, n);
    if constexpr (requires { typename Operation::make_erase; })
      reserve<typename Operation::make_erase>(table, n);
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

  /// Makes logs before the clock starts.
  template <class Make, class Table>
  static void reserve(Table& table, std::uint32_t n) {
    using section = std::remove_cvref_t<decltype(std::declval<Make const&>()(0u))>;
    if constexpr (requires { table.template reserve<section>(n); })
      table.template reserve<section>(n);
  }

  template <class Table>
  bool verify(Table& table, std::uint32_t n) {
    memory_->per_key.fill_bytes(0);
    memory_->sums.fill_bytes(0);
    memory_->numbers.fill_bytes(0);
    oracle const o{memory_->ids.data(),
                   n,
                   keys(),
                   memory_->per_key.data(),
                   memory_->sums.data(),
                   memory_->numbers.data(),
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

// Each function is in a translation unit of its own, because the kernels of one operation take long
// to compile.
std::shared_ptr<bench::point> make_count_point(bench::workload w);
std::shared_ptr<bench::point> make_assign_point(bench::workload w);
std::shared_ptr<bench::point> make_churn_point(bench::workload w);
std::shared_ptr<bench::point> make_update_point(bench::workload w);

}  // namespace hash_table_bench
