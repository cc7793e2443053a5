// SPDX-License-Identifier: Apache-2.0
// What a newcomer writes first: lambdas as kernels, sections without a context, any range of
// records, no block size, no executor; and that errors name the caller's line.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/deferred_pairs.cuh>
#include <warden/detail/baseline/lock_array.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <span>
#include <vector>

namespace {

using test::refusal;
using testing::HasSubstr;

struct account {
  std::uint32_t balance;
};
struct deposit {
  std::uint32_t amount;
  __device__ void operator()(account& a) const { a.balance += amount; }
};
struct read {
  __device__ std::uint32_t operator()(account const& a) const { return a.balance; }
};
struct transfer {
  std::uint32_t amount;
  __device__ void operator()(account& from, account& to) const {
    from.balance -= amount;
    to.balance += amount;
  }
};
using bank = warden::guarded<account, deposit, read>;
using pair_bank = warden::guarded<account, transfer>;

constexpr std::uint32_t accounts = 10;

std::vector<std::uint32_t> balances(warden::buffer<account> const& records) {
  std::vector<std::uint32_t> result;
  for (account const a : records.to_host()) result.push_back(a.balance);
  return result;
}

/// n deposits, and a look at the accounts. In a separate function: nvcc takes no lambdas for the
/// device in a test's body.
void pay(bank& b, std::uint32_t n, std::uint32_t* mistakes) {
  auto const payday = [=] __device__(warden::virtual_block const& at, bank::ref const& all) {
    bank::block_client client{all, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(i % accounts, deposit{2}, i < n);
    }
    client.flush();
    auto balance = client.call(at.thread_rank() % accounts, read{});
    client.flush();
    if (balance.get().value_or(1) % 2 != 0) warden::simt::fetch_add(mistakes, 1u);
  };
  warden::launch_fused(payday, /*grid*/ 3, {}, b);
}

TEST(ways_in, a_lambda_and_sections_without_a_context) {
  static_assert(std::is_same_v<bank::ref::executor, warden::executor::sorted<>>);
  warden::buffer<account> records{accounts};
  records.fill_bytes(0);
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  bank b{records, {.servers = 2}};
  pay(b, 1000, wrong.data());
  b.wait();
  EXPECT_EQ(balances(records), std::vector<std::uint32_t>(accounts, 200));
  EXPECT_EQ(wrong.to_host()[0], 0u);
}

TEST(ways_in, sections_on_two_records_without_a_policy) {
  warden::buffer<account> records{std::vector<account>(accounts, account{1000})};
  pair_bank b{records, {.servers = 3}};
  std::uint32_t const n = 600;
  std::vector<std::uint32_t> from, to;
  for (std::uint32_t i = 0; i < n; ++i) {
    from.push_back(i % accounts);
    to.push_back((i + 1 + i % 7) % accounts);
  }
  warden::buffer<std::uint32_t> const firsts{from}, seconds{to};
  warden::buffer<transfer> const sections{std::vector<transfer>(n, transfer{1})};
  b.apply_async(firsts.data(), seconds.data(), sections.data(), n);
  b.wait();
  std::vector<std::uint32_t> expected(accounts, 1000);
  for (std::uint32_t i = 0; i < n; ++i) {
    --expected[from[i]];
    ++expected[to[i]];
  }
  EXPECT_EQ(balances(records), expected);
}

/// A kernel with more values at hand than registers, if three blocks are to fit.
struct many_values {
  std::uint32_t const* from;
  std::uint32_t* to;
  __device__ void operator()(warden::virtual_block const& at, bank::ref const& all) const {
    std::uint32_t values[60];
    WARDEN_UNROLL
    for (unsigned v = 0; v < 60; ++v) values[v] = from[at.thread_rank() + v];
    bank::block_client client{all, at};
    client.send(at.thread_rank() % accounts, deposit{1});
    client.flush();
    WARDEN_UNROLL
    for (unsigned v = 0; v < 60; ++v) to[at.thread_rank() + v * at.block_dim()] = values[v];
  }
};
TEST(ways_in, a_kernel_that_would_spill_gets_its_registers) {
  warden::buffer<account> records{accounts};
  records.fill_bytes(0);
  unsigned const threads = bank::policy::block_threads;
  std::vector<std::uint32_t> numbers(threads + 60);
  for (unsigned i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
  warden::buffer<std::uint32_t> const from{numbers};
  warden::buffer<std::uint32_t> to{threads * 60};
  bank b{records, {.servers = 2}};
  many_values const kernel{from.data(), to.data()};
  warden::detail::launch_plan<many_values, bank> const plan{
      1, threads, {{}, std::source_location::current()}, b};
  EXPECT_EQ(warden::runtime::local_bytes(plan.function()), 0u);
  auto const bounded = warden::simt::make_kernel(
      &warden::detail::fused_kernel<bank::policy::block_threads, 3, many_values, bank::ref>);
  EXPECT_EQ(warden::runtime::local_bytes(bounded) != 0, !test::simulated());
  warden::launch_fused(kernel, 1, {}, b);
  b.wait();
  auto const found = to.to_host();
  for (unsigned t = 0; t < threads; ++t) {
    for (unsigned v = 0; v < 60; ++v) ASSERT_EQ(found[t + v * threads], numbers[t + v]);
  }
}

/// A pointer as that of thrust::device_vector.
struct device_pointer {
  account* address;
  account* get() const { return address; }
};
struct device_vector {
  warden::buffer<account> const& memory;
  device_pointer data() { return {memory.data()}; }
  std::size_t size() const { return memory.size(); }
};

TEST(ways_in, records_of_any_contiguous_range) {
  warden::buffer<account> records{accounts};
  records.fill_bytes(0);
  warden::buffer<std::uint32_t> const ids{std::vector<std::uint32_t>{3, 3, 7}};
  warden::buffer<deposit> const sections{std::vector<deposit>{{1}, {10}, {100}}};
  auto const check = [&](bank b) {
    ASSERT_EQ(b.size(), accounts);
    b.apply_async(ids.data(), sections.data(), 3);
    b.wait();
  };
  device_vector vector{records};
  check(bank{vector, {.servers = 2}});
  check(bank{std::span<account>{records.data(), accounts}, {.servers = 2}});
  check(bank{records.data(), accounts, {.servers = 2}});
  EXPECT_EQ(balances(records)[3], 33u);
  EXPECT_EQ(balances(records)[7], 300u);
  static_assert(!warden::device_range<std::vector<account>, account>);
  static_assert(!warden::device_range<std::span<account const>, account>);
}

std::string here(int line) { return "ways_in.cu:" + std::to_string(line); }

TEST(ways_in, errors_name_the_callers_line) {
  warden::buffer<account> records{accounts};
  auto* const all = records.data();
  warden::guarded_options const wrong{.capacity = 48};
  auto const said = [](bank b) { return refusal([&] { warden::prepare_fused(b); }); };
  EXPECT_THAT(said(bank(records, wrong)), HasSubstr(here(__LINE__)));
  EXPECT_THAT(said(bank(records, {}, wrong)), HasSubstr(here(__LINE__)));
  EXPECT_THAT(said(bank(all, accounts, wrong)), HasSubstr(here(__LINE__)));
  EXPECT_THAT(said(bank(all, accounts, {}, wrong)), HasSubstr(here(__LINE__)));
}

template <class Action>
std::string failure(Action action) {
  return test::error_of<warden::cuda_error>(action);
}
TEST(ways_in, errors_of_the_device_name_the_callers_line) {
  std::size_t const all = warden::runtime::facts(0).global_bytes;
  EXPECT_THAT(failure([&] { warden::buffer<char>{2 * all}; }), HasSubstr(here(__LINE__)));
  EXPECT_THAT(failure([&] { warden::baseline::lock_array{all}; }), HasSubstr(here(__LINE__)));
  warden::buffer<account> records{accounts};
  if (test::simulated()) {
    // More slots, and a larger log, than have a place there.
    auto const servers =
        static_cast<unsigned>(all / ((1u << 20) * sizeof(warden::simt::flit_words))) + 1;
    warden::guarded_options const much{.servers = servers, .capacity = 1u << 20};
    int const line = __LINE__ + 1;
    bank large{records, much};
    EXPECT_THAT(failure([&] { warden::prepare_fused(large); }), HasSubstr(here(line)));
    warden::guarded<account, deposit> b{records};
    EXPECT_THAT(failure([&] { warden::deferred(b, 1u << 30); }), HasSubstr(here(__LINE__)));
  }
  warden::stream s;
  EXPECT_THAT(failure([&] { warden::graph::end_capture(s); }), HasSubstr(here(__LINE__)));
  auto const captures = [&](auto what) {
    return failure([&] { warden::graph::capture(s, what); });
  };
  EXPECT_THAT(captures([&] { warden::stream_ref{s}.synchronize(); }), HasSubstr(here(__LINE__)));
  EXPECT_THAT(captures([&] { static_cast<void>(records.to_host(s)); }), HasSubstr(here(__LINE__)));
}

struct large {
  std::uint32_t words[1024];
};
struct touch {
  __device__ void operator()(large& r) const { ++r.words[0]; }
};
using on_chip_policy = warden::policy<warden::options{.records = warden::placement::on_chip}>;

TEST(ways_in, no_servers_are_advised_that_would_not_fit) {
  using guarded = warden::basic_guarded<on_chip_policy, large, touch>;
  auto const facts = warden::runtime::facts(0);
  auto const error_text = [](std::size_t n, unsigned servers) {
    return refusal([&] {
      static_cast<void>(guarded(test::no_records<large>(), n, {.servers = servers}).servers());
    });
  };
  std::size_t const each = facts.shared_bytes_per_block / sizeof(large);
  // Two servers' worth for one.
  EXPECT_THAT(error_text(each + 1, 1),
              HasSubstr("keep them in memory, or make at least 2 servers"));
  auto const hopeless = error_text(each * 2 * static_cast<std::size_t>(facts.multiprocessors), 1);
  EXPECT_THAT(hopeless, HasSubstr("keep them in memory"));
  EXPECT_THAT(hopeless, testing::Not(HasSubstr("or make")));
}

}  // namespace
