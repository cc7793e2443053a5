// SPDX-License-Identifier: Apache-2.0
// The benchmark of transactions: YCSB and TPC-C by locks, optimistically and on Warden.

#include "apps/support/number_option.hpp"
#include "apps/transactions/arms.cuh"
#include "apps/transactions/serial_check.cuh"
#include "apps/transactions/tpcc/arms.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <warden/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using transactions::arm;
using transactions::serial_check;
using transactions::ycsb;
using transactions::ycsb_options;
namespace tpcc = transactions::tpcc;

/// A wait without progress ends early, because settings that make none are measured, too.
constexpr transactions::arm_options limits{.limit_seconds = 2};

/// A workload with its tables in device memory.
struct loaded {
  std::function<void()> open_async;  ///< enqueues the first values of all rows
  std::function<std::unique_ptr<arm>(std::string const&)> make_arm;
  /// Returns the error of the last run, which is the first one of its arm or a later one.
  std::function<std::string(bool is_claimed, bool is_first)> error_text;
};

/// Point of one workload. The time begins with the transactions in device memory, and ends when all
/// of them have run. It is the latency of the run. Every repetition is checked.
class transactions_point : public bench::point {
 public:
  transactions_point(std::vector<std::string> arms, std::uint32_t n)
      : arms_{std::move(arms)}, transactions_{n} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    return std::find(arms_.begin(), arms_.end(), arm) != arms_.end();
  }

 private:
  [[nodiscard]] virtual loaded load() const = 0;

  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    loaded const all = load();
    std::map<std::string, std::unique_ptr<transactions::arm>> arms;
    std::map<std::string, bench::row> found;
    for (std::string const& arm : s.arms) {
      if (!has(arm)) continue;
      auto& made = arms[arm] = all.make_arm(arm);
      bench::row& r = found[arm];
      r.settings = made->tune();
      r.operations = transactions_;
      r.verified = run(arm, all, *made, true).verified;
    }
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
      return run(arm, all, *arms[arm], false);
    });
    for (auto& [arm, r] : found) {
      // Counters of the last repetition.
      for (auto const& [counter, count] : last_[arm])
        r.counters[counter] = static_cast<double>(count);
    }
    return found;
  }
  bench::run_result run(std::string const& arm, loaded const& all, transactions::arm& by,
                        bool is_first) {
    all.open_async();
    bench::run_result result;
    result.cost = bench::device_time([&] { by.run_async(); });
    by.wait();
    last_[arm] = by.counters();
    std::string const error_text = all.error_text(by.claims_order(), is_first);
    if (!error_text.empty())
      std::fprintf(stderr, "%s: the check failed: %s\n", name(arm).c_str(), error_text.c_str());
    result.verified = error_text.empty();
    return result;
  }

  std::vector<std::string> arms_;
  std::uint32_t transactions_;
  std::map<std::string, std::map<std::string, std::uint64_t>> last_;
};

class ycsb_point final : public transactions_point {
 public:
  ycsb_point(std::string theta, ycsb_options const& o)
      : transactions_point{transactions::arm_names(), o.transactions},
        theta_{std::move(theta)},
        options_{o} {}

  [[nodiscard]] std::string name(std::string const& arm) const override {
    ycsb_options const usual;
    std::string kind = "ycsb";
    if (options_.writes != usual.writes)
      kind += "_" + std::to_string(static_cast<unsigned>(options_.writes)) + "_writes";
    if (options_.row_bytes != usual.row_bytes)
      kind += "_" + std::to_string(options_.row_bytes) + "_bytes";
    return kind + "/" + theta_ + "/" + arm + "/rows:" + std::to_string(options_.rows) +
           "/transactions:" + std::to_string(options_.transactions);
  }

 private:
  [[nodiscard]] loaded load() const override {
    auto const all = std::make_shared<ycsb>(options_);
    auto const check = std::make_shared<serial_check>(*all);
    return {[all] { all->open_async(); },
            [all](std::string const& arm) { return make_arm(arm, *all, limits); },
            [all, check](bool is_claimed, bool) { return check->error_text(is_claimed); }};
  }

  std::string theta_;
  ycsb_options options_;
};

class tpcc_point final : public transactions_point {
 public:
  explicit tpcc_point(tpcc::tpcc_options const& o)
      : transactions_point{tpcc::arm_names(), o.transactions}, options_{o} {}

  [[nodiscard]] std::string name(std::string const& arm) const override {
    std::string const kind = options_.kinds == tpcc::mix::payments ? "payment" : "new_order";
    return kind + "/tpcc/" + arm + "/warehouses:" + std::to_string(options_.of.warehouses) +
           "/transactions:" + std::to_string(options_.transactions);
  }

 private:
  /// The host replays the first run of each arm. The conditions are checked after every run.
  [[nodiscard]] loaded load() const override {
    auto const all = std::make_shared<tpcc::workload>(options_);
    return {[all] { all->open_async(); },
            [all](std::string const& arm) { return make_arm(arm, *all, limits); },
            [all](bool is_claimed, bool is_first) {
              std::string const error_text = all->condition_error_text();
              if (!error_text.empty() || !is_first) return error_text;
              return all->replay_error_text(is_claimed);
            }};
  }

  tpcc::tpcc_options options_;
};

/// Sets `variable` to each of the values in turn, and calls `f()`.
template <class Value, class Variable, class F>
void for_each_of(std::vector<Value> const& values, Variable& variable, F f) {
  for (Value const value : values) {
    variable = static_cast<Variable>(value);
    f();
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"transactions",
                         "Transactions on several rows: by locks, optimistically and on Warden.",
                         argc, argv};
  std::vector<std::uint32_t> rows, sizes, writes, row_bytes, warehouses;
  std::vector<std::string> thetas, workloads;
  std::vector<std::string> const all_thetas{"0", "0.6", "0.8", "0.9", "0.99"};
  ycsb_options o;
  program.add_names("--workload", workloads, {"ycsb", "new_order", "payment"}, "workloads");
  program.add_numbers("--warehouses", warehouses, tpcc::most_warehouses,
                      "numbers of warehouses of new_order and payment");
  program.add_numbers("--rows", rows, transactions::most_rows, "numbers of rows");
  program.add_numbers("--transactions", sizes, transactions::most_transactions,
                      "numbers of transactions of a run");
  program.add_names("--theta", thetas, all_thetas,
                    "exponents of Zipf's law, by which rows are drawn");
  program.options()
      .add_option("--writes", writes, "shares of operations that write, in percent")
      ->delimiter(',')
      ->transform(apps::whole(0, 100));
  program.options()
      .add_option("--row-bytes", row_bytes, "sizes of a row: 8 and 100")
      ->delimiter(',')
      ->transform(apps::whole())
      ->check(CLI::IsMember({8u, 100u}));
  if (!program.parse(transactions::arm_names(), argc, argv)) return program.exit_code();
  // Threads that wait for a hot row are slow on the simulated device.
  bool const simulated = program.simulated();
  if (rows.empty()) rows = simulated ? std::vector{4096u} : std::vector{1'000'000u, 10'000'000u};
  if (sizes.empty()) sizes = {simulated ? 128u : 1u << 15};
  if (thetas.empty()) thetas = simulated ? std::vector<std::string>{"0", "0.9"} : all_thetas;
  if (writes.empty()) writes = {50, 5};
  if (row_bytes.empty()) row_bytes = {8, 100};
  if (workloads.empty()) workloads = {"ycsb"};
  if (warehouses.empty()) warehouses = simulated ? std::vector{2u} : std::vector{8u, 32u, 128u};
  return program.run([&](bench::program::points& points) {
    auto const has = [&](char const* workload) {
      return std::find(workloads.begin(), workloads.end(), workload) != workloads.end();
    };
    for_each_of(row_bytes, o.row_bytes, [&] {
      for_each_of(rows, o.rows, [&] {
        for_each_of(writes, o.writes, [&] {
          for_each_of(sizes, o.transactions, [&] {
            for (std::string const& theta : thetas) {
              o.theta = std::stod(theta);
              if (has("ycsb")) points.push_back(std::make_shared<ycsb_point>(theta, o));
            }
          });
        });
      });
    });
    tpcc::tpcc_options t;
    if (simulated) t.of = {.customers = 30, .items = 1000};
    for (auto const& [workload, kinds] : {std::pair{"new_order", tpcc::mix::new_orders},
                                          std::pair{"payment", tpcc::mix::payments}}) {
      if (!has(workload)) continue;
      for (std::uint32_t const n : sizes) {
        if (n <= tpcc::most_transactions) continue;
        throw warden::limit_error{"transactions: " + std::to_string(n) +
                                  " transactions of TPC-C; at most " +
                                  std::to_string(tpcc::most_transactions)};
      }
      t.kinds = kinds;
      for_each_of(warehouses, t.of.warehouses, [&] {
        for_each_of(sizes, t.transactions,
                    [&] { points.push_back(std::make_shared<tpcc_point>(t)); });
      });
    }
  });
}
