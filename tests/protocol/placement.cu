// SPDX-License-Identifier: Apache-2.0
// Each run of a log chooses where its records are, by its number of sections.

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/tuning_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;

/// Too large to be copied to registers while its sections run.
struct counter {
  std::uint32_t count;
  std::uint32_t unused[9];
};
/// [0] sections that found their record in memory, [1] on chip.
struct seen {
  std::uint32_t* at;
};
struct look {
  std::uint32_t amount;
  __device__ void operator()(counter& c, seen const& s) const {
    c.count += amount;
    simt::fetch_add(&s.at[simt::is_shared(&c) ? 1 : 0], 1u);
  }
};
template <class Order = warden::order::unordered>
using automatic =
    warden::policy<warden::options{.block_threads = 32}, warden::context<seen>, Order>;
template <class Policy>
using table = warden::basic_guarded<Policy, counter, look>;

WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint32_t i, std::uint32_t records) {
  return static_cast<std::uint32_t>(std::uint64_t{i} * 2654435761u % records);
}
template <class Ref>
struct arguments {
  Ref ref;
  std::uint32_t n;
};
template <class Ref>
WARDEN_KERNEL void send(arguments<Ref> a) {
  using block = warden::deferred_block<Ref, 64>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  auto const records = static_cast<std::uint32_t>(a.ref.size);
  for (std::uint32_t first = simt::block_rank() * 64; first < a.n;
       first += simt::block_count() * 64) {
    std::uint32_t const i = first + simt::thread_rank();
    client.send(id_of(i, records), look{i + 1}, i < a.n);
  }
  client.flush();
}

/// Runs `n` sections, and checks their effects and the place of their records.
template <class Policy>
void run(table<Policy>& b, warden::buffer<counter>& records,
         warden::deferred<Policy, counter, look>& log, warden::buffer<std::uint32_t>& at,
         std::uint32_t n, bool on_chip) {
  records.fill_bytes(0);
  at.fill_bytes(0);
  using ref = typename table<Policy>::deferred_ref;
  simt::launch(&send<ref>, 8, 64, sizeof(typename warden::deferred_block<ref, 64>::storage),
               {log.ref(), n}, {});
  log.run();
  b.wait();
  std::vector<std::uint32_t> expected(records.size());
  for (std::uint32_t i = 0; i < n; ++i)
    expected[id_of(i, static_cast<std::uint32_t>(records.size()))] += i + 1;
  auto const found = records.to_host();
  for (std::size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k].count, expected[k]) << k;
  auto const places = at.to_host();
  EXPECT_EQ(places[0], on_chip ? 0 : n) << n;
  EXPECT_EQ(places[1], on_chip ? n : 0) << n;
}

std::uint32_t multiprocessors() {
  return static_cast<std::uint32_t>(
      warden::runtime::facts(warden::runtime::current_device()).multiprocessors);
}

/// Returns a number of records that is too large to be on chip in any case.
std::uint32_t many_records() {
  auto const tuning = warden::current_tuning(warden::runtime::current_device());
  return multiprocessors() * tuning.on_chip_bytes / sizeof(counter) + 1000;
}

/// Checks the numbers of sections next to those at which the choice changes.
template <class Policy>
void choose_by_sections(warden::deferred_options chosen) {
  auto const tuning = warden::current_tuning(warden::runtime::current_device());
  std::uint32_t const size = many_records(), splits = size / tuning.records_per_split_section;
  auto const from =
      static_cast<std::uint32_t>(size * sizeof(counter) / tuning.record_bytes_per_section + 1);
  warden::buffer<counter> records{size};
  warden::buffer<std::uint32_t> at{2};
  table<Policy> b{records, {at.data()}};
  warden::deferred log{b, from + 500, chosen};
  for (std::uint32_t const n : {1u, splits - 1, splits, from - 1, from, from + 500})
    run<Policy>(b, records, log, at, n, n >= from);
}

TEST(placement, is_chosen_by_the_number_of_sections) { choose_by_sections<automatic<>>({}); }
TEST(placement, is_chosen_in_order) {
  choose_by_sections<automatic<warden::order::sequential>>({.batches = 4096});
}
// So few partitions do not fit the chip, unless they are split.
TEST(placement, is_chosen_for_partitions_that_are_split) {
  choose_by_sections<automatic<>>({.partitions = 1});
  choose_by_sections<automatic<warden::order::sequential>>({.partitions = 1, .batches = 4096});
}
TEST(placement, is_on_chip_if_records_are_few) {
  warden::buffer<counter> records{100};
  warden::buffer<std::uint32_t> at{2};
  table<automatic<>> b{records, {at.data()}};
  warden::deferred log{b, 1000};
  for (std::uint32_t const n : {1u, 1000u}) run<automatic<>>(b, records, log, at, n, true);
}
TEST(placement, is_in_memory_if_the_log_has_little_room) {
  std::uint32_t const size = many_records();
  warden::buffer<counter> records{size};
  warden::buffer<std::uint32_t> at{2};
  table<automatic<>> b{records, {at.data()}};
  warden::deferred log{b, 1000};
  run<automatic<>>(b, records, log, at, 1000, false);
}

/// A record that no block can hold.
struct huge {
  std::uint32_t count;
  std::uint32_t unused[100'000];
};
struct count_one {
  __device__ void operator()(huge& h) const { ++h.count; }
};
WARDEN_KERNEL void count_each(warden::guarded<huge, count_one>::deferred_ref ref) {
  ref.send(simt::thread_rank() % ref.size, count_one{});
}
TEST(placement, is_in_memory_if_a_record_does_not_fit_the_chip) {
  warden::buffer<huge> records{3};
  records.fill_bytes(0);
  warden::guarded<huge, count_one> b{records};
  warden::deferred log{b, 96};
  simt::launch(&count_each, 1, 96, 0, log.ref(), {});
  log.run();
  b.wait();
  for (huge const& h : records.to_host()) EXPECT_EQ(h.count, 32u);
}

/// A section on a small record.
struct add_one {
  __device__ void operator()(std::uint32_t& count) const { ++count; }
};
/// Section i is for record 40 i.
struct for_some {
  __device__ auto operator()(std::uint64_t i) const { return warden::to{40 * i, add_one{}}; }
};

/// A block has more small records than its threads load at a time.
TEST(placement, loads_all_records_of_a_partition) {
  using policy =
      warden::policy<warden::options{.records = warden::placement::on_chip, .block_threads = 32}>;
  constexpr std::uint32_t size = 4001, n = size / 40;
  std::vector<std::uint32_t> expected(size);
  for (std::uint32_t k = 0; k < size; ++k) expected[k] = 7 * k;
  warden::buffer<std::uint32_t> records{expected};
  warden::basic_guarded<policy, std::uint32_t, add_one> b{records};
  warden::deferred log{b, n, {.partitions = 2}};
  warden::send_async(log, n, for_some{});
  log.run();
  b.wait();
  for (std::uint32_t i = 0; i < n; ++i) ++expected[std::size_t{40} * i];
  EXPECT_EQ(records.to_host(), expected);
}

}  // namespace
