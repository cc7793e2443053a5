// SPDX-License-Identifier: Apache-2.0
// Runs between two arrays under many schedules: few tiles and many, uneven and empty ones, hot
// records; and other uses of either array at the same time.

#include "tests/protocol/two_arrays.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"
#include "tests/support/unordered_launches.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace {

namespace simt = warden::simt;
using test::error_text;
using two_arrays::bench;
using two_arrays::send_visits;
using two_arrays::small_blocks;
using two_arrays::visit;

/// At least `least` records of both arrays, in at least `least_tiles` tiles.
void expect_each_once(std::uint64_t seed, std::uint32_t least, unsigned least_tiles,
                      unsigned runs) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 16 + which) % below);
  };
  // Sometimes far more of the one than of the other.
  std::uint32_t const most_users = draw(0, 3) == 0 ? 3 : 60;
  std::uint32_t const most_items = draw(1, 3) == 0 ? 3 : 60;
  bench<small_blocks<>> b{least + draw(2, most_users),
                          least + draw(3, most_items),
                          two_arrays::kind::ratings,
                          1 + draw(4, 60),
                          1 + draw(5, 60),
                          {.time_limit_seconds = 1, .minimum_polls = 64}};
  std::uint32_t const n = 1 + draw(6, 800), together = draw(7, n + 1);
  auto later = b.make(2 * n, least_tiles << draw(8, 4), least_tiles << draw(9, 4));
  for (unsigned run = 0; run < runs; ++run) {
    b.send_together(later, 0, together, 1 + draw(10, 3));
    b.send_alone(later, together, n);
    later.run();
  }
  b.wait();
  b.expect_ran(n, runs);
}
/// Twice: after a run the log is empty.
TEST(two_arrays_seeds, each_section_runs_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) { expect_each_once(seed, 1, 1, 2); });
}
/// Where there are many tiles, few pairs have sections.
TEST(two_arrays_seeds, each_section_runs_once_by_one_block) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    test::let_one_block_be_resident();
    expect_each_once(seed, 20, 8, 1);
  });
}
/// With this number of tiles, one of each array do not fit the chip together.
TEST(two_arrays_seeds, each_section_runs_once_in_memory) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    test::let_blocks_have(16 << 10);
    expect_each_once(seed, 2500, 2, 1);
  });
}

/// One array has many times the tiles of the other array.
TEST(two_arrays_seeds, each_section_runs_once_between_very_different_numbers_of_tiles) {
  for (auto const& [tiles, item_tiles] : {std::pair{64u, 512u}, {512u, 1u}}) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles and " + std::to_string(item_tiles));
    bench<small_blocks<>> b{64, 5000};
    constexpr std::uint32_t n = 3000;
    auto later = b.make(n, tiles, item_tiles);
    b.send_together(later, 0, n, 3);
    later.run();
    b.wait();
    b.expect_ran(n);
  }
}

/// Logs of both guarded arrays, and of one of them alone, run in three streams without an order
/// between them: some may be put off.
TEST(two_arrays_seeds, runs_that_meet_are_put_off_and_reported) {
  std::uint64_t of_users = 0, of_items = 0, of_partner = 0;
  test::under_many_schedules(1, [&](std::uint64_t) {
    bench<small_blocks<>> b{20, 15};
    auto later = b.make(200, 4, 2);
    warden::deferred user_log{b.users(), 100};
    warden::deferred item_log{b.items(), 100};
    warden::stream one, other, third;
    b.send_together(later, 0, 150, 2, one);
    simt::launch(&send_visits<decltype(b)::users_type>, 2, 32, 0, {user_log.ref(), 60, 20}, other);
    simt::launch(&send_visits<decltype(b)::items_type>, 2, 32, 0, {item_log.ref(), 50, 15}, third);
    later.run(one);
    user_log.run(other);
    item_log.run(third);
    one.synchronize();
    other.synchronize();
    third.synchronize();
    std::string const users = error_text(b.users()), items = error_text(b.items());
    bool const users_met =
        users.find("1 runs of logs found the guarded array") != std::string::npos;
    bool const partner_met = users.find("1 runs of logs between") != std::string::npos;
    EXPECT_EQ(users.empty(), !users_met && !partner_met) << users;
    bool const items_met =
        items.find("1 runs of logs found the guarded array") != std::string::npos;
    EXPECT_EQ(items.empty(), !items_met) << items;
    of_users += users_met ? 1 : 0;
    of_items += items_met ? 1 : 0;
    of_partner += partner_met ? 1 : 0;
    // The sections are still there.
    later.run(one);
    user_log.run(one);
    item_log.run(one);
    b.wait(one);
    b.expect_ran(150);
    EXPECT_EQ(b.visits(b.user_records()), 60u) << "lost or doubled section";
    EXPECT_EQ(b.visits(b.item_records()), 50u) << "lost or doubled section";
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(of_users, 0u) << "no seed had runs that met";
    EXPECT_GT(of_items, 0u) << "no seed had runs that met";
    EXPECT_GT(of_partner, 0u) << "no seed had runs that met";
  }
}

/// The arrays the other way round.
struct visit_both {
  __device__ void operator()(two_arrays::item& i, two_arrays::user& u) const {
    i.visits += 1;
    u.visits += 1;
  }
};
using turned = warden::deferred_between<bench<small_blocks<>>::items_type,
                                        bench<small_blocks<>>::users_type, visit_both>;
WARDEN_KERNEL void send_turned(turned::ref_type ref) {
  ref.send(simt::thread_rank() % 15, simt::thread_rank() % 20, visit_both{});
}
/// Two logs between the same guarded arrays, each with another first one: one of them runs.
TEST(two_arrays_seeds, of_two_logs_that_meet_one_runs) {
  std::uint64_t met = 0;
  test::under_many_schedules(1, [&](std::uint64_t) {
    bench<small_blocks<>> b{20, 15};
    auto later = b.make(200, 4, 2);
    turned there{b.items(), b.users(), 32};
    warden::stream one, other;
    b.send_together(later, 0, 150, 2, one);
    simt::launch(&send_turned, 1, 32, 0, there.ref(), other);
    later.run(one);
    there.run(other);
    one.synchronize();
    other.synchronize();
    bool const is_put_off = !error_text(b.users()).empty() || !error_text(b.items()).empty();
    met += is_put_off ? 1 : 0;
    bool const rated = b.rated() == 150, visited = b.visits(b.user_records()) == 32;
    EXPECT_TRUE(is_put_off ? rated != visited : rated && visited) << "lost or doubled section";
    later.run(one);
    there.run(one);
    b.wait(one);
    b.expect_ran(150);
    EXPECT_EQ(b.visits(b.user_records()), 32u) << "lost or doubled section";
    EXPECT_EQ(b.visits(b.item_records()), 32u) << "lost or doubled section";
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(met, 0u) << "no seed had runs that met";
  }
}

/// A fused launch's kernel: 32 visits.
struct visit_fused {
  std::uint32_t records;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    client.send(at.thread_rank() % records, visit{}, at.thread_rank() < 32);
    client.flush();
  }
};
/// A run and a fused launch of either guarded array in two streams without an order between them.
template <class Guarded>
void expect_reported_where_they_meet(Guarded& (bench<two_arrays::fused>::*of)()) {
  unsigned met = 0;
  test::under_many_schedules(2, [&](std::uint64_t) {
    bench<two_arrays::fused> b{20, 15};
    auto later = b.make(200, 4, 2);
    warden::stream one, other;
    b.send_alone(later, 0, 150, one);
    later.run(one);
    warden::launch_fused(visit_fused{15}, 1, other, (b.*of)());
    std::string users, items;
    bool const stopped = test::sections_met([&] {
      one.synchronize();
      other.synchronize();
      users = error_text(b.users());
      items = error_text(b.items());
    });
    met += stopped || !users.empty() || !items.empty() ? 1 : 0;
    if (stopped) return;
    later.run(one);
    b.wait(one);
    b.expect_ran(150);
    EXPECT_EQ(b.visits(b.user_records()) + b.visits(b.item_records()), 32u)
        << "lost or doubled section";
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(met, 0u) << "no seed had a run that met a launch";
  }
}
TEST(two_arrays_seeds, a_run_and_a_fused_launch_of_the_first_that_meet_are_reported) {
  expect_reported_where_they_meet(&bench<two_arrays::fused>::users);
}
TEST(two_arrays_seeds, a_run_and_a_fused_launch_of_the_second_that_meet_are_reported) {
  expect_reported_where_they_meet(&bench<two_arrays::fused>::items);
}

/// A kernel in another stream sends during the run of the log, or before, or after it.
TEST(two_arrays_seeds, what_is_sent_while_the_log_is_run_is_refused_or_runs_later) {
  test::under_many_schedules(1, [](std::uint64_t) {
    bench<small_blocks<>> b{20, 30};
    auto later = b.make(1000, 4);
    warden::stream one, other;
    b.send_together(later, 0, 200, 2, one);
    later.run(one);
    b.send_alone(later, 200, 300, other);
    later.run(one);
    one.synchronize();
    other.synchronize();
    later.run(one);
    static_cast<void>(error_text(b.users(), one));  // some were refused, and counted
    b.items().wait(one);
    EXPECT_EQ(b.rated() + b.refused(), 300u) << "lost or doubled section";
  });
}

}  // namespace
