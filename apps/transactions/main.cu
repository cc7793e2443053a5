// SPDX-License-Identifier: Apache-2.0
// Command transactions ycsb: runs transactions on 10 rows concurrently, and checks them by a
// sequential replay.

#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/transactions/arms.cuh"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

struct options {
  transactions::ycsb_options of;
  std::string arm = "warden";
  bool checks = false;
};

int run(options const& o) {
  transactions::ycsb all{o.of};
  auto const arm = make_arm(o.arm, all);
  std::string const settings = arm->tune();
  all.open_async();
  warden::timer clock;
  clock.start();
  arm->run_async();
  clock.stop();
  double const seconds = clock.result().seconds;
  arm->wait();
  std::printf("%u transactions on %u rows of %u bytes by %s%s%s on %s\n", o.of.transactions,
              o.of.rows, o.of.row_bytes, o.arm.c_str(), settings.empty() ? "" : ", ",
              settings.c_str(),
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  if (seconds > 0) {
    std::printf("%.3f ms, %.2f M transactions/s\n", 1e3 * seconds,
                1e-6 * o.of.transactions / seconds);
  }
  for (auto const& [name, count] : arm->counters())
    std::printf("%s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  if (!o.checks) return 0;
  std::string const error_text = all.error_text(arm->claims_order());
  if (!error_text.empty()) {
    std::fprintf(stderr, "transactions: the check failed: %s\n", error_text.c_str());
    return 1;
  }
  std::printf("checked: all rows and all reads are those of a serial order\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Transactions on several rows, by locks, optimistically and on Warden.",
               "transactions"};
  app.require_subcommand(1);
  options o;
  CLI::App* const command =
      app.add_subcommand("ycsb", "runs transactions of 10 operations, each on a row");
  command->add_option("--rows", o.of.rows, "number of rows")
      ->transform(apps::whole(transactions::operations, transactions::most_rows))
      ->capture_default_str();
  command->add_option("--row-bytes", o.of.row_bytes, "size of a row: 8 or 100")
      ->transform(apps::whole())
      ->check(CLI::IsMember({8u, 100u}))
      ->capture_default_str();
  command->add_option("--theta", o.of.theta, "exponent of Zipf's law, by which rows are drawn")
      ->transform(apps::real(0, transactions::most_theta))
      ->capture_default_str();
  command->add_option("--writes", o.of.writes, "operations that write, in percent")
      ->transform(apps::real(0, 100))
      ->capture_default_str();
  command->add_option("--transactions", o.of.transactions, "number of transactions")
      ->transform(apps::whole(1, transactions::most_transactions))
      ->capture_default_str();
  command->add_option("--seed", o.of.seed, "seed of the transactions")
      ->transform(apps::whole())
      ->capture_default_str();
  command->add_flag("--repeats", o.of.repeats, "a transaction may name a row several times");
  command->add_option("--arm", o.arm, "arm that runs them")
      ->check(CLI::IsMember(transactions::arm_names()))
      ->capture_default_str();
  command->add_flag("--check", o.checks, "replays the transactions in the serial order of the run");
  return apps::run_command(app, argc, argv, [&] { return run(o); });
}
