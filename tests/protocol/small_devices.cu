// SPDX-License-Identifier: Apache-2.0
// Default policies on devices with less shared memory: every log and launch works, or a limit_error
// names the value and the remedy.

#include "tests/support/error_text.hpp"

#include <warden/cuda_names.cuh>
#include <warden/deferred_pairs.cuh>
#include <warden/fused.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

struct account {
  long long balance;
};
/// A section with a payload of `Words` words.
template <int Words>
struct deposit {
  int amount[Words];
  __device__ void operator()(account& a) const { a.balance += amount[0]; }
};
/// A section whose order changes the result.
template <int Words>
struct append {
  unsigned digit[Words];
  __device__ void operator()(account& a) const {
    auto const before = static_cast<unsigned long long>(a.balance);
    a.balance = static_cast<long long>((before * 31 + digit[0]) % 1'000'000'007);
  }
};
struct move_amount {
  int amount;
  __device__ void operator()(account& a, account& b) const {
    a.balance += amount;
    b.balance += amount;
  }
};
struct combined {
  int amount;
  __device__ void operator()(account& a) const { a.balance += amount; }
  __device__ static combined combine(combined a, combined b) { return {a.amount + b.amount}; }
};

using on_chip = warden::policy<warden::options{.records = warden::placement::on_chip}>;
using in_order = warden::policy<warden::options{}, warden::order::sequential>;
using large_blocks = warden::with_values<in_order, &warden::options::block_threads, 1024>;

/// On the devices of all profiles, of four multiprocessors.
class small_devices : public testing::TestWithParam<char const*> {
 protected:
  void SetUp() override { use(std::size_t{50} << 20); }
  void TearDown() override { warden::sim::configure({}); }
  static void use(std::size_t cache_bytes) {
    warden::sim::configure({.multiprocessors = 4,
                            .profile = &warden::sim::find_profile(GetParam()),
                            .cache_bytes = cache_bytes});
  }
};
INSTANTIATE_TEST_SUITE_P(profiles, small_devices, testing::Values("7.5", "8.0", "8.6", "9.0"),
                         [](auto const& info) {
                           std::string name = info.param;
                           name[name.find('.')] = '_';
                           return "cc_" + name;
                         });

std::vector<account> sum_of(std::size_t records, std::size_t n) {
  std::vector<account> all(records);
  for (std::size_t i = 0; i < n; ++i) all[i * 7 % records].balance += static_cast<int>(i % 5);
  return all;
}
bool same(std::vector<account> const& a, std::vector<account> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](account const& x, account const& y) { return x.balance == y.balance; });
}

/// `n` sections on `records` records, by arrays.
template <class Policy, int Words>
void run_sums(std::size_t records, std::size_t n) {
  SCOPED_TRACE("sections of " + std::to_string(Words) + " words");
  warden::buffer<account> accounts{records};
  accounts.fill_bytes(0);
  std::vector<unsigned> ids(n);
  std::vector<deposit<Words>> sections(n);
  for (unsigned i = 0; i < n; ++i) {
    ids[i] = static_cast<unsigned>(i * std::size_t{7} % records);
    sections[i].amount[0] = static_cast<int>(i % 5);
  }
  warden::buffer<unsigned> device_ids{ids};
  warden::buffer<deposit<Words>> device_sections{sections};
  warden::basic_guarded<Policy, account, deposit<Words>> g{accounts};
  ASSERT_NO_THROW(g.apply_async(device_ids.data(), device_sections.data(), n); g.wait());
  EXPECT_TRUE(same(accounts.to_host(), sum_of(records, n)));
}
/// The test in order.
template <int Words>
void run_order(std::size_t records, std::size_t n) {
  SCOPED_TRACE("sections in order of " + std::to_string(Words) + " words");
  warden::buffer<account> accounts{records};
  accounts.fill_bytes(0);
  std::vector<unsigned> ids(n);
  std::vector<append<Words>> sections(n);
  std::vector<account> wanted(records);
  for (unsigned i = 0; i < n; ++i) {
    ids[i] = static_cast<unsigned>(i * std::size_t{7} % records);
    sections[i].digit[0] = i % 29;
    sections[i](wanted[ids[i]]);
  }
  warden::buffer<unsigned> device_ids{ids};
  warden::buffer<append<Words>> device_sections{sections};
  warden::basic_guarded<in_order, account, append<Words>> g{accounts};
  ASSERT_NO_THROW(g.apply_async(device_ids.data(), device_sections.data(), n); g.wait());
  EXPECT_TRUE(same(accounts.to_host(), wanted));
}

TEST_P(small_devices, deferred_sections_of_every_width) {
  run_sums<warden::policy<>, 1>(100, 2000);
  run_sums<warden::policy<>, 3>(100, 9000);
  run_sums<warden::policy<>, 5>(100, 2000);
  run_sums<warden::policy<>, 7>(100, 2000);
  run_sums<warden::policy<>, 11>(100, 2000);
}
TEST_P(small_devices, deferred_sections_on_records_on_chip) {
  run_sums<on_chip, 3>(20'000, 5000);
  run_sums<on_chip, 11>(20'000, 5000);
}
TEST_P(small_devices, sections_in_order_of_every_width) {
  run_order<1>(100, 9000);
  run_order<3>(100, 9000);
  run_order<11>(100, 2000);
}
TEST_P(small_devices, logs_that_a_run_splits) {
  // Records larger than the level-2 cache.
  use(4096);
  run_sums<warden::policy<>, 1>(40'000, 6000);
  run_sums<warden::policy<>, 3>(40'000, 6000);
  run_sums<warden::policy<>, 5>(40'000, 6000);
  run_sums<warden::policy<>, 11>(40'000, 6000);
  run_order<1>(40'000, 6000);
  run_order<5>(40'000, 6000);
}
TEST_P(small_devices, combining_arrays) {
  constexpr unsigned n = 5000;
  warden::buffer<account> accounts{10};
  accounts.fill_bytes(0);
  warden::buffer<unsigned> const ids{std::vector<unsigned>(n, 7)};
  warden::buffer<combined> const sections{std::vector<combined>(n, combined{1})};
  warden::guarded<account, combined> g{accounts};
  ASSERT_NO_THROW(g.apply_async(ids.data(), sections.data(), n); g.wait());
  EXPECT_EQ(accounts.to_host()[7].balance, n);
}

// ---- sections on two records

using plain = warden::basic_guarded<warden::policy<>, account, deposit<1>>;
using between = warden::deferred_between<plain, plain, move_amount>;

template <class Ref>
__global__ void send_pairs(Ref to, unsigned records) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  to.send(i % records, i * 7 % records, move_amount{1});
}
long long sum(warden::buffer<account> const& accounts) {
  auto const all = accounts.to_host();
  return std::accumulate(all.begin(), all.end(), 0ll,
                         [](long long s, account const& a) { return s + a.balance; });
}

/// The sum that 2,048 sections leave, or the error.
std::string sum_between(warden::deferred_options const& options) {
  warden::buffer<account> a{5000}, b{5000};
  a.fill_bytes(0);
  b.fill_bytes(0);
  plain x{a}, y{b};
  try {
    between log{x, y, 5000, options};
    warden::launch(&send_pairs<between::ref_type>, 8, 256, {}, log.ref(), 5000u);
    log.run();
    x.wait();
    y.wait();
  } catch (warden::limit_error const& e) {
    return e.what();
  }
  return std::to_string(sum(a) + sum(b));
}
TEST_P(small_devices, sections_on_two_records) {
  using pairs = warden::basic_guarded<warden::policy<>, account, move_amount>;
  for (unsigned const partitions : {0u, 64u}) {
    warden::buffer<account> accounts{5000};
    accounts.fill_bytes(0);
    pairs g{accounts};
    warden::deferred log{g, 5000, {.partitions = partitions}};
    warden::launch(&send_pairs<decltype(log.ref())>, 8, 256, {}, log.ref(), 5000u);
    log.run();
    g.wait();
    EXPECT_EQ(sum(accounts), 4096);
  }
}
TEST_P(small_devices, sections_between_two_arrays) {
  EXPECT_EQ(sum_between({}), "4096");
  EXPECT_EQ(sum_between({.partitions = 128, .second_partitions = 128}), "4096");
}
TEST_P(small_devices, tile_pairs_that_cannot_be_listed) {
  EXPECT_THAT(sum_between({.partitions = 512, .second_partitions = 512}),
              HasSubstr("deferred: a log of 5000 records of 8 bytes in 512 tiles and 5000 records "
                        "of 8 bytes in 512 tiles needs 235524 bytes of shared memory to list its "
                        "tile pairs; the device has "));
}
/// A part for each multiprocessor would be too many to list.
TEST_P(small_devices, tile_pairs_on_many_multiprocessors) {
  warden::sim::configure({.multiprocessors = 512,
                          .profile = &warden::sim::find_profile(GetParam()),
                          .blocks_per_multiprocessor = 1});
  warden::buffer<account> a{1u << 16}, b{1u << 16};
  plain x{a}, y{b};
  EXPECT_NO_THROW((between{x, y, 1000}));
}

// ---- fused launches

template <unsigned Threads, bool Combines>
using fused_by = warden::policy<warden::options{.block_threads = Threads,
                                                .tuning = {.combine_in_fused = Combines}}>;
template <class Section>
struct send_all {
  unsigned n, records;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& to) const {
    warden::block_client<Ref> client{to, at};
    unsigned const first = at.block_index() * at.block_dim();
    for (unsigned i = first; i < n; i += static_cast<unsigned>(at.global_size()))
      client.send((i + at.thread_rank()) * 7 % records, Section{1}, i + at.thread_rank() < n);
    client.flush();
  }
};
using bank = warden::guarded<account, deposit<2>>;
struct payday {
  unsigned people;
  __device__ void operator()(warden::virtual_block const& at, bank::ref const& accounts) const {
    bank::block_client client{accounts, at};
    auto const i = static_cast<unsigned>(at.global_rank());
    client.send(i % 100, deposit<2>{{10}}, i < people);
    client.flush();
  }
};
TEST_P(small_devices, fused_launches) {
  warden::buffer<account> accounts{100};
  accounts.fill_bytes(0);
  bank b{accounts};
  ASSERT_NO_THROW(warden::launch_fused(payday{1000}, 4, {}, b); b.wait());
  EXPECT_EQ(sum(accounts), 10'000);
}

/// Pays into two banks.
struct pay_into_both {
  unsigned people;
  template <class First, class Second>
  __device__ void operator()(warden::virtual_block const& at, First const& to_first,
                             Second const& to_second) const {
    warden::block_client<First> a{to_first, at};
    warden::block_client<Second> b{to_second, at};
    unsigned const first = at.block_index() * at.block_dim();
    for (unsigned i = first; i < people; i += static_cast<unsigned>(at.global_size())) {
      unsigned const mine = i + at.thread_rank();
      a.send(mine % 100, deposit<2>{{1}}, mine < people);
      b.send(mine % 37, deposit<2>{{2}}, mine < people);
    }
    a.flush();
    b.flush();
  }
};
TEST_P(small_devices, two_guarded_arrays_in_one_launch) {
  constexpr unsigned people = 8192;
  warden::buffer<account> first{100}, second{37};
  first.fill_bytes(0);
  second.fill_bytes(0);
  bank a{first}, b{second};
  ASSERT_NO_THROW(warden::launch_fused(pay_into_both{people}, 4, {}, a, b); a.wait(); b.wait());
  EXPECT_EQ(sum(first), people);
  EXPECT_EQ(sum(second), 2 * people);
}
/// One slot of the second array is reserved and never filled: the launch is poisoned. Its threads
/// leave their loop together, whether they have an outbox or not.
struct send_until_poisoned {
  template <class First, class Second>
  __device__ void operator()(warden::virtual_block const& at, First const& to_first,
                             Second const& to_second) const {
    if (at.global_rank() == 0) to_second.channel_of(0).reserve(1);
    warden::block_client<First> a{to_first, at};
    warden::block_client<Second> b{to_second, at};
    bool const valid = at.thread_rank() % 7 == 0;
    while (b.send(at.thread_rank() % 37, deposit<2>{{2}}, valid)) __syncthreads();
    a.flush();
    b.flush();
  }
};
TEST_P(small_devices, a_poisoned_launch_on_two_arrays) {
  warden::buffer<account> first{100}, second{37};
  bank a{first}, b{second, {.servers = 1, .capacity = 32, .time_limit_seconds = 0.1}};
  warden::launch_fused(send_until_poisoned{}, 4, {}, a, b);
  EXPECT_THROW(b.wait(), warden::timeout_error);
}
template <class Policy, class Section>
void run_fused() {
  using guarded = warden::basic_guarded<Policy, account, Section>;
  constexpr unsigned n = 9000;
  warden::buffer<account> accounts{3000};
  accounts.fill_bytes(0);
  guarded g{accounts};
  ASSERT_NO_THROW(warden::launch_fused(send_all<Section>{n, 3000}, 8, Policy::block_threads, {}, g);
                  g.wait());
  EXPECT_EQ(sum(accounts), n);
}
TEST_P(small_devices, fused_launches_of_larger_blocks) {
  run_fused<fused_by<512, false>, deposit<2>>();
  run_fused<fused_by<512, false>, deposit<11>>();
  run_fused<fused_by<256, true>, combined>();
}

// ---- what a policy's own blocks do not fit

struct asks_for_much {
  struct shared_storage {
    char bytes[240 << 10];
  };
  __device__ void operator()(warden::virtual_block const&, bank::ref const&) const {}
};
TEST_P(small_devices, kernels_with_too_much_shared_memory) {
  warden::buffer<account> accounts{100};
  bank b{accounts};
  auto const most = warden::runtime::facts(0).shared_bytes_per_block;
  EXPECT_THAT(
      test::refusal([&] { warden::launch_fused(asks_for_much{}, 4, {}, b); }),
      HasSubstr("bytes of shared memory for each block; the device has " + std::to_string(most) +
                ": make the kernel's shared_storage, or the policies' block_threads or "
                "outbox_bytes_per_thread smaller"));
}
TEST_P(small_devices, blocks_that_are_too_large_for_the_device) {
  auto const most = warden::runtime::facts(0).shared_bytes_per_block;
  warden::buffer<account> accounts{100};
  accounts.fill_bytes(0);
  using large = warden::basic_guarded<large_blocks, account, append<3>>;
  large g{accounts};
  auto const error_text = test::refusal([&] { warden::deferred{g, 1000}; });
  if (most > (std::size_t{128} << 10)) {
    EXPECT_EQ(error_text, "");
  } else {
    EXPECT_THAT(error_text, HasSubstr("deferred: a block of 1024 threads that runs a log needs "));
    EXPECT_THAT(error_text,
                HasSubstr("bytes of shared memory; the device has " + std::to_string(most) +
                          ": make the policy's block_threads smaller"));
  }
}

}  // namespace
