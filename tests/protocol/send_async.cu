// SPDX-License-Identifier: Apache-2.0
// Sections that a function returns, sent without a kernel of the user.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred_pairs.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using test::error_text;
using testing::HasSubstr;

constexpr std::uint32_t accounts = 10;

struct deposit {
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& balance) const { balance += amount; }
};
struct transfer {
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& from, std::uint64_t& to) const {
    from -= amount;
    to += amount;
  }
};
using small_blocks = warden::policy<warden::options{.block_threads = 32}>;
using by_messages = test::small<warden::executor::pair_messages<64>>;
using bank = warden::basic_guarded<small_blocks, std::uint64_t, deposit>;
template <class Policy>
using pair_bank = warden::basic_guarded<Policy, std::uint64_t, transfer>;

/// A guarded array of `accounts` records, all with the same balance.
template <class Guarded = bank>
struct filled {
  warden::buffer<std::uint64_t> records;
  Guarded on;

  explicit filled(std::uint64_t balance = 0)
      : records{std::vector<std::uint64_t>(accounts, balance)}, on{records} {}
  /// Returns the balances after all work.
  std::vector<std::uint64_t> balances() {
    on.wait();
    return records.to_host();
  }
};

/// Section i, on record i modulo the number of records. Counts its calls.
struct numbered {
  std::uint32_t* calls;
  __device__ warden::to<deposit> operator()(std::uint64_t i) const {
    simt::fetch_add(&calls[i], 1u);
    return warden::to{i % accounts, deposit{static_cast<std::uint32_t>(i)}};
  }
};
/// The same for even i, and nothing for odd ones.
struct even {
  numbered all;
  __device__ warden::nothing_or<warden::to<deposit>> operator()(std::uint64_t i) const {
    auto const sent = all(i);
    if (i % 2 != 0) return {};
    return sent;
  }
};
/// The same section without its record, for apply_async.
struct numbered_deposit {
  __device__ deposit operator()(std::uint64_t i) const { return {static_cast<std::uint32_t>(i)}; }
};
/// Returns the balances after these sections for all i < n that are multiples of `step`.
std::vector<std::uint64_t> expected(std::uint64_t n, std::uint64_t step = 1) {
  std::vector<std::uint64_t> sums(accounts);
  for (std::uint64_t i = 0; i < n; i += step) sums[i % accounts] += i;
  return sums;
}

TEST(send_async, calls_the_function_once_for_each_number_and_leaves_the_run_to_the_caller) {
  for (std::uint32_t const n : {1u, 31u, 32u, 1000u, 4097u}) {
    filled<> b;
    warden::buffer<std::uint32_t> calls{n};
    calls.fill_bytes(0);
    warden::deferred log{b.on, n};
    warden::send_async(log, n, numbered{calls.data()});
    EXPECT_EQ(b.balances(), expected(0)) << "it ran";
    EXPECT_EQ(calls.to_host(), std::vector<std::uint32_t>(n, 1));
    log.run();
    EXPECT_EQ(b.balances(), expected(n));
  }
}
TEST(send_async, sends_nothing_for_some_numbers) {
  constexpr std::uint32_t n = 1000;
  filled<> b;
  warden::buffer<std::uint32_t> calls{n};
  calls.fill_bytes(0);
  warden::deferred log{b.on, n};
  warden::send_async(log, n, even{{calls.data()}});
  log.run();
  EXPECT_EQ(b.balances(), expected(n, 2));
  EXPECT_EQ(calls.to_host(), std::vector<std::uint32_t>(n, 1));
}
TEST(send_async, of_no_number_sends_nothing) {
  filled<> b;
  warden::deferred log{b.on, 1};
  warden::send_async(log, 0, numbered{nullptr});
  b.on.apply_async(nullptr, 0, numbered_deposit{});
  log.run();
  EXPECT_EQ(b.balances(), expected(0));
}
TEST(send_async, of_more_than_the_log_holds_runs_all_but_the_last_piece) {
  constexpr std::uint32_t n = 1000, room = 300;
  filled<> b;
  warden::buffer<std::uint32_t> calls{n};
  calls.fill_bytes(0);
  warden::deferred log{b.on, room};
  // Its sections run before the first piece is sent.
  warden::send_async(log, room, numbered{calls.data()});
  warden::send_async(log, n, numbered{calls.data()});
  auto before = expected(room);
  auto const more = expected(n / room * room);
  for (std::uint32_t a = 0; a < accounts; ++a) before[a] += more[a];
  EXPECT_EQ(b.balances(), before);
  log.run();
  for (std::uint32_t i = n / room * room; i < n; ++i) before[i % accounts] += i;
  EXPECT_EQ(b.balances(), before);
}
struct stray {
  __device__ auto operator()(std::uint64_t i) const {
    return warden::to{static_cast<int>(i) - 3, deposit{1}};
  }
};
TEST(send_async, reports_what_finds_no_place_and_bad_ids) {
  filled<> b;
  warden::buffer<std::uint32_t> calls{100};
  warden::deferred log{b.on, 100};
  warden::send_async(log, 100, numbered{calls.data()});
  warden::send_async(log, 7, numbered{calls.data()});
  EXPECT_THAT(error_text(b.on), HasSubstr("7 deferred sections were refused"));
  log.run();
  warden::send_async(log, accounts + 3, stray{});
  auto const text = error_text(b.on);
  EXPECT_THAT(text, HasSubstr("send: record id 1844674407370955161"));
  EXPECT_THAT(text, HasSubstr("is not below 10 (3 such ids"));
}

/// Lambdas are in functions: nvcc takes none for the device in a test's body.
template <class Log>
void send_by_lambda(Log& log, std::uint32_t n, std::uint32_t amount, warden::stream_ref s) {
  warden::send_async(
      log, n,
      [=] __device__(std::uint64_t i) {
        return warden::to{i % accounts, deposit{amount}};
      },
      s);
}
TEST(send_async, takes_a_lambda_and_is_captured) {
  filled<> b;
  warden::deferred log{b.on, 100};
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    send_by_lambda(log, 250, 2, s);
    log.run(s);
  });
  for (int i = 0; i < 3; ++i) captured.launch(s);
  b.on.wait(s);
  EXPECT_EQ(b.records.to_host(), std::vector<std::uint64_t>(accounts, 3 * 25 * 2));
}

/// Section i transfers i from record i to the next one.
struct numbered_transfer {
  __device__ auto operator()(std::uint64_t i) const {
    return warden::to{i % accounts, (i + 1) % accounts, transfer{static_cast<std::uint32_t>(i)}};
  }
};
/// The same for even i, and nothing for odd ones.
struct even_transfer {
  __device__ auto operator()(std::uint64_t i) const {
    using result = warden::nothing_or<warden::to<transfer, 2>>;
    return i % 2 == 0 ? result{numbered_transfer{}(i)} : result{};
  }
};
/// Returns the balances after these transfers for all i < n that are multiples of `step`.
std::vector<std::uint64_t> transferred(std::uint64_t balance, std::uint64_t n,
                                       std::uint64_t step = 1) {
  std::vector<std::uint64_t> sums(accounts, balance);
  for (std::uint64_t i = 0; i < n; i += step)
    sums[i % accounts] -= i, sums[(i + 1) % accounts] += i;
  return sums;
}
TEST(send_async, sends_sections_on_two_records) {
  filled<pair_bank<small_blocks>> b{1000};
  warden::deferred log{b.on, 500};
  warden::send_async(log, 500, numbered_transfer{});
  log.run();
  EXPECT_EQ(b.balances(), transferred(1000, 500));
  filled<pair_bank<small_blocks>> c{1000};
  c.on.apply_async(500, even_transfer{});
  EXPECT_EQ(c.balances(), transferred(1000, 500, 2));
}
struct shop_sale {
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& from, std::uint64_t& to) const {
    from -= amount;
    to += amount;
  }
};
struct numbered_sale {
  __device__ auto operator()(std::uint64_t i) const {
    return warden::to{i % accounts, (i + 3) % accounts, shop_sale{2}};
  }
};
TEST(send_async, sends_sections_between_two_arrays) {
  filled<> customers{1000}, shops;
  warden::deferred_between<bank, bank, shop_sale> log{customers.on, shops.on, 500};
  warden::send_async(log, 500, numbered_sale{});
  log.run();
  EXPECT_EQ(customers.balances(), std::vector<std::uint64_t>(accounts, 900));
  EXPECT_EQ(shops.balances(), std::vector<std::uint64_t>(accounts, 100));
}

// ---- apply_async with a function

/// Returns the record ids i + first, modulo the number of records.
warden::buffer<std::uint32_t> ids_from(std::uint32_t first, std::uint32_t n) {
  std::vector<std::uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), first);
  for (std::uint32_t& id : ids) id %= accounts;
  return warden::buffer<std::uint32_t>{ids};
}
struct even_deposit {
  __device__ warden::nothing_or<deposit> operator()(std::uint64_t i) const {
    if (i % 2 != 0) return {};
    return deposit{static_cast<std::uint32_t>(i)};
  }
};
using in_pieces = warden::with_values<small_blocks, &warden::tuning::apply_bytes, 4096>;
TEST(send_async, of_apply_async_takes_the_records_from_an_array) {
  constexpr std::uint32_t n = 5000;  // more than fit the 4,096 bytes of the log that is kept
  auto const ids = ids_from(0, n);
  filled<warden::basic_guarded<in_pieces, std::uint64_t, deposit>> b;
  b.on.apply_async(ids.data(), n, numbered_deposit{});
  EXPECT_EQ(b.balances(), expected(n));
  filled<> c;
  c.on.apply_async(ids.data(), n, even_deposit{});
  EXPECT_EQ(c.balances(), expected(n, 2));
}
template <class Policy>
void expect_applied_by_function() {
  filled<pair_bank<Policy>> b{1000};
  b.on.apply_async(300, numbered_transfer{});
  EXPECT_EQ(b.balances(), transferred(1000, 300));
}
TEST(send_async, of_apply_async_takes_the_records_from_the_function) {
  expect_applied_by_function<small_blocks>();
  expect_applied_by_function<by_messages>();
}
struct amount_of_number {
  __device__ transfer operator()(std::uint64_t i) const { return {static_cast<std::uint32_t>(i)}; }
};
template <class Policy>
void expect_applied_to_two() {
  constexpr std::uint32_t n = 300;
  auto const firsts = ids_from(0, n), seconds = ids_from(1, n);
  filled<pair_bank<Policy>> b{1000};
  b.on.apply_async(firsts.data(), seconds.data(), n, amount_of_number{});
  EXPECT_EQ(b.balances(), transferred(1000, n));
}
TEST(send_async, of_apply_async_takes_two_records_from_arrays) {
  expect_applied_to_two<small_blocks>();
}
TEST(send_async, of_apply_async_is_a_fused_launch_if_the_executor_runs_no_logs) {
  expect_applied_to_two<by_messages>();
}

}  // namespace
