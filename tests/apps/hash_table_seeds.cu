// SPDX-License-Identifier: Apache-2.0
// The hash table's operations under very many schedules of the simulated device: all kinds in one
// launch, deferred and with answers, and those that run as atomics.

#include "apps/hash_table/answering_table.cuh"
#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/table.cuh"
#include "tests/apps/call_outcomes.cuh"
#include "tests/apps/contents.cuh"
#include "tests/support/many_schedules.cuh"
#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace {

using key = std::uint32_t;
using value = std::uint64_t;
using keys = hash_table::integer_keys<key>;
namespace simt = warden::simt;

/// The keys below `counters` are counted; those above come and go.
constexpr key counters = 4, others = 60;

/// Two warps that send and two that run, so that windows are full, and an owner has many buckets.
template <class Executor>
using tiny_policy = warden::with_values<warden::with_parts<hash_table::table_policy, Executor>,
                                        &warden::options::block_threads, 32>;
template <class Executor, class Value = value>
using tiny_table = hash_table::table<key, Value, keys, tiny_policy<Executor>>;

/// A value that lies apart from its key: a number three times, which are to stay alike.
struct large {
  std::uint64_t first, second, third;

  large() = default;
  WARDEN_HOST_DEVICE large(std::uint64_t n) : first{n}, second{n}, third{n} {}
  WARDEN_HOST_DEVICE large& operator+=(large const& more) {
    first += more.first;
    second += more.second;
    third += more.third;
    return *this;
  }
  bool operator==(large const&) const = default;
};
static_assert(hash_table::bucket<key, value>::slots == 7);
static_assert(hash_table::bucket<key, large>::slots == 4);

template <class Table>
WARDEN_KERNEL void send_all_kinds(typename Table::ref_type table, std::uint32_t n) {
  using block = typename Table::template block<32>;
  block client{table, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t first = simt::block_rank() * 32; first < n;
       first += simt::block_count() * 32) {
    std::uint32_t const i = first + simt::thread_rank();
    key const coming = counters + i % others;
    client.add(i % counters, 1, i < n);
    client.insert(coming, coming, i < n && i % 2 == 0);
    client.insert_or_assign(coming, 2 * coming, i < n && i % 2 != 0);
    // By itself.
    if (i < n) table.erase(counters + i / 2 % others);
  }
  client.flush();
}

/// No entry was lost on the way: there is room for as many keys as are missing.
template <class Table>
void expect_room(Table& t, std::uint32_t there, std::uint32_t room) {
  std::vector<key> more(room - there);
  std::iota(more.begin(), more.end(), counters + others);
  warden::buffer<key> const device_more{more};
  t.add_async(device_more.data(), 1, static_cast<std::uint32_t>(more.size()));
  t.wait();
  ASSERT_EQ((test::contents<key, typename Table::value_type>(t, room).size()), room);
}

template <class Table>
void one_run(std::uint32_t buckets) {
  constexpr std::uint32_t n = 120, room = 200;
  Table t{{.buckets = buckets, .capacity = room, .overflow = room, .partitions = 2}};
  constexpr std::size_t shared_bytes = sizeof(typename Table::template block<32>::storage);
  warden::launch(send_all_kinds<Table>, {3, 32, shared_bytes}, {}, t.ref(4 * n), n);
  t.run();
  t.wait();
  using value_type = typename Table::value_type;
  auto const all = test::contents<key, value_type>(t, room);
  for (key k = 0; k < counters; ++k)
    ASSERT_TRUE(all.at(k) == value_type{n / counters}) << "lost or doubled operation on " << k;
  for (auto const& [k, v] : all) {
    if (k >= counters) {
      ASSERT_TRUE(v == value_type{k} || v == value_type{2 * k}) << "another value under " << k;
    }
  }
  auto const counts = t.counts();
  ASSERT_EQ(counts.inserted + counts.updated + counts.present, 2 * n);
  ASSERT_EQ(counts.erased + counts.absent, n);
  ASSERT_EQ(counts.inserted - counts.erased, all.size());
  if (buckets == 1) {
    expect_room(t, static_cast<std::uint32_t>(all.size()), Table::bucket_type::slots + room);
  }
}

/// Calls `launch(buckets)` with one hot bucket, one for each thread at most, and many for each.
template <class Launch>
void by_buckets(std::uint64_t share, Launch launch) {
  test::under_many_schedules(share, [&](std::uint64_t) {
    for (std::uint32_t const buckets : {1u, 40u, 300u}) launch(buckets);
  });
}

template <class Executor>
class every_executor : public testing::Test {};
using executors = testing::Types<warden::executor::sorted<64>, warden::executor::locks<64>>;
TYPED_TEST_SUITE(every_executor, executors);

TYPED_TEST(every_executor, under_many_schedules) { by_buckets(2, one_run<tiny_table<TypeParam>>); }
TYPED_TEST(every_executor, large_values_under_many_schedules) {
  test::under_many_schedules(4, [](std::uint64_t) { one_run<tiny_table<TypeParam, large>>(9); });
}

// ---- without exclusion

/// Counts, of which many insert the same key at once, in buckets that are full, or have gaps from
/// keys that were erased; and values that were there stay.
template <class Table>
void count_at_once(std::uint64_t seed) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
  };
  // Enough for each warp of the block that runs them to have some.
  std::uint32_t const buckets = 1 + draw(0, 3), distinct = 1 + draw(1, 40), n = 300 + draw(2, 60);
  // Each thread may hold a node that it will not need.
  Table t{{.buckets = buckets, .capacity = 40, .overflow = 400}};
  std::map<key, value> wanted;
  std::vector<key> drawn(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    drawn[i] = i % 7 == 0 ? hash_table::kept_key<key>::zero_key : draw(3 + i, distinct);
    ++wanted[drawn[i]];
  }
  warden::buffer<key> const device_drawn{drawn};
  std::uint32_t const before = draw(5, n);
  t.count_async(device_drawn.data(), before);
  if constexpr (requires { typename Table::log_type; }) {
    // From slots and nodes; half of them come again, so that gaps stay.
    std::uint32_t const erased = draw(6, 1 + before), again = erased / 2;
    t.erase_async(device_drawn.data(), erased);
    t.add_async(device_drawn.data(), 1, again);
    for (std::uint32_t i = 0; i < erased; ++i) wanted[drawn[i]] = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      bool const gone =
          std::find(drawn.begin(), drawn.begin() + erased, drawn[i]) != drawn.begin() + erased;
      if (gone && (i < again || i >= before)) ++wanted[drawn[i]];
    }
    std::erase_if(wanted, [](auto const& entry) { return entry.second == 0; });
  }
  t.count_async(device_drawn.data() + before, n - before);
  t.wait();
  ASSERT_EQ((test::contents<key, value>(t, n)), wanted) << "lost or doubled operation";
}
TEST(hash_table_seeds, counts_without_exclusion_on_chip) {
  test::under_many_schedules(1, count_at_once<tiny_table<warden::executor::automatic>>);
}
TEST(hash_table_seeds, counts_without_exclusion_in_memory) {
  test::under_many_schedules(1, count_at_once<hash_table::atomic_table<key, value>>);
}

/// Inserts of one key: one wins, whole.
TEST(hash_table_seeds, inserts_without_exclusion) {
  struct wide {
    std::uint64_t a, b, c;
    bool operator==(wide const&) const = default;
  };
  using table = hash_table::table<key, wide, keys, tiny_policy<warden::executor::automatic>>;
  test::under_many_schedules(1, [](std::uint64_t seed) {
    constexpr std::uint32_t n = 150;
    std::uint32_t const distinct = 1 + static_cast<std::uint32_t>(seed % 30);
    table t{{.buckets = 2, .capacity = 40, .overflow = 400}};
    std::vector<key> drawn(n);
    std::vector<wide> values(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      drawn[i] = i % distinct;
      values[i] = {i, 3 * i, 5 * i};
    }
    warden::buffer<key> const device_drawn{drawn};
    warden::buffer<wide> const device_values{values};
    t.insert_async(device_drawn.data(), device_values.data(), n);
    t.wait();
    auto const counts = t.counts();
    ASSERT_EQ(counts.inserted, distinct);
    ASSERT_LE(counts.present, n - distinct);  // some went into others
    auto const all = test::contents<key, wide>(t, n);
    ASSERT_EQ(all.size(), distinct);
    for (auto const& [k, v] : all) {
      ASSERT_EQ(v.a % distinct, k);
      ASSERT_EQ(v, (wide{v.a, 3 * v.a, 5 * v.a}));
    }
  });
}

// ---- answers

template <class Small>
using tiny_answering_policy = warden::with_values<
    warden::with_parts<Small, warden::context<hash_table::table_context<key, value, keys>>>,
    &warden::options::block_threads, test::limits<Small>.fewest_threads,
    &warden::tuning::outbox_bytes_per_thread, 64>;
template <class Small>
class every_answering_executor : public testing::Test {};
using answering_executors = testing::Types<test::sorted, test::locks>;
TYPED_TEST_SUITE(every_answering_executor, answering_executors);

TYPED_TEST(every_answering_executor, answers_under_many_schedules) {
  using table = hash_table::answering_table<key, value, keys, tiny_answering_policy<TypeParam>>;
  constexpr std::uint32_t n = 80;
  by_buckets(5, [](std::uint32_t buckets) {
    table t{{.buckets = buckets, .capacity = test::outcome_keys::first_own + n},
            {},
            {.servers = 2, .capacity = 32, .time_limit_seconds = 1}};
    test::check_told(t, n, 3);
  });
}

}  // namespace
