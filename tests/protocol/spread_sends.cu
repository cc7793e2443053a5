// SPDX-License-Identifier: Apache-2.0
// Sections on records of any rank that send sections to records of any rank.

#include "tests/protocol/chains.cuh"
#include "tests/protocol/spread.cuh"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;
using chains::hop;
using chains::last;
using spreading::on_ranks;
using spreading::ranks;
using spreading::told;
using test::tally;
using testing::HasSubstr;

using guarded = warden::basic_spread_guarded<chains::in_memory, tally, hop, last>;

struct arguments {
  guarded::deferred_ref ref;
  std::uint32_t first, end, records, links;
};
WARDEN_KERNEL void begin_chains(arguments a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.end) a.ref.send(test::id_of(i, a.records), hop{i * 1000, i % a.links, a.records});
}
void begin(arguments const& a) {
  simt::launch(&begin_chains, (a.end - a.first + 31) / 32, 32, 0, a, {});
}
/// All chains below `end` have run, each `times` times.
void expect_chains(guarded const& on, std::uint32_t end, std::uint32_t links, int times) {
  auto const records = static_cast<std::uint32_t>(on.size());
  std::vector<tally> wanted(records);
  for (int t = 0; t < times; ++t) {
    for (std::uint32_t i = 0; i < end; ++i)
      chains::chain(wanted, test::id_of(i, records), hop{i * 1000, i % links, records});
  }
  auto const found = on.records().to_host();
  auto const ids = spreading::ids_of(on);
  for (std::uint32_t place = 0; place < found.size(); ++place) {
    std::uint32_t const id = ids[place];
    if (id >= records) continue;
    ASSERT_EQ(found[place].count, wanted[id].count) << "lost or doubled section on record " << id;
    ASSERT_EQ(found[place].mixed, wanted[id].mixed) << "wrong section on record " << id;
  }
}

TEST(spread_sends, a_run_ends_when_no_rank_has_any_section) {
  for (int const count : {1, 2, 3}) {
    on_ranks(ranks(count), [&](warden::communicator const& world) {
      constexpr std::uint32_t records = 50, n = 300, links = 5;
      guarded on{world, records};
      warden::deferred later{on, n};
      // The last rank begins none.
      std::uint32_t const first = world.rank() == 0 ? 0 : n / 2;
      std::uint32_t const end = world.size() == 1 ? n : world.rank() == 0 ? n / 2 : n;
      for (int round = 0; round < 2; ++round) {
        if (world.rank() < 2) begin({later.ref(), first, end, records, links});
        later.run();
      }
      on.wait();
      expect_chains(on, n, links, 2);
    });
  }
}
TEST(spread_sends, one_rank_asks_no_other) {
  constexpr std::uint32_t n = 300;
  guarded on{spreading::idle_rank(), 50};
  warden::deferred later{on, n};
  begin({later.ref(), 0, n, 50, 5});
  later.run();
  on.wait();
  expect_chains(on, n, 5, 1);
}
TEST(spread_sends, what_finds_no_place_is_told) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 100;
    // Rank 0 has all records that sections name, so its log gets all sections.
    guarded on{world, 1};
    warden::deferred later{on, n, {.room = 2 * n}};
    begin({later.ref(), 0, n, 1, 1});
    later.run();
    EXPECT_THAT(
        told([&] { on.wait(); }),
        HasSubstr(world.rank() == 0 ? "100 deferred sections were refused: their log holds 100"
                                    : "but on rank 0"));
  });
}

WARDEN_KERNEL void begin_at_home(arguments a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  // Each sends one to record 0.
  if (i < a.end) a.ref.send(1, hop{i, 0, 1});
}
TEST(spread_sends, what_a_rank_has_no_room_for_stays_though_its_senders_have_run) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 100;
    guarded on{world, 2};
    {
      warden::deferred later{on, n, {.room = n - 1}};
      if (world.rank() == 1) simt::launch(&begin_at_home, 4, 32, 0, {later.ref(), 0, n, 2, 1}, {});
      EXPECT_THAT(
          told([&] { later.run(); }),
          HasSubstr("run: 100 sections would come to rank 0, whose log has room for 99; the "
                    "logs keep their sections, which did not run: increase the option room"));
      EXPECT_EQ(on.records().to_host()[0].count, world.rank() == 1 ? n : 0);
    }
    EXPECT_THAT(
        told([&] { on.wait(); }),
        HasSubstr(world.rank() == 1 ? "100 deferred sections were never run" : "but on rank 1"));
  });
}

}  // namespace
