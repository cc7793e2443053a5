// SPDX-License-Identifier: Apache-2.0
// The benchmark of transactions: the same transactions on 10 rows by locks, optimistically and on
// Warden.

#include "apps/support/number_option.hpp"
#include "apps/transactions/arms.cuh"
#include "apps/transactions/serial_check.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using transactions::serial_check;
using transactions::ycsb;
using transactions::ycsb_options;

/// Point of one workload. The time begins with the transactions in device memory, and ends when all
/// of them have run. It is the latency of the run. Every repetition is checked.
class ycsb_point final : public bench::point {
 public:
  ycsb_point(std::string theta, ycsb_options const& o) : theta_{std::move(theta)}, options_{o} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
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
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    ycsb all{options_};
    serial_check check{all};
    std::map<std::string, std::unique_ptr<transactions::arm>> arms;
    std::map<std::string, bench::row> found;
    for (std::string const& arm : s.arms) {
      auto& made = arms[arm] = make_arm(arm, all);
      bench::row& r = found[arm];
      r.settings = made->tune();
      r.operations = options_.transactions;
      r.verified = run(arm, all, *made, check).verified;
    }
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
      return run(arm, all, *arms[arm], check);
    });
    for (auto& [arm, r] : found) {
      // Counters of the last repetition.
      for (auto const& [counter, count] : last_[arm])
        r.counters[counter] = static_cast<double>(count);
    }
    return found;
  }
  bench::run_result run(std::string const& arm, ycsb& all, transactions::arm& by,
                        serial_check& check) {
    all.open_async();
    bench::run_result result;
    result.cost = bench::device_time([&] { by.run_async(); });
    by.wait();
    last_[arm] = by.counters();
    std::string const error_text = check.error_text(by.claims_order());
    if (!error_text.empty())
      std::fprintf(stderr, "%s: the check failed: %s\n", name(arm).c_str(), error_text.c_str());
    result.verified = error_text.empty();
    return result;
  }

  std::string theta_;
  ycsb_options options_;
  std::map<std::string, std::map<std::string, std::uint64_t>> last_;
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
                         "Transactions on 10 rows: by locks, optimistically and on Warden.", argc,
                         argv};
  std::vector<std::uint32_t> rows, sizes, writes, row_bytes;
  std::vector<std::string> thetas;
  std::vector<std::string> const all_thetas{"0", "0.6", "0.8", "0.9", "0.99"};
  ycsb_options o;
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
  if (sizes.empty()) sizes = {simulated ? 128u : 1u << 20};
  if (thetas.empty()) thetas = simulated ? std::vector<std::string>{"0", "0.9"} : all_thetas;
  if (writes.empty()) writes = {50, 5};
  if (row_bytes.empty()) row_bytes = {8, 100};
  return program.run([&](bench::program::points& points) {
    for_each_of(row_bytes, o.row_bytes, [&] {
      for_each_of(rows, o.rows, [&] {
        for_each_of(writes, o.writes, [&] {
          for_each_of(sizes, o.transactions, [&] {
            for (std::string const& theta : thetas) {
              o.theta = std::stod(theta);
              points.push_back(std::make_shared<ycsb_point>(theta, o));
            }
          });
        });
      });
    });
  });
}
