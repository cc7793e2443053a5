// SPDX-License-Identifier: Apache-2.0
// Deferred sections that send sections: a fused launch replays the log, and each runs exactly once,
// as do those that they send.

#include "tests/protocol/replay.cuh"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace {

using testing::HasSubstr;
using warden::deferred;

TEST(replay, every_section_runs_once_and_so_do_those_that_it_sends) {
  std::uint32_t const most = test::sized(700u, 300'000u);
  for (std::uint32_t const records : {1u, 50u}) {
    for (std::uint32_t const n : {1u, 90u, most}) {
      replay::bench b{records};
      deferred later{b.on(), 2 * n};
      b.send_alone(later, 0, n);
      b.send_together(later, n, 2 * n, 3);
      later.run();
      b.on().wait();
      b.expect_ran(0, 2 * n);
    }
  }
}

TEST(replay, a_run_of_nothing_a_second_run_and_a_full_log) {
  replay::bench b{20};
  deferred later{b.on(), 200};
  later.run();
  b.send_together(later, 0, 200, 2);
  later.run();
  later.run();
  b.on().wait();
  b.expect_ran(0, 200);
  b.send_alone(later, 1000, 1300);
  later.run();
  try {
    b.on().wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("100 deferred sections were refused: their log holds 200, and takes "));
  }
}

TEST(replay, explain_tells_what_was_sent) {
  replay::bench b{20};
  deferred later{b.on(), 200};
  for (std::uint32_t const n : {150u, 80u}) {
    b.send_alone(later, 0, n);
    later.run();
    b.on().wait();
    warden::run_report const r = later.explain();
    EXPECT_EQ(r.sections, n) << "without those that they sent";
    EXPECT_EQ(r.sections_run, n);
    EXPECT_EQ(r.flat, n);
    EXPECT_EQ(r.partitions, 0u);
    EXPECT_THAT(r.text(), testing::Not(HasSubstr("partitions")));
  }
}

TEST(replay, the_guarded_and_the_log_are_moved) {
  replay::bench b{20};
  auto later = std::make_unique<replay::log>(b.on(), 1000);
  b.send_alone(*later, 0, 300);
  auto moved_guarded = std::move(b.on());
  auto moved = std::move(*later);
  later.reset();
  moved.run();
  moved_guarded.wait();
  b.expect_ran(0, 300);
}

TEST(replay, a_log_that_outlives_its_guarded_is_run) {
  warden::buffer<test::tally> records{10};
  records.fill_bytes(0);
  auto on = std::make_unique<replay::guarded>(records, warden::guarded_options{.servers = 2});
  deferred later{*on, 100};
  warden::simt::launch(&replay::send_alone, 1, 64, 0, {later.ref(), 0, 50, 10}, {});
  on.reset();
  later.run();
  std::uint64_t count = 0;
  for (test::tally const& t : records.to_host()) count += t.count;
  // A chain of one link or three, and its last.
  std::uint64_t wanted = 0;
  for (std::uint32_t i = 0; i < 50; ++i) wanted += i % 2 == 0 ? i % 4 + 2 : 1;
  EXPECT_EQ(count, wanted);
}

TEST(replay, kernel_and_run_are_captured_and_replayed) {
  replay::bench b{20};
  deferred later{b.on(), 400};
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    b.send_alone(later, 0, 100, s);
    b.send_together(later, 100, 200, 2, s);
    later.run(s);
  });
  EXPECT_EQ(b.ran(), 0u) << "captured, not run";
  unsigned const replays = test::sized(5u, 100u);
  for (unsigned i = 0; i < replays; ++i) captured.launch(s);
  b.on().wait(s);
  b.expect_ran(0, 200, replays);
  // An ordinary run between replays.
  b.send_alone(later, 200, 300, s);
  later.run(s);
  captured.launch(s);
  b.on().wait(s);
  b.add(200, 300, 1);
  b.expect_ran(0, 200);
}

TEST(replay, ids_outside_the_records_are_reported_and_the_others_run) {
  replay::bench b{20};
  deferred later{b.on(), 100};
  auto ref = later.ref();
  ref.size = 5;
  warden::simt::launch(&replay::send_alone, 1, 64, 0, {ref, 0, 60, 20}, {});
  later.run();
  try {
    b.on().wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("is not below 20"));
  }
  EXPECT_GT(b.ran(), 0u);
}

/// Takes a place in a channel, and never fills it.
struct reserve_only {
  __device__ void operator()(warden::virtual_block const& at,
                             replay::guarded::ref const& ref) const {
    if (at.global_rank() == 0) ref.channel_of(0).reserve(1);
  }
};
TEST(replay, after_a_launch_that_failed_nothing_runs_and_nothing_is_lost) {
  replay::bench b{20, {.servers = 2, .time_limit_seconds = 0.2, .minimum_polls = 64}};
  deferred later{b.on(), 300};
  b.send_together(later, 0, 200, 2);
  warden::launch_fused(reserve_only{}, 1, {}, b.on());
  later.run();
  EXPECT_THROW(b.on().wait(), warden::timeout_error);
  EXPECT_EQ(b.ran(), 0u);
  b.send_alone(later, 200, 300);
  later.run();
  b.on().wait();
  b.expect_ran(0, 300);
}

TEST(replay, a_log_cannot_have_the_number_of_no_record) {
  constexpr std::uint64_t all = std::uint64_t{1} << 31;
  replay::guarded huge{test::no_records<test::tally>(), all, {.servers = 2}};
  try {
    deferred{huge, 10};
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("2147483648 records; the limit with these sections is 2147483647"));
  }
}

}  // namespace
