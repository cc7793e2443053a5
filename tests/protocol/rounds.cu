// SPDX-License-Identifier: Apache-2.0
// Deferred sections on two records: the pair schedule, and that each section runs once, isolated,
// however its records lie.

#include "tests/protocol/rounds.cuh"
#include "tests/support/error_text.hpp"

#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using rounds::bench;
using rounds::kind;
using rounds::small_blocks;
using testing::HasSubstr;
using warden::placement;
using warden::detail::all_pairs_schedule;

// ---- pair schedule

TEST(all_pairs_schedule, every_pair_meets_once_and_no_tile_is_used_twice_in_a_round) {
  for (std::uint32_t tiles = 1; tiles <= 67; ++tiles) {
    SCOPED_TRACE(tiles);
    all_pairs_schedule const all{tiles};
    std::set<std::pair<std::uint32_t, std::uint32_t>> met;
    std::uint32_t number = 0;
    for (; number < tiles; ++number) {
      ASSERT_EQ(all.pair(number).a, number);
      ASSERT_EQ(all.pair(number).b, number);
    }
    for (std::uint32_t r = 0; r < all.rounds(); ++r) {
      std::set<std::uint32_t> paired;
      for (std::uint32_t i = 0; i < all.pairs_at_once(); ++i, ++number) {
        auto const pair = all.pair(number);
        ASSERT_LT(pair.a, tiles);
        ASSERT_LT(pair.b, tiles);
        ASSERT_NE(pair.a, pair.b);
        ASSERT_TRUE(paired.insert(pair.a).second) << "round " << r;
        ASSERT_TRUE(paired.insert(pair.b).second) << "round " << r;
        ASSERT_TRUE(met.insert(std::minmax(pair.a, pair.b)).second) << "round " << r;
        // Each tile knows its partner in each round.
        ASSERT_EQ(all.round_of(pair.a, pair.b), r);
        ASSERT_EQ(all.round_of(pair.b, pair.a), r);
        for (bool const is_a : {true, false}) {
          auto const tile_pair = all.tile_pair(is_a ? pair.a : pair.b, r);
          ASSERT_TRUE(tile_pair.exists);
          ASSERT_EQ(tile_pair.number, number);
          ASSERT_EQ(tile_pair.is_a, is_a);
        }
      }
      for (std::uint32_t p = 0; p < tiles; ++p)
        ASSERT_EQ(all.tile_pair(p, r).exists, paired.count(p) == 1)
            << "round " << r << " tile " << p;
    }
    EXPECT_EQ(met.size(), std::size_t{tiles} * (tiles - 1) / 2);
    EXPECT_EQ(number, all.tile_pairs());
  }
}
static_assert(all_pairs_schedule{1}.tile_pairs() == 1 && all_pairs_schedule{2}.tile_pairs() == 3);
static_assert(all_pairs_schedule{3}.tile_pairs() == 6 && all_pairs_schedule{4}.tile_pairs() == 10);

// ---- what runs

template <class Policy>
class rounds_by : public testing::Test {};
using policies = testing::Types<small_blocks<>, small_blocks<placement::on_chip, 64>>;
TYPED_TEST_SUITE(rounds_by, policies);

TYPED_TEST(rounds_by, every_section_runs_once) {
  std::uint32_t const most = test::sized(3000u, 400'000u);
  for (std::uint32_t const records : {1u, 2u, 3u, 37u, test::on_chip(3000u, 300u)}) {
    for (std::uint32_t const n : {1u, 31u, 500u, most}) {
      for (unsigned const tiles : {1u, 2u, 8u}) {
        SCOPED_TRACE(testing::Message() << records << " records, " << n << " moves, " << tiles);
        bench<TypeParam> b{records};
        auto later = b.make(2 * n, tiles);
        b.send_alone(later, 0, n / 2);
        b.send_together(later, n / 2, n, 3);
        later.run();
        b.on().wait();
        b.expect_ran(n);
        EXPECT_EQ(b.refused(), 0u);
      }
    }
  }
}

using by_default = small_blocks<>;

TEST(rounds, partitions_by_default) {
  std::uint32_t const n = test::sized(1000u, 1'000'000u);
  for (std::uint32_t const records : {5u, 1000u, test::sized(3000u, 1'000'000u)}) {
    bench<by_default> b{records};
    auto later = b.make(2 * n);
    b.send_together(later, 0, n, 4);
    later.run();
    b.on().wait();
    b.expect_ran(n);
  }
}

TEST(rounds, explain_tells_what_was_sent) {
  for (std::uint32_t const n : {30u, 2000u}) {
    bench<by_default> b{300, kind::moves};
    auto later = b.make(n, 4);
    b.send_alone(later, 0, n);
    later.run();
    b.on().wait();
    warden::run_report const r = later.explain();
    EXPECT_EQ(r.sections, n);
    EXPECT_EQ(r.sections_run, n);
    EXPECT_EQ(r.partitions, 0u);
    EXPECT_EQ(r.microseconds.run > 0, !test::simulated());
  }
}

TEST(rounds, a_few_hot_records) {
  std::uint32_t const n = test::sized(2000u, 400'000u);
  for (std::uint32_t const hot : {1u, 2u, 5u}) {
    bench<by_default> b{300, kind::moves_and_deposits, hot};
    auto later = b.make(2 * n, 4);
    b.send_together(later, 0, n, 3);
    later.run();
    b.on().wait();
    b.expect_ran(n);
  }
}

TEST(rounds, no_section_sees_another_one_half_done) {
  std::uint32_t const n = test::sized(2000u, 400'000u);
  for (std::uint32_t const records : {2u, 10u, 64u}) {
    bench<by_default> b{records, kind::looks};
    auto later = b.make(n, 2);
    b.send_alone(later, 0, n);
    later.run();
    b.on().wait();
    // Moves add values that looks do not count: undo the moves.
    auto seen = b.records();
    for (std::uint32_t i = 0; i < n; i += 2) {
      auto const o = rounds::drawn(i, records, ~0u);
      std::uint32_t const a = o.from & ~1u, turned = i / 2 % 2;
      seen[a + turned].mixed -= test::mix(o.amount);
      seen[a + 1 - turned].mixed += 3 * test::mix(o.amount + 1);
    }
    std::uint64_t looks = 0;
    for (auto const& a : seen) {
      EXPECT_EQ(a.mixed, 0u) << "a look saw half a move";
      looks += a.in - a.out;
    }
    EXPECT_EQ(looks % (std::uint64_t{1} << 32), n / 2);
  }
}

template <class Guarded>
std::string error_text(Guarded& on, warden::stream_ref s = {}) {
  try {
    on.wait(s);
  } catch (warden::error const& e) {
    return e.what();
  }
  return "";
}

TEST(rounds, an_empty_log_and_a_full_one) {
  for (std::uint32_t const capacity : {1u, 40u, test::sized(700u, 300'000u)}) {
    bench<by_default> b{50, kind::moves};
    auto later = b.make(capacity, 4);
    later.run();
    b.on().wait();
    EXPECT_EQ(b.moved(), 0u);
    std::uint32_t const n = capacity + 100;
    b.send_together(later, 0, n / 2, 2);
    b.send_alone(later, n / 2, n);
    later.run();
    EXPECT_THAT(error_text(b.on()),
                HasSubstr("100 deferred sections were refused: their log holds " +
                          std::to_string(capacity)));
    EXPECT_EQ(b.refused(), 100u);
    EXPECT_EQ(b.moved(), capacity);
    // Sends and runs them again.
    b.send_together(later, 0, capacity, 2);
    later.run();
    later.run();
    EXPECT_EQ(error_text(b.on()), "");
    EXPECT_EQ(b.moved(), 2u * capacity);
  }
}

TEST(rounds, ids_outside_the_records_are_counted_and_the_others_run) {
  bench<by_default> b{50, kind::moves};
  auto later = b.make(100, 4);
  auto ref = later.ref();
  ref.size = 25;
  warden::buffer<std::uint64_t> refused{1};
  refused.fill_bytes(0);
  rounds::simt::launch(&rounds::send_alone<decltype(b)::guarded>, 2, 32, 0,
                       {ref, 0, 64, 50, ~0u, kind::moves, refused.data()}, {});
  later.run();
  std::uint32_t bad = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    auto const o = rounds::drawn(i, 50, ~0u);
    bad += o.from >= 25 || o.to >= 25 ? 1 : 0;
  }
  EXPECT_THAT(error_text(b.on()), HasSubstr("(" + std::to_string(bad) + " such ids"));
  EXPECT_EQ(b.moved(), 64 - bad);
}

TEST(rounds, kernel_and_run_are_captured_and_replayed) {
  bench<by_default> b{50};
  auto later = b.make(800, 4);
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    b.send_alone(later, 0, 200, s);
    b.send_together(later, 200, 500, 2, s);
    later.run(s);
  });
  EXPECT_EQ(b.moved(), 0u) << "captured, not run";
  std::uint32_t const replays = test::sized(5u, 100u);
  for (std::uint32_t i = 0; i < replays; ++i) captured.launch(s);
  b.on().wait(s);
  b.expect_ran(500, replays);
}

TEST(rounds, logs_are_moved_between_sends_and_runs) {
  bench<by_default> b{50};
  auto first = b.make(1000, 4);
  b.send_together(first, 0, 300, 2);
  auto moved = std::move(first);
  auto guarded = std::move(b.on());
  moved.run();
  guarded.wait();
  b.expect_ran(300);
}

TEST(rounds, arrays_are_applied) { rounds::apply_arrays<by_default>(test::sized(1000u, 100'000u)); }

/// Longer than any wait.
struct stall {
  std::uint32_t milliseconds;
  __device__ void operator()(rounds::account&, rounds::account&) const {
    std::uint64_t const until =
        rounds::simt::nanoseconds() + std::uint64_t{milliseconds} * 1'000'000;
    rounds::simt::wait_until([] { return false; },
                             [&] { return rounds::simt::nanoseconds() < until; }, [](auto) {});
  }
};
using stalling = warden::basic_guarded<by_default, rounds::account, rounds::move, stall>;
struct stall_arguments {
  stalling::deferred_ref ref;
  std::uint32_t stalls;  ///< milliseconds, or 0: none does
};
/// 32 threads send this many each: together more than one block runs by itself.
constexpr std::uint32_t moves_each = 12, all_moves = 32 * moves_each;
WARDEN_KERNEL void send_stall(stall_arguments a) {
  std::uint32_t const i = rounds::simt::thread_rank();
  if (i == 0 && a.stalls != 0) a.ref.send(0, 3, stall{a.stalls});  // in the first round
  for (std::uint32_t k = 0; k < moves_each; ++k)
    a.ref.send(i % 4, (i % 4 + 1 + i / 4 % 3) % 4, rounds::move{1});
}
TEST(rounds, a_part_that_does_not_come_back_is_reported_and_then_all_is_well) {
  warden::buffer<rounds::account> records{4};
  records.fill_bytes(0);
  stalling all{records, {.time_limit_seconds = 0.01, .minimum_polls = 1}};
  warden::deferred later{all, 1000, {.partitions = 4}};
  auto const send = [&](std::uint32_t stalls) {
    rounds::simt::launch(&send_stall, 1, 32, 0, {later.ref(), stalls}, {});
  };
  // Time passes by tenths of a second on the simulated device.
  send(test::sized(3000u, 300u));
  later.run();
  // Nothing runs before a wait has reported it.
  send(0);
  later.run();
  EXPECT_THAT(error_text(all), HasSubstr("of a run in rounds waited until tile "));
  std::uint32_t before = 0, after = 0;
  for (auto const& a : records.to_host()) before += a.out;
  EXPECT_LT(before, all_moves);
  later.run();
  EXPECT_EQ(error_text(all), "");
  for (auto const& a : records.to_host()) after += a.out;
  EXPECT_EQ(after - before, all_moves) << "what was put off has not run once";
}

TEST(rounds, records_too_many_for_the_chip_stay_in_memory_unless_they_must_not) {
  constexpr std::uint32_t many = 1u << 22;
  rounds::table<by_default> all{test::no_records<rounds::account>(), many};
  warden::deferred later{all, 10};
  later.run();
  all.wait();
  EXPECT_THAT(test::refusal([&] {
                warden::deferred{all, 10, {.split = 2}};
              }),
              testing::HasSubstr("deferred: split 2; with sections on two records a log is not "
                                 "split: leave it 0"));
  rounds::table<small_blocks<placement::on_chip, 64>> too_many{test::no_records<rounds::account>(),
                                                               many};
  try {
    warden::deferred{too_many, 10};
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    // 512 tiles or, if their tile pairs cannot be listed, 256.
    EXPECT_THAT(e.what(), HasSubstr("4194304 records of 24 bytes in "));
    EXPECT_THAT(e.what(), HasSubstr(" tiles do not fit the chip: two need "));
  }
}

/// A record of any size may be in rounds.
struct large {
  unsigned char bytes[1 << 12];
};
struct swap_bytes {
  __device__ void operator()(large& a, large& b) const {
    unsigned char const first = a.bytes[0];
    a.bytes[0] = b.bytes[0];
    b.bytes[0] = first;
  }
};
struct swap_arguments {
  warden::basic_guarded<by_default, large, swap_bytes>::deferred_ref ref;
  std::uint32_t count;
};
WARDEN_KERNEL void send_swaps(swap_arguments a) {
  std::uint32_t const i =
      rounds::simt::block_rank() * rounds::simt::block_threads() + rounds::simt::thread_rank();
  a.ref.send(i % a.count, i * 7 % a.count, swap_bytes{});
}
/// On chip, and in memory under locks on chip.
TEST(rounds, large_records_run) {
  for (std::uint32_t const count : {8u, 200u}) {
    warden::buffer<large> records{count};
    std::vector<large> host(count);
    for (std::uint32_t k = 0; k < count; ++k) host[k].bytes[0] = static_cast<unsigned char>(k);
    warden::copy(records.data(), host.data(), count);
    warden::basic_guarded<by_default, large, swap_bytes> all{records};
    warden::deferred later{all, 1000, {.partitions = 2}};
    rounds::simt::launch(&send_swaps, 12, 32, 0, {later.ref(), count}, {});
    later.run();
    all.wait();
    std::set<unsigned> seen;
    for (large const& l : records.to_host()) seen.insert(l.bytes[0]);
    EXPECT_EQ(seen.size(), count) << "a byte is there twice";
  }
}

}  // namespace
