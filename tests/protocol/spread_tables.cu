// SPDX-License-Identifier: Apache-2.0
// Sections that combine before they travel: ranks send tables of partials if these are smaller than
// the messages.

#include "tests/protocol/spread_tables.cuh"

#include <gmock/gmock.h>

#include <cstdint>

namespace tabled {
namespace {

using spreading::on_ranks;
using spreading::ranks;
using spreading::told;
using testing::HasSubstr;
using warden::placement;

/// Each rank sends an equal part of n operations in each of 2 runs, half of them by threads.
template <class Section, class Policy>
void run_parts(warden::communicator const& world, std::uint32_t keys, std::uint32_t n, bool fills,
               warden::deferred_options chosen = {}) {
  bench<Section, Policy> b{world, keys};
  warden::deferred later{b.on(), n, chosen};
  later.record_phases();
  auto const size = static_cast<std::uint32_t>(world.size());
  auto const rank = static_cast<std::uint32_t>(world.rank());
  std::uint32_t const each = n / size, first = rank * each;
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    b.send_alone(later, first, first + each / 2);
    b.send_together(later, first + each / 2, first + each);
    later.run();
    EXPECT_EQ(filled_tables(later), fills);
  }
  b.on().wait();
  b.expect_ran(size * each, 2);
}

template <class Section>
class spread_tables : public testing::Test {};
using sections = testing::Types<deposit, sample, visit>;
TYPED_TEST_SUITE(spread_tables, sections);

using by_default = deferring::small_blocks<>;
using on_chip = deferring::small_blocks<warden::executor::automatic, placement::on_chip>;
using by_locks = deferring::small_blocks<warden::executor::locks<64>>;

TYPED_TEST(spread_tables, every_section_runs_once) {
  for (int const count : {2, 3}) {
    for (std::uint32_t const keys : {5u, 97u}) {
      on_ranks(ranks(count, keys), [&](warden::communicator const& world) {
        run_parts<TypeParam, by_default>(world, keys, 6000, true);
        run_parts<TypeParam, on_chip>(world, keys, 6000, true);
        run_parts<TypeParam, by_locks>(world, keys, 6000, true);
      });
    }
  }
}
TYPED_TEST(spread_tables, are_not_filled_for_few_sections) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    run_parts<TypeParam, by_default>(world, 2000, 500, false);
  });
}
TEST(spread_tables_of_deposits, are_filled_from_a_log_that_is_split) {
  for (int const count : {2, 3}) {
    on_ranks(ranks(count), [](warden::communicator const& world) {
      run_parts<deposit, by_default>(world, 500, 6000, true, {.partitions = 4, .split = 8});
    });
  }
}
/// Rank 1 sends rank 0 a table, and rank 2 messages, from a log that is split.
TEST(spread_tables_of_deposits, leave_next_to_messages_of_a_log_that_is_split) {
  constexpr std::uint32_t keys = 90, n = 1000, few = 10, ranks_here = 3;
  on_ranks(ranks(ranks_here), [](warden::communicator const& world) {
    bench<deposit> b{world, keys};
    warden::deferred later{b.on(), n + few, {.partitions = 2, .split = 2}};
    later.record_phases();
    if (world.rank() == 1) {
      b.send_alone(later, 0, n, 1);
      b.send_alone(later, n, n + few, ranks_here);
    }
    later.run();
    EXPECT_EQ(filled_tables(later), world.rank() == 1);
    b.on().wait();
    auto const rank = static_cast<std::uint32_t>(world.rank());
    std::uint64_t expected = rank == 0 ? n : 0;
    for (std::uint32_t i = n; i < n + few; ++i)
      expected += deferring::id_of(i, ranks_here) == rank ? 1 : 0;
    EXPECT_EQ(b.ran(), expected);
  });
}

/// Exactly the sections that are sent for rank 0 by rank 1, of which each has a message: twice the
/// places of a table, or one less.
TEST(spread_tables_of_deposits, are_filled_if_they_take_half_of_the_places) {
  constexpr std::uint32_t keys = 100, places = keys / 2;
  for (std::uint32_t const n : {2 * places - 1, 2 * places}) {
    on_ranks(ranks(2), [&](warden::communicator const& world) {
      bench<deposit> b{world, keys};
      warden::deferred later{b.on(), n};
      later.record_phases();
      // All on record 0.
      if (world.rank() == 1) b.send_alone(later, 0, n, 1);
      later.run();
      EXPECT_EQ(filled_tables(later), world.rank() == 1 && n == 2 * places);
      b.on().wait();
      EXPECT_EQ(b.ran(), world.rank() == 0 ? n : 0);
      if (world.rank() == 0 && n == 2 * places) {
        EXPECT_EQ(b.sections_ran(), 1u);
      }
    });
  }
}
/// Rank 0 gets a table of rank 1, and messages of rank 2.
TEST(spread_tables_of_deposits, come_next_to_messages) {
  constexpr std::uint32_t keys = 90, n = 1000, few = 10;
  on_ranks(ranks(3), [](warden::communicator const& world) {
    bench<deposit> b{world, keys};
    warden::deferred later{b.on(), n};
    later.record_phases();
    auto const rank = static_cast<std::uint32_t>(world.rank());
    for (int turn = 0; turn < 2; ++turn) {
      if (rank == 1) b.send_alone(later, 0, n);
      if (rank == 2) b.send_alone(later, n, n + few);
      later.run();
      EXPECT_EQ(filled_tables(later), rank == 1);
    }
    b.on().wait();
    b.expect_ran(n + few, 2);
  });
}
/// The messages would exceed the room of each rank.
TEST(spread_tables_of_deposits, take_less_room_than_messages) {
  constexpr std::uint32_t keys = 40, n = 1000;
  on_ranks(ranks(2), [](warden::communicator const& world) {
    bench<deposit> b{world, keys};
    warden::deferred later{b.on(), n, {.room = keys / 2}};
    auto const first = static_cast<std::uint32_t>(world.rank()) * n;
    b.send_alone(later, first, first + n);
    later.run();
    b.on().wait();
    b.expect_ran(2 * n);
    // Too few for a table.
    b.send_alone(later, 0, keys - 1, 1);
    EXPECT_THAT(told([&] { later.run(); }),
                HasSubstr("39 sections would come to rank 0, whose log has room for 20"));
  });
}
TEST(spread_tables_of_deposits, bad_ids_are_reported) {
  constexpr std::uint32_t keys = 40, n = 1000;
  on_ranks(ranks(2), [](warden::communicator const& world) {
    bench<deposit> b{world, keys};
    warden::deferred later{b.on(), 2 * n};
    later.record_phases();
    b.send_alone(later, 0, n);
    // Every other operation is on no record.
    b.send_alone(later, n, 2 * n, 2 * keys);
    later.run();
    EXPECT_TRUE(filled_tables(later));
    EXPECT_THAT(told([&] { b.on().wait(); }), HasSubstr("record id"));
  });
}

/// Sections that are not combined before they travel: they run by their member atomic, or say so.
struct atomic_deposit : deposit {
  __device__ void operator()(tally& t, warden::no_context) const {
    simt::fetch_add(&t.count, count);
  }
  __device__ void atomic(tally* t, warden::no_context) const { simt::fetch_add(&t->count, count); }
  __device__ static atomic_deposit combine(atomic_deposit a, atomic_deposit b) {
    return {deposit::combine(a, b)};
  }
};
struct single_deposit : deposit {
  static constexpr bool combines = false;
  __device__ static single_deposit combine(single_deposit a, single_deposit b) {
    return {deposit::combine(a, b)};
  }
};
using in_order = warden::policy<warden::options{.block_threads = 32}, warden::order::sequential>;
template <class Policy, class Section>
inline constexpr bool combines =
    warden::detail::combines_for_ranks<warden::detail::spread_policy<Policy>, tally, Section>;
static_assert(combines<by_default, deposit> && combines<by_default, sample>);
static_assert(!combines<deferring::small_blocks<warden::executor::atomics<>>, atomic_deposit>);
static_assert(!combines<by_default, single_deposit>);
static_assert(!combines<in_order, deposit>);

}  // namespace
}  // namespace tabled
