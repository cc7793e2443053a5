// SPDX-License-Identifier: Apache-2.0
// Command bank_transfer replay FILE: executes the transfers of a trace concurrently and audits
// them.

#include "apps/bank_transfer/arms.cuh"
#include "apps/bank_transfer/trace.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using bank_transfer::account;
using bank_transfer::bank;
using bank_transfer::trace;

struct options {
  std::string file;
  std::uint32_t accounts = 0;
  std::int64_t opening = 1'000'000;
  std::string arm = "warden_rounds";
  int gpus = 0;  ///< 0: one device, by `arm`
  std::size_t top = 10;
};

/// A trace in device memory.
struct device_trace {
  explicit device_trace(trace const& t)
      : from{t.from}, to{t.to}, amounts{t.amounts}, n{static_cast<std::uint32_t>(t.size())} {}
  [[nodiscard]] bank_transfer::transfers all() const {
    return {from.data(), to.data(), amounts.data(), n};
  }
  warden::buffer<std::uint32_t> from, to, amounts;
  std::uint32_t n;
};

void print_top(std::vector<account> const& accounts, std::size_t top) {
  std::vector<std::uint32_t> ids(accounts.size());
  std::iota(ids.begin(), ids.end(), 0u);
  std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
    return accounts[a].balance > accounts[b].balance;
  });
  if (ids.size() > top) ids.resize(top);
  for (std::uint32_t const id : ids)
    std::printf("%20lld  %u\n", static_cast<long long>(accounts[id].balance), id);
}

int replay(options const& o) {
  trace const asked = bank_transfer::read_trace(
      o.file, o.accounts != 0 ? o.accounts : bank_transfer::most_accounts);
  std::uint32_t const largest = std::max(*std::max_element(asked.from.begin(), asked.from.end()),
                                         *std::max_element(asked.to.begin(), asked.to.end()));
  bank b{{.accounts = o.accounts != 0 ? o.accounts : largest + 1, .opening = o.opening}};
  device_trace const work{bank_transfer::with_audits(asked, b.ordinary())};
  auto const arm = o.gpus != 0 ? bank_transfer::make_spread_arm(b, o.gpus) : make_arm(o.arm, b);
  std::string const by =
      o.gpus != 0 ? "warden_forwarding over " + std::to_string(o.gpus) + " GPUs" : o.arm;
  arm->tune(work.all());
  b.open_async();
  arm->run_async(work.all());
  arm->wait();

  auto const found = b.audit(work.all(), arm->promises());
  std::string const error_text = b.error_text(found, work.all(), arm->promises());
  if (!error_text.empty()) {
    std::fprintf(stderr, "bank_transfer: the audit failed: %s\n", error_text.c_str());
    return 1;
  }
  auto accounts = b.to_host();
  accounts.resize(b.ordinary());
  print_top(accounts, o.top);
  std::uint64_t refused = 0;
  for (account const& a : accounts) refused += a.refused;
  std::printf("%zu transfers, %llu refused, among %u accounts, by %s on %s\n", asked.size(),
              static_cast<unsigned long long>(refused), b.ordinary(), by.c_str(),
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  std::printf("audit passed: %lld cents as before, no account below zero; ",
              static_cast<long long>(o.opening) * b.ordinary());
  auto const audits = static_cast<unsigned long long>(found.audits);
  if (arm->promises().isolates) {
    std::printf("none of %llu audits in between saw a transfer half done\n", audits);
  } else {
    std::printf("%llu of %llu audits in between saw a transfer half done, which %s allows\n",
                static_cast<unsigned long long>(found.broken_audits), audits, by.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Transfers between accounts, by locks, atomics and Warden.", "bank_transfer"};
  app.require_subcommand(1);
  options o;
  CLI::App* const command = app.add_subcommand(
      "replay", "executes the transfers of a trace, in no order, and audits the accounts");
  command->add_option("FILE", o.file, "lines of from,to,amount: accounts from 0 on, and cents")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--accounts", o.accounts,
                   "number of accounts; by default up to the largest one named")
      ->transform(apps::whole(1, bank_transfer::most_accounts));
  command->add_option("--opening", o.opening, "opening balance of each account, in cents")
      ->transform(apps::whole(0, bank_transfer::most_opening));
  CLI::Option* const arm = command->add_option("--arm", o.arm, "arm that executes them")
                               ->check(CLI::IsMember(bank_transfer::arm_names()));
  command
      ->add_option(
          "--gpus", o.gpus,
          "number of GPUs, each with a share of the accounts; a withdrawal sends its deposit")
      ->transform(apps::whole(1, 64))
      ->excludes(arm);
  command->add_option("--top", o.top, "number of largest balances to print")
      ->transform(apps::whole(0, 1'000'000));
  return apps::run_command(app, argc, argv, [&] { return replay(o); });
}
