// SPDX-License-Identifier: Apache-2.0
// Opens a bank and audits it.

#include "apps/bank_transfer/bank.cuh"
#include "apps/support/device.cuh"

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <type_traits>

namespace bank_transfer {

namespace {

template <class Argument>
void run(void (*kernel)(Argument), std::type_identity_t<Argument> const& a) {
  simt::launch(kernel, apps::blocks(), apps::threads(), 0, a, {});
}

struct open_arguments {
  account* accounts;
  std::uint32_t size;
  std::int64_t opening;
};
WARDEN_KERNEL void open_accounts(open_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.size, [&](std::uint64_t i) { a.accounts[i] = {a.opening, 0, 0}; });
}

struct audit_arguments {
  account const* accounts;
  std::uint32_t ordinary, size;
  std::int64_t opening;
  transfers sent;
  bool counts_by_account;
  bank::booked* booked;
  bank::counters* found;
};

/// Adds up the changes that the transfers should have made. An account's refused transfers are
/// counted but not listed. So all transfers from an account that refused some are in doubt, and so
/// are their destination accounts.
WARDEN_KERNEL void book(audit_arguments a) {
  simt::assume_one_dimension();
  std::uint64_t audits = 0;
  apps::for_my_share(a.sent.n, [&](std::uint64_t i) {
    std::uint32_t const from = a.sent.from[i], to = a.sent.to[i], amount = a.sent.amounts[i];
    audits += amount == 0 ? 1 : 0;
    simt::fetch_add(&a.booked[from].sent, 1u);
    if (a.accounts[from].refused == 0) {
      simt::fetch_add(&a.booked[from].moved, -std::int64_t{amount});
      simt::fetch_add(&a.booked[to].moved, std::int64_t{amount});
    } else {
      simt::store_relaxed(&a.booked[from].doubtful, 1u);
      simt::store_relaxed(&a.booked[to].doubtful, 1u);
    }
  });
  if (audits != 0) simt::fetch_add(&a.found->audits, audits);
}

WARDEN_KERNEL void look(audit_arguments a) {
  simt::assume_one_dimension();
  bank::counters mine{};
  apps::for_my_share(a.size, [&](std::uint64_t i) {
    account const& x = a.accounts[i];
    bank::booked const& b = a.booked[i];
    mine.sum += static_cast<std::uint64_t>(x.balance);
    mine.counted += x.executed;
    mine.refused += x.refused;
    mine.below_zero += x.balance < 0 ? 1 : 0;
    mine.miscounted += a.counts_by_account && x.executed + x.refused != b.sent ? 1 : 0;
    mine.misbooked += b.doubtful == 0 && x.balance != a.opening + b.moved ? 1 : 0;
    bool const is_first = i >= a.ordinary && (i - a.ordinary) % 2 == 0;
    mine.pairs_apart += is_first && x.balance + a.accounts[i + 1].balance != 2 * a.opening ? 1 : 0;
  });
  auto const add = [](std::uint64_t* to, std::uint64_t n) {
    if (n != 0) simt::fetch_add(to, n);
  };
  add(&a.found->sum, mine.sum);
  add(&a.found->counted, mine.counted);
  add(&a.found->refused, mine.refused);
  add(&a.found->below_zero, mine.below_zero);
  add(&a.found->miscounted, mine.miscounted);
  add(&a.found->misbooked, mine.misbooked);
  add(&a.found->pairs_apart, mine.pairs_apart);
}

bank_options checked(bank_options o) {
  if (o.accounts == 0 || o.accounts > most_accounts) {
    throw warden::limit_error{"bank_transfer: " + std::to_string(o.accounts) +
                              " accounts are not from 1 to " + std::to_string(most_accounts)};
  }
  if (o.opening < 0 || o.opening > most_opening) {
    throw warden::limit_error{"bank_transfer: an opening balance of " + std::to_string(o.opening) +
                              " cents is not from 0 to " + std::to_string(most_opening)};
  }
  return o;
}

}  // namespace

bank::bank(bank_options o)
    : options_{checked(o)}, accounts_{size()}, booked_{size()}, counters_{1} {
  open_async();
}

void bank::open_async() {
  counters_.fill_bytes(0);
  run(&open_accounts, {accounts_.data(), size(), options_.opening});
}

findings bank::audit(transfers const& sent, expectations const& e) {
  booked_.fill_bytes(0);
  audit_arguments const a{
      accounts_.data(),    ordinary(),     size(),          options_.opening, sent,
      e.counts_by_account, booked_.data(), counters_.data()};
  run(&book, a);
  run(&look, a);
  counters const c = counters_.to_host()[0];
  return {static_cast<std::int64_t>(c.sum),
          c.counted + c.executed,
          c.refused,
          c.audits,
          c.broken,
          c.below_zero,
          c.miscounted,
          c.misbooked,
          c.pairs_apart};
}

std::string bank::error_text(findings const& f, transfers const& sent,
                             expectations const& e) const {
  std::string found;
  auto const complain = [&](bool wrong, std::string const& what) {
    if (wrong) found += (found.empty() ? "" : "; ") + what;
  };
  auto const number = [](auto n) { return std::to_string(n); };
  auto const wanted =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(options_.opening) * size());
  complain(f.sum != wanted, "the sum is " + number(f.sum) + " cents, not " + number(wanted));
  complain(f.executed + f.refused != sent.n, number(f.executed) + " executed and " +
                                                 number(f.refused) + " refused are not the " +
                                                 number(sent.n) + " sent");
  complain(f.below_zero != 0, number(f.below_zero) + " accounts are below zero");
  complain(f.miscounted != 0,
           number(f.miscounted) + " accounts counted other transfers than were sent from them");
  complain(f.misbooked != 0, number(f.misbooked) + " accounts have a wrong balance");
  complain(f.pairs_apart != 0, number(f.pairs_apart) + " pairs of accounts have changed their sum");
  complain(e.isolates && f.broken_audits != 0, number(f.broken_audits) + " of " + number(f.audits) +
                                                   " audits saw a transfer half done");
  return found;
}

}  // namespace bank_transfer
