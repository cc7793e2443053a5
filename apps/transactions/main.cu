// SPDX-License-Identifier: Apache-2.0
// Command transactions: runs transactions of YCSB or TPC-C concurrently, and checks them by a
// sequential replay.

#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/transactions/arms.cuh"
#include "apps/transactions/tpcc/arms.cuh"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct options {
  transactions::ycsb_options ycsb;
  transactions::tpcc::tpcc_options tpcc;
  std::string arm = "warden", mix = "both";
  bool checks = false;
};

/// Runs all transactions of `all` by an arm, and prints the time and the counters.
template <class Workload>
void run(Workload& all, transactions::arm& arm, options const& o, std::string const& what) {
  std::string const settings = arm.tune();
  all.open_async();
  warden::timer clock;
  clock.start();
  arm.run_async();
  clock.stop();
  double const seconds = clock.result().seconds;
  arm.wait();
  std::printf("%u transactions on %s by %s%s%s on %s\n", all.size(), what.c_str(), o.arm.c_str(),
              settings.empty() ? "" : ", ", settings.c_str(),
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  if (seconds > 0) {
    std::printf("%.3f ms, %.2f M transactions/s\n", 1e3 * seconds, 1e-6 * all.size() / seconds);
  }
  for (auto const& [name, count] : arm.counters())
    std::printf("%s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
}
/// Prints the result of a check. Returns the exit code.
int report(std::string const& error_text, char const* holds) {
  if (!error_text.empty()) {
    std::fprintf(stderr, "transactions: the check failed: %s\n", error_text.c_str());
    return 1;
  }
  std::printf("checked: %s\n", holds);
  return 0;
}
int run_ycsb(options const& o) {
  transactions::ycsb all{o.ycsb};
  auto const arm = make_arm(o.arm, all);
  run(all, *arm, o,
      std::to_string(o.ycsb.rows) + " rows of " + std::to_string(o.ycsb.row_bytes) + " bytes");
  if (!o.checks) return 0;
  return report(all.error_text(arm->claims_order()),
                "all rows and all reads are those of a serial order");
}
int run_tpcc(options o) {
  namespace tpcc = transactions::tpcc;
  if (o.mix == "new_order") o.tpcc.kinds = tpcc::mix::new_orders;
  if (o.mix == "payment") o.tpcc.kinds = tpcc::mix::payments;
  tpcc::workload all{o.tpcc};
  auto const arm = make_arm(o.arm, all);
  run(all, *arm, o, std::to_string(o.tpcc.of.warehouses) + " warehouses");
  if (!o.checks) return 0;
  std::string const error_text = all.condition_error_text();
  return report(error_text.empty() ? all.replay_error_text(arm->claims_order()) : error_text,
                "the conditions hold, and all rows and answers are those of a serial order");
}

void add_common(CLI::App& command, options& o, std::uint32_t& transactions, std::uint32_t most,
                std::uint64_t& seed, std::vector<std::string> const& arms) {
  command.add_option("--transactions", transactions, "number of transactions")
      ->transform(apps::whole(1, most))
      ->capture_default_str();
  command.add_option("--seed", seed, "seed of the transactions")
      ->transform(apps::whole())
      ->capture_default_str();
  command.add_option("--arm", o.arm, "arm that runs them")
      ->check(CLI::IsMember(arms))
      ->capture_default_str();
  command.add_flag("--check", o.checks, "replays the transactions in the serial order of the run");
}
CLI::App* add_ycsb(CLI::App& app, options& o) {
  CLI::App* const command =
      app.add_subcommand("ycsb", "runs transactions of 10 operations, each on a row");
  command->add_option("--rows", o.ycsb.rows, "number of rows")
      ->transform(apps::whole(transactions::operations, transactions::most_rows))
      ->capture_default_str();
  command->add_option("--row-bytes", o.ycsb.row_bytes, "size of a row: 8 or 100")
      ->transform(apps::whole())
      ->check(CLI::IsMember({8u, 100u}))
      ->capture_default_str();
  command->add_option("--theta", o.ycsb.theta, "exponent of Zipf's law, by which rows are drawn")
      ->transform(apps::real(0, transactions::most_theta))
      ->capture_default_str();
  command->add_option("--writes", o.ycsb.writes, "operations that write, in percent")
      ->transform(apps::real(0, 100))
      ->capture_default_str();
  command->add_flag("--repeats", o.ycsb.repeats, "a transaction may name a row several times");
  add_common(*command, o, o.ycsb.transactions, transactions::most_transactions, o.ycsb.seed,
             transactions::arm_names());
  return command;
}
CLI::App* add_tpcc(CLI::App& app, options& o) {
  namespace tpcc = transactions::tpcc;
  CLI::App* const command =
      app.add_subcommand("tpcc", "runs the transactions NewOrder and Payment of TPC-C");
  command->add_option("--warehouses", o.tpcc.of.warehouses, "number of warehouses")
      ->transform(apps::whole(2, tpcc::most_warehouses))
      ->capture_default_str();
  command->add_option("--customers", o.tpcc.of.customers, "customers of a district")
      ->transform(apps::whole(tpcc::least_customers, tpcc::most_customers))
      ->capture_default_str();
  command->add_option("--items", o.tpcc.of.items, "number of items")
      ->transform(apps::whole(tpcc::least_items, tpcc::most_items))
      ->capture_default_str();
  command->add_option("--mix", o.mix, "new_order, payment, or both: half of each")
      ->check(CLI::IsMember({"new_order", "payment", "both"}))
      ->capture_default_str();
  add_common(*command, o, o.tpcc.transactions, tpcc::most_transactions, o.tpcc.seed,
             tpcc::arm_names());
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Transactions on several rows, by locks, optimistically and on Warden.",
               "transactions"};
  app.require_subcommand(1);
  options o;
  CLI::App const* const ycsb = add_ycsb(app, o);
  add_tpcc(app, o);
  return apps::run_command(app, argc, argv,
                           [&] { return ycsb->parsed() ? run_ycsb(o) : run_tpcc(o); });
}
