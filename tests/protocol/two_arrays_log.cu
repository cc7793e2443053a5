// SPDX-License-Identifier: Apache-2.0
// Logs of sections between the records of two arrays: capacity and refusals, capture, concurrent
// uses of the records, and errors.

#include "tests/protocol/two_arrays.cuh"
#include "tests/support/error_text.hpp"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>

namespace {

namespace simt = warden::simt;
using test::error_text;
using testing::HasSubstr;
using testing::Not;
using two_arrays::bench;
using two_arrays::item;
using two_arrays::kind;
using two_arrays::large;
using two_arrays::rate;
using two_arrays::send_visits;
using two_arrays::small_blocks;
using two_arrays::user;
using two_arrays::visit;
using two_arrays::wipe;
using warden::placement;

using by_default = small_blocks<>;

// ---- what a log holds

TEST(two_arrays, an_empty_log_and_a_full_one) {
  for (std::uint32_t const capacity : {1u, 40u, test::sized(700u, 300'000u)}) {
    bench<by_default> b{50, 20};
    auto later = b.make(capacity, 4);
    EXPECT_EQ(later.capacity(), capacity);
    later.run();
    b.wait();
    EXPECT_EQ(b.rated(), 0u);
    std::uint32_t const n = capacity + 100;
    b.send_together(later, 0, n / 2, 2);
    b.send_alone(later, n / 2, n);
    later.run();
    EXPECT_THAT(error_text(b.users()),
                HasSubstr("100 deferred sections were refused: their log holds " +
                          std::to_string(capacity)));
    EXPECT_EQ(error_text(b.items()), "");
    EXPECT_EQ(b.refused(), 100u);
    EXPECT_EQ(b.rated(), capacity);
    // Sends and runs them again.
    b.send_together(later, 0, capacity, 2);
    later.run();
    later.run();
    EXPECT_EQ(error_text(b.users()), "");
    EXPECT_EQ(b.rated(), 2u * capacity);
  }
}

TEST(two_arrays, ids_outside_either_array_are_counted_and_the_others_run) {
  for (bool const alone : {true, false}) {
    // Records of each array; operations are on twice as many ids.
    bench<by_default> b{25, 10};
    auto later = b.make(100, 4);
    auto given = b.given(later.ref(), 0, 64);
    given.users = 50;
    given.items = 20;
    std::uint32_t bad_users = 0, bad_items = 0, good = 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      auto const o = two_arrays::operation::of(i, given.users, given.items);
      bad_users += o.user >= 25 ? 1 : 0;
      bad_items += o.item >= 10 ? 1 : 0;
      good += o.user < 25 && o.item < 10 ? 1 : 0;
    }
    using ref = decltype(b)::ref_type;
    using storage = decltype(later)::block<32>::storage;
    if (alone) {
      simt::launch(&two_arrays::send_alone<ref>, 2, 32, 0, given, {});
    } else {
      simt::launch(&two_arrays::send_together<ref, 32>, 2, 32, sizeof(storage), given, {});
    }
    later.run();
    auto const of_users = error_text(b.users()), of_items = error_text(b.items());
    EXPECT_THAT(of_users, HasSubstr("is not below 25 (" + std::to_string(bad_users) + " such ids"));
    EXPECT_THAT(of_items, HasSubstr("is not below 10 (" + std::to_string(bad_items) + " such ids"));
    EXPECT_THAT(of_users, Not(HasSubstr("lost"))) << "logged all the same";
    EXPECT_EQ(b.rated(), good);
    b.wait();
  }
}

TEST(two_arrays, kernel_and_run_are_captured_and_replayed) {
  bench<by_default> b{50, 30};
  auto later = b.make(800, 4, 2);
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    b.send_alone(later, 0, 200, s);
    b.send_together(later, 200, 500, 2, s);
    later.run(s);
  });
  EXPECT_EQ(b.rated(), 0u) << "captured, not run";
  std::uint32_t const replays = test::sized(5u, 100u);
  for (std::uint32_t i = 0; i < replays; ++i) captured.launch(s);
  b.wait(s);
  b.expect_ran(500, replays);
}

TEST(two_arrays, logs_and_guarded_arrays_are_moved_between_sends_and_runs) {
  bench<by_default> b{50, 30};
  auto first = b.make(1000, 4);
  b.send_together(first, 0, 300, 2);
  auto moved = std::move(first);
  auto users = std::move(b.users());
  auto items = std::move(b.items());
  moved.run();
  users.wait();
  items.wait();
  b.expect_ran(300);
  // The sections of a log move with it, and outlive the source.
  {
    decltype(moved) other{users, items, 500, {.partitions = 2}};
    b.send_alone(other, 0, 100);
    moved = std::move(other);
  }
  moved.run();
  users.wait();
  EXPECT_EQ(b.rated(), 400u);
}

/// The run may be in any stream, and either guarded array may be asked.
TEST(two_arrays, either_guarded_waits_for_the_run) {
  std::uint32_t const n = test::sized(300u, 100'000u);
  bench<by_default> b{50, 30};
  auto later = b.make(n, 4);
  warden::stream s;
  for (std::uint32_t runs = 1; runs <= 6; ++runs) {
    b.send_together(later, 0, n, 2, s);
    later.run(s);
    std::uint64_t rated = 0;
    if (runs % 2 == 0) {
      b.users().wait();
      for (user const& u : b.user_records()) rated += u.ratings;
    } else {
      b.items().wait();
      for (item const& i : b.item_records()) rated += i.ratings;
    }
    EXPECT_EQ(rated, std::uint64_t{runs} * n);
  }
  b.wait();
}

TEST(two_arrays, what_is_never_run_is_reported_by_the_first) {
  bench<by_default> b{50, 30};
  {
    auto later = b.make(200, 4);
    b.send_together(later, 0, 73, 1);
  }
  EXPECT_THAT(error_text(b.users()), HasSubstr("73 deferred sections were never run"));
  EXPECT_EQ(error_text(b.items()), "");
  EXPECT_EQ(error_text(b.users()), "");
}

// ---- in addition to the guarded arrays' own sections

TEST(two_arrays, logs_of_either_guarded_run_between) {
  bench<by_default> b{50, 30};
  auto later = b.make(500, 4);
  warden::deferred of_users{b.users(), 200};
  warden::deferred of_items{b.items(), 200};
  using users_type = decltype(b)::users_type;
  using items_type = decltype(b)::items_type;
  for (int run = 0; run < 3; ++run) {
    b.send_together(later, 0, 400, 2);
    simt::launch(&send_visits<users_type>, 4, 32, 0, {of_users.ref(), 100, 50}, {});
    simt::launch(&send_visits<items_type>, 4, 32, 0, {of_items.ref(), 120, 30}, {});
    of_users.run();
    later.run();
    of_items.run();
  }
  b.wait();
  b.expect_ran(400, 3);
  EXPECT_EQ(b.visits(b.user_records()), 300u);
  EXPECT_EQ(b.visits(b.item_records()), 360u);
}

// ---- what goes wrong

/// Longer than any wait.
struct stall {
  std::uint32_t milliseconds;
  __device__ void operator()(user&, item&) const {
    std::uint64_t const until = simt::nanoseconds() + std::uint64_t{milliseconds} * 1'000'000;
    simt::wait_until([] { return false; }, [&] { return simt::nanoseconds() < until; },
                     [](auto) {});
  }
};
using users_type = bench<by_default>::users_type;
using items_type = bench<by_default>::items_type;
using stalling = warden::deferred_between<users_type, items_type, rate, stall>;
struct stall_arguments {
  stalling::ref_type ref;
  std::uint32_t stalls;  ///< milliseconds, or 0: none does
};
/// 32 threads send this many each: together more than one block runs by itself.
constexpr std::uint32_t ratings_each = 12, all_ratings = 32 * ratings_each;
WARDEN_KERNEL void send_stall(stall_arguments a) {
  std::uint32_t const i = simt::thread_rank();
  if (i == 0 && a.stalls != 0) a.ref.send(0, 0, stall{a.stalls});  // in the first round
  for (std::uint32_t k = 0; k < ratings_each; ++k) a.ref.send(i % 4, i / 4 % 4, rate{1});
}
/// Both guarded arrays tell, and until both have told nothing runs.
TEST(two_arrays, a_part_that_does_not_come_back_is_reported_and_then_all_is_well) {
  bench<by_default> b{4,   4,   kind::ratings,
                      ~0u, ~0u, {.time_limit_seconds = 0.01, .minimum_polls = 1}};
  stalling later{b.users(), b.items(), 1000, {.partitions = 4}};
  auto const send = [&](std::uint32_t stalls) {
    simt::launch(&send_stall, 1, 32, 0, {later.ref(), stalls}, {});
  };
  auto const failure = [](auto& on) -> std::string {
    try {
      on.wait();
    } catch (warden::timeout_error const& e) {
      return e.what();
    }
    return "";
  };
  // Time passes by tenths of a second on the simulated device.
  send(test::sized(3000u, 300u));
  later.run();
  EXPECT_THAT(failure(b.users()), HasSubstr("of a run in rounds waited until tile "));
  std::uint64_t before = 0, after = 0;
  for (user const& u : b.user_records()) before += u.ratings;
  EXPECT_LT(before, all_ratings);
  // No wait has reported the failure of the items.
  send(0);
  later.run();
  EXPECT_THAT(
      error_text(b.users()),
      HasSubstr("1 runs of logs between this guarded array and another one did not run, because an "
                "earlier launch or run of the other one had failed: it waited for a tile"));
  EXPECT_THAT(failure(b.items()), HasSubstr("of a run in rounds waited until tile "));
  later.run();
  b.wait();
  for (user const& u : b.user_records()) after += u.ratings;
  EXPECT_EQ(after - before, all_ratings) << "what was put off has not run once";
}

struct mark {
  __device__ void operator()(user& u, large& l) const {
    u.visits += 1;
    l.bytes[0] += 1;
  }
};
TEST(two_arrays, what_cannot_be_is_refused_in_one_line) {
  bench<by_default> b{20, 10};
  using twice = warden::deferred_between<users_type, users_type, two_arrays::look>;
  EXPECT_THAT(test::refusal([&] { twice(b.users(), b.users(), 10); }),
              HasSubstr("deferred_between: both arguments are the same guarded array"));
  EXPECT_THAT(test::refusal([&] { b.make(0); }), HasSubstr("a log of 0 sections"));
  EXPECT_THAT(
      test::refusal([&] { b.make(10, 2, 24); }),
      HasSubstr("deferred: 24 partitions of the second guarded array; a log has a power of two"));
  EXPECT_THAT(test::refusal([&] { b.make(10, 24); }), HasSubstr("deferred: 24 partitions; a log"));
  constexpr std::uint32_t many = 1u << 16;
  // Whichever of the policies wants them there.
  using in_memory = warden::basic_guarded<by_default, large, wipe>;
  using on_chip = warden::basic_guarded<small_blocks<placement::on_chip>, user, visit>;
  in_memory much{test::no_records<large>(), many};
  on_chip few{test::no_records<user>(), 10};
  using between = warden::deferred_between<on_chip, in_memory, mark>;
  EXPECT_THAT(test::refusal([&] { between(few, much, 10); }),
              HasSubstr("tiles and 65536 records of 4096 bytes in 512 tiles do not fit the chip: "
                        "two need "));
}

}  // namespace
