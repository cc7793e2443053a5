// SPDX-License-Identifier: Apache-2.0
// The hash table's operations, all kinds in one launch, under very many schedules of the simulated
// device.

#include "apps/hash_table/table.cuh"
#include "tests/apps/contents.cuh"
#include "tests/apps/told.cuh"
#include "tests/support/many_schedules.cuh"
#include "tests/support/support.cuh"

#include <numeric>

namespace {

using key = std::uint32_t;
using value = std::uint64_t;

/// One warp a block, so that windows are full, and an owner has many buckets.
template <class Small>
struct tiny_policy : Small {
  using context = hash_table::table_context<key, value, hash_table::integer_keys<key>>;
  static constexpr unsigned block_threads = Small::fewest_threads;
  static constexpr unsigned outbox_bytes_per_thread = 64;
};

/// The keys below `counters` are counted; those above come and go.
constexpr key counters = 4, others = 60;

template <class Table>
struct all_kinds {
  std::uint32_t n;
  __device__ void operator()(warden::virtual_block const& at,
                             typename Table::ref const& ref) const {
    typename Table::client client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      key const coming = counters + i % others;
      client.add(i % counters, 1, i < n);
      client.insert(coming, coming, i < n && i % 2 == 0);
      client.insert_or_assign(coming, 2 * coming, i < n && i % 2 != 0);
      client.erase(counters + i / 2 % others, i < n);
    }
    client.flush();
  }
};

template <class Table>
void one_launch(std::uint32_t buckets) {
  constexpr std::uint32_t n = 120, capacity = 200;
  Table t{{.buckets = buckets, .capacity = capacity},
          {},
          {.servers = 2, .capacity = 32, .time_limit_seconds = 1}};
  warden::launch_fused(all_kinds<Table>{n}, 3, Table::guarded_type::policy::block_threads, {},
                       t.guarded());
  t.wait();
  auto const all = test::contents<key, value>(t, capacity);
  for (key k = 0; k < counters; ++k) ASSERT_EQ(all.at(k), n / counters);
  for (auto const& [k, v] : all) {
    if (k >= counters) {
      ASSERT_TRUE(v == k || v == 2 * k) << v << " under " << k;
    }
  }
  auto const counts = t.counts();
  ASSERT_EQ(counts.inserted + counts.updated + counts.present, 2 * n);
  ASSERT_EQ(counts.erased + counts.absent, n);
  ASSERT_EQ(counts.inserted - counts.erased, all.size());
  // No node was lost on the way: there is room for as many keys as are missing.
  std::vector<key> more(capacity - all.size());
  std::iota(more.begin(), more.end(), counters + others);
  warden::buffer<key> const device_more{more};
  t.add_async(device_more.data(), 1, static_cast<std::uint32_t>(more.size()));
  t.wait();
  ASSERT_EQ((test::contents<key, value>(t, capacity).size()), capacity);
}

template <class Small>
class every_executor : public testing::Test {};
using executors = testing::Types<test::runs, test::locks>;
TYPED_TEST_SUITE(every_executor, executors);

/// Calls `launch(buckets)` with one hot bucket, one for each thread at most, and many for each.
template <class Launch>
void by_buckets(std::uint64_t share, Launch launch) {
  test::under_many_schedules(share, [&](std::uint64_t) {
    for (std::uint32_t const buckets : {1u, 40u, 300u}) launch(buckets);
  });
}

TYPED_TEST(every_executor, under_many_schedules) {
  using table =
      hash_table::table<key, value, hash_table::integer_keys<key>, tiny_policy<TypeParam>>;
  by_buckets(2, one_launch<table>);
}

TYPED_TEST(every_executor, answers_under_many_schedules) {
  using table = hash_table::answering_table<key, value, hash_table::integer_keys<key>,
                                            tiny_policy<TypeParam>>;
  constexpr std::uint32_t n = 80;
  by_buckets(5, [](std::uint32_t buckets) {
    table t{{.buckets = buckets, .capacity = test::told_keys::first_own + n},
            {},
            {.servers = 2, .capacity = 32, .time_limit_seconds = 1}};
    test::check_told(t, n, 3);
  });
}

}  // namespace
