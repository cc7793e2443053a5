// SPDX-License-Identifier: Apache-2.0
// The bank's transfers by every arm, its audits, and drawn transfers.

#include "apps/bank_transfer/arms.cuh"
#include "apps/bank_transfer/trace.hpp"
#include "microbench/bank_transfer/workload.cuh"
#include "tests/apps/bank_traces.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using bank_transfer::account;
using bank_transfer::bank;
using bank_transfer::trace;
using bank_transfer::transfers;
using test::busy_pairs;
using test::drawn;
using test::on_device;
using testing::HasSubstr;

/// Returns the final balances if no transfer is refused.
std::vector<std::int64_t> without_refusals(trace const& t, std::uint32_t size,
                                           std::int64_t opening) {
  std::vector<std::int64_t> balances(size, opening);
  for (std::size_t i = 0; i < t.size(); ++i) {
    balances[t.from[i]] -= t.amounts[i];
    balances[t.to[i]] += t.amounts[i];
  }
  return balances;
}

class every_arm : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(bank_transfer, every_arm, testing::ValuesIn(bank_transfer::arm_names()),
                         [](auto const& arm) { return arm.param; });

// Locks as written do some ten thousand a second on one account: that bounds the sizes below.
TEST_P(every_arm, moves_every_cent) {
  std::uint32_t const n = test::sized(300u, 20'000u);
  std::int64_t const opening = 1'000ll * n;  // nothing can be refused
  for (std::uint32_t const accounts : {1u, 5u, 300u}) {
    bank b{{accounts, opening}};
    trace const t = with_audits(drawn(n, accounts, 999), accounts);
    on_device const work{t};
    auto const arm = make_arm(GetParam(), b);
    // A bank is opened anew for each run.
    for (int run = 0; run < 2; ++run) {
      b.open_async();
      arm->run_async(work.all);
      arm->wait();
      auto const found = b.audit(work.all, arm->promises());
      EXPECT_EQ(b.error_text(found, work.all, arm->promises()), "");
      EXPECT_EQ(found.refused, 0u);
      EXPECT_EQ(found.executed, t.size());
      EXPECT_EQ(found.sum, opening * b.size());
      auto const balances = without_refusals(t, b.size(), opening);
      auto const seen = b.to_host();
      for (std::uint32_t a = 0; a < b.size(); ++a)
        ASSERT_EQ(seen[a].balance, balances[a]) << "account " << a << " of " << accounts;
    }
  }
}

TEST_P(every_arm, refuses_what_would_overdraw) {
  std::uint32_t const n = test::sized(300u, 20'000u);
  bank b{{.accounts = 20, .opening = 1000}};
  trace const t = with_audits(drawn(n, 20, 900), 20);
  on_device const work{t};
  auto const arm = make_arm(GetParam(), b);
  static_cast<void>(arm->tune(work.all));
  b.open_async();
  arm->run_async(work.all);
  arm->wait();
  auto const found = b.audit(work.all, arm->promises());
  EXPECT_EQ(b.error_text(found, work.all, arm->promises()), "");
  EXPECT_GT(found.refused, n / 50);
  EXPECT_GT(found.executed, n / 50);
}

TEST_P(every_arm, transfers_to_oneself_need_the_money) {
  // Whatever the order: the first is always covered, the second never.
  trace t;
  for (int i = 0; i < 40; ++i) {
    t.add(3, 3, 100);
    t.add(3, 3, 101);
  }
  bank b{{.accounts = 4, .opening = 100}};
  on_device const work{t};
  auto const arm = make_arm(GetParam(), b);
  arm->run_async(work.all);
  arm->wait();
  auto const seen = b.to_host();
  EXPECT_EQ(seen[3].balance, 100);
  auto const found = b.audit(work.all, arm->promises());
  EXPECT_EQ(b.error_text(found, work.all, arm->promises()), "");
  // Between its two atomics a transfer to oneself takes the money from the others.
  if (arm->promises().isolates) {
    EXPECT_EQ(found.executed, 40u);
  } else {
    EXPECT_LE(found.executed, 40u);
  }
}

TEST_P(every_arm, audits_tell_who_isolates) {
  bank b{{.accounts = 1}};
  on_device const work{busy_pairs(test::sized(400u, 20'000u), b.ordinary())};
  auto const arm = make_arm(GetParam(), b);
  std::uint64_t broken = 0;
  for (int run = 0; run < 5; ++run) {  // each a schedule of its own
    b.open_async();
    arm->run_async(work.all);
    arm->wait();
    auto const found = b.audit(work.all, arm->promises());
    EXPECT_EQ(b.error_text(found, work.all, arm->promises()), "");
    EXPECT_EQ(found.audits, work.all.n / 2);
    broken += found.broken_audits;
  }
  if (arm->promises().isolates) {
    EXPECT_EQ(broken, 0u);
  } else {
    EXPECT_GT(broken, 0u) << "audits that never see anything show nothing";
  }
}

TEST_P(every_arm, audits_see_a_sum_that_is_wrong) {
  bank b{{.accounts = 1}};
  on_device const work{busy_pairs(80, b.ordinary())};
  auto const arm = make_arm(GetParam(), b);
  auto accounts = b.to_host();
  accounts[1].balance += 1;  // one of two pairs
  warden::copy(b.accounts(), accounts.data(), accounts.size());
  arm->run_async(work.all);
  arm->wait();
  auto const found = b.audit(work.all, arm->promises());
  if (arm->promises().isolates) {
    EXPECT_EQ(found.broken_audits, 20u);
    EXPECT_THAT(b.error_text(found, work.all, arm->promises()),
                HasSubstr("; 20 of 40 audits saw a transfer half done"));
  } else {
    EXPECT_GT(found.broken_audits, 0u);
  }
}

// ---- the audit at the end

/// Returns the report of the audit after `spoil` changed the accounts of a bank whose transfers
/// were right.
std::string error_text_after(std::function<void(std::vector<account>&)> const& spoil) {
  bank b{{.accounts = 10, .opening = 500}};
  trace t;
  for (std::uint32_t i = 0; i < 10; ++i) t.add(i, (i + 1) % 10, 100 + i);
  on_device const work{t};
  auto const arm = bank_transfer::make_arm("lock_ordered", b);
  arm->run_async(work.all);
  arm->wait();
  auto accounts = b.to_host();
  spoil(accounts);
  warden::copy(b.accounts(), accounts.data(), accounts.size());
  warden::stream_ref{}.synchronize();
  return b.error_text(b.audit(work.all, {}), work.all, {});
}

TEST(bank_transfer, the_audit_finds_what_is_wrong) {
  EXPECT_EQ(error_text_after([](auto&) {}), "");
  EXPECT_EQ(error_text_after([](auto& a) { a[4].balance += 1; }),
            "the sum is 9001 cents, not 9000; 1 accounts have a wrong balance");
  EXPECT_EQ(error_text_after([](auto& a) {
              a[4].balance -= 3;  // as if the amounts of two messages were exchanged
              a[7].balance += 3;
            }),
            "2 accounts have a wrong balance");
  EXPECT_EQ(error_text_after([](auto& a) {
              a[2].balance -= 1000;
              a[3].balance += 1000;
            }),
            "1 accounts are below zero; 2 accounts have a wrong balance");
  EXPECT_EQ(
      error_text_after([](auto& a) { a[5].executed += 1; }),
      "11 executed and 0 refused are not the 10 sent; 1 accounts counted other transfers than "
      "were sent from them");
  EXPECT_EQ(error_text_after([](auto& a) {
              a[5].executed -= 1;
              a[6].executed += 1;
            }),
            "2 accounts counted other transfers than were sent from them");
  // A refusal that was none: the money moved all the same.
  EXPECT_EQ(error_text_after([](auto& a) {
              a[5].executed -= 1;
              a[5].refused += 1;
            }),
            "");
  EXPECT_EQ(error_text_after([](auto& a) {
              a[10].balance -= 5;
              a[13].balance += 5;
            }),
            "2 accounts have a wrong balance; 2 pairs of accounts have changed their sum");
}

TEST(bank_transfer, impossible_banks) {
  auto const error_text = [](bank_transfer::bank_options const& o) {
    return test::refusal([&] { bank{o}; });
  };
  EXPECT_THAT(error_text({.accounts = 0}), HasSubstr("0 accounts are not from 1 to 67108864"));
  EXPECT_THAT(error_text({.accounts = 67108865}), HasSubstr("67108865 accounts are not from 1 to"));
  EXPECT_THAT(error_text({.accounts = 1, .opening = -1}),
              HasSubstr("an opening balance of -1 cents is not from 0 to 100000000000"));
  EXPECT_EQ(error_text({.accounts = 1, .opening = 0}), "");
}

TEST(bank_transfer, one_server_for_all) {
  // Too many for a chip.
  bank many{{.accounts = 20'000}};
  EXPECT_NO_THROW(static_cast<void>(make_arm("warden_colocated", many)));
  try {
    static_cast<void>(
        make_arm("warden_colocated", many, {.accounts = bank_transfer::where::on_chip}));
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("20624 records of 16 bytes for each server are too many"));
  }
  for (auto const accounts :
       {bank_transfer::where::on_chip_if_they_fit, bank_transfer::where::in_memory}) {
    bank b{{.accounts = 50}};
    on_device const work{with_audits(drawn(test::sized(300u, 20'000u), 50, 1000), 50)};
    auto const arm = make_arm("warden_colocated", b, {256, accounts, 2});
    arm->run_async(work.all);
    arm->wait();
    EXPECT_EQ(b.error_text(b.audit(work.all, {}), work.all, {}), "");
  }
}

// ---- drawn transfers

struct host_transfers {
  std::vector<std::uint32_t> from, to, amounts;
  friend bool operator==(host_transfers const&, host_transfers const&) = default;
};
host_transfers to_host(transfers const& t) {
  host_transfers h;
  for (auto const& [there, here] :
       {std::pair{t.from, &h.from}, {t.to, &h.to}, {t.amounts, &h.amounts}}) {
    here->resize(t.n);
    warden::copy(here->data(), there, t.n);
  }
  warden::stream_ref{}.synchronize();
  return h;
}

TEST(bank_workload, transfers_are_what_they_should_be) {
  constexpr std::uint32_t accounts = 1000;
  std::uint32_t const n = test::sized(1u << 14, 1u << 20), pairs = bank_transfer::pairs_for(1000);
  for (std::string const name : {"uniform", "zipf099", "hot_side"}) {
    SCOPED_TRACE(name);
    bank_bench::transfer_workload w{name, accounts};
    w.reserve(n);
    auto const h = to_host(w.draw(n, 3));
    std::uint32_t audits = 0, within = 0, pays = 0, is_paid = 0, to_itself = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t const from = h.from[i], to = h.to[i];
      if (from >= accounts || to >= accounts) {
        ASSERT_EQ((from - accounts) ^ 1, to - accounts) << "money leaves a pair";
        ASSERT_LT(from, accounts + 2 * pairs);
        (h.amounts[i] == 0 ? audits : within) += 1;
      } else {
        ASSERT_GE(h.amounts[i], 1u);
        ASSERT_LE(h.amounts[i], 1000u);
        pays += from == 0 ? 1 : 0;
        is_paid += to == 0 ? 1 : 0;
        to_itself += from == to ? 1 : 0;
      }
    }
    EXPECT_EQ(audits + within, n / bank_transfer::operations_for_a_pair);
    EXPECT_EQ(audits, within);
    double const transfers = n - audits - within;
    if (name == "hot_side") {
      EXPECT_NEAR(pays / transfers, 0.45, 0.03);
      EXPECT_NEAR(is_paid / transfers, 0.45, 0.03);
    } else if (name == "uniform") {
      EXPECT_LT(pays / transfers, 0.01);
      EXPECT_LT(to_itself / transfers, 0.01);
    } else {
      // A tenth and more of draws from 1,000 ranks are of the first.
      std::vector<std::uint32_t> paid(accounts + 2 * pairs);
      for (std::uint32_t const to : h.to) ++paid[to];
      EXPECT_NEAR(*std::max_element(paid.begin(), paid.end()) / transfers, 0.13, 0.02);
    }
    EXPECT_EQ(to_host(w.draw(n, 3)), h);
    EXPECT_NE(to_host(w.draw(n, 4)), h);
  }
}

}  // namespace
