// SPDX-License-Identifier: Apache-2.0
// Launches captured into a graph and replayed, between ordinary ones, some of them failing.

#include "tests/protocol/shared_launches.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace {

using test::record_in;
using test::shared_records;
using test::task;
using test::tasks;
using warden::graph;
using warden::wait_kind;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

TEST(graph, a_captured_launch_can_be_replayed) {
  warden::stream s;
  std::uint64_t const n = test::sized<std::uint64_t>(500, 10'000);
  test::guarded_records<small> g{10, {.servers = 2}};
  auto const launch = [&] {
    warden::launch_fused(test::send_by_block<2>{n, 10}, 20, 64, s, g.guarded);
  };
  std::size_t const memory_bytes = g.guarded.memory_bytes();
  graph::capture(s, [&] {
    EXPECT_THAT(test::error_of<warden::limit_error>(launch),
                testing::HasSubstr("a guarded array has no channels yet: call prepare_fused"));
  });
  EXPECT_EQ(g.guarded.memory_bytes(), memory_bytes) << "channels were made";
  warden::prepare_fused(g.guarded);
  EXPECT_GT(g.guarded.memory_bytes(), memory_bytes);
  auto const captured = graph::capture(s, [&] {
    launch();
    try {
      g.guarded.wait(s);
      ADD_FAILURE() << "no error";
    } catch (warden::limit_error const& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("wait: the stream is being captured into a graph"));
    }
  });
  EXPECT_EQ(g.records.to_host(s)[0].count, 0u) << "captured, not run";
  std::uint64_t const replays = 20;
  for (std::uint64_t i = 0; i < replays; ++i) captured.launch(s);
  g.guarded.wait(s);
  auto const expect_runs = [&](std::uint64_t times) {
    auto wanted = test::expected<2>(n, 10);
    for (auto& t : wanted) t = {times * t.count, times * t.sum, times * t.mixed};
    test::expect_equal(g.records.to_host(s), wanted);
  };
  expect_runs(replays);
  // An ordinary launch between replays.
  warden::launch_fused(test::send_by_block<2>{n, 10}, 20, 64, s, g.guarded);
  captured.launch(s);
  g.guarded.wait(s);
  expect_runs(replays + 2);
}

/// In a job of several GPUs each rank is a thread, and captures while others allocate and wait.
TEST(graph, other_threads_may_allocate_during_a_capture) {
  warden::stream s;
  warden::buffer<std::uint32_t> words{1};
  auto const captured = graph::capture(s, [&] {
    words.fill_bytes(1, s);
    std::thread{[] {
      warden::buffer<std::uint32_t> other{1000};
      other.fill_bytes(0);
      warden::stream{}.synchronize();
    }}.join();
  });
  captured.launch(s);
  EXPECT_EQ(words.to_host(s)[0], 0x01010101u);
}

TEST(graph, a_failure_in_a_replay_is_reported) {
  for (task const fails : {task::forget, task::stop}) {
    tasks t;
    shared_records a;
    warden::stream s;
    auto const captured = graph::capture(s, [&] { t.launch_as_told(s, a); });
    // Every time, before and after a wait that found nothing; and the graph stays usable.
    for (bool const one_fails : {false, true, false, false, true, true, false}) {
      t.set(one_fails ? fails : task::send, s);
      captured.launch(s);
      EXPECT_EQ(a.failure(s).has_value(), one_fails);
    }
    EXPECT_EQ(a.count(s), 4u * 64);
  }
}

TEST(graph, a_replay_does_not_forget_the_failure_of_the_one_before) {
  tasks t;
  shared_records a;
  warden::stream s;
  // With and without a failure reported before the capture.
  t.launch(task::forget, s, a);
  EXPECT_TRUE(a.failure(s));
  auto const captured = graph::capture(s, [&] { t.launch_as_told(s, a); });
  for (int round = 0; round < 2; ++round) {
    t.ran(s);
    t.set(task::stop, s);
    captured.launch(s);
    t.set(task::send, s);
    captured.launch(s);
    captured.launch(s);
    EXPECT_EQ(t.ran(s), 1u) << "nothing runs after the failure";
    auto const d = a.failure(s);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->wait.kind, wait_kind::lock);
    EXPECT_EQ(a.count(s), 64u * round);
    captured.launch(s);
    EXPECT_FALSE(a.failure(s));
    EXPECT_EQ(a.count(s), 64u * (round + 1));
  }
}

TEST(graph, nothing_runs_after_a_replay_that_failed) {
  tasks t;
  shared_records a, b;
  warden::stream s;
  auto const captured = graph::capture(s, [&] { t.launch_as_told(s, b, a); });
  t.launch(task::send, s, a);
  t.set(task::forget, s);
  captured.launch(s);
  EXPECT_EQ(t.ran(s), 2u);
  t.launch(task::send, s, a);
  EXPECT_EQ(t.ran(s), 0u) << "no wait has reported it";
  for (shared_records* const one : {&a, &b}) {
    auto const d = one->failure(s);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->wait.kind, wait_kind::message);
    EXPECT_FALSE(one->failure(s));
  }
  EXPECT_EQ(a.count(s), 64u);
  EXPECT_EQ(b.count(s), 0u);
}

TEST(graph, no_replay_runs_after_a_failure) {
  tasks t;
  shared_records a, b;
  warden::stream s;
  auto const captured = graph::capture(s, [&] { t.launch_as_told(s, b, a); });
  t.set(task::send, s);
  captured.launch(s);
  t.launch(task::forget, s, a);
  EXPECT_EQ(t.ran(s), 2u);
  t.set(task::send, s);
  captured.launch(s);
  EXPECT_EQ(t.ran(s), 0u);
  auto const of_a = a.failure(s);
  ASSERT_TRUE(of_a);
  EXPECT_EQ(of_a->wait.kind, wait_kind::message);
  auto const of_b = b.failure(s);
  ASSERT_TRUE(of_b);
  EXPECT_EQ(of_b->wait.kind, wait_kind::earlier);
  EXPECT_EQ(of_b->wait.guarded, 1u);
  captured.launch(s);
  EXPECT_FALSE(a.failure(s));
  EXPECT_FALSE(b.failure(s));
  EXPECT_EQ(a.count(s), 128u);
  EXPECT_EQ(b.count(s), 128u);
}

/// A failure that a partner has reported already is still there for the others.
TEST(graph, replays_pass_on_what_is_not_reported) {
  tasks t;
  shared_records a, b;
  warden::stream s;
  auto const captured = graph::capture(s, [&] { t.launch_as_told(s, a, b); });
  t.set(task::stop, s);
  captured.launch(s);
  EXPECT_TRUE(a.failure(s));
  t.ran(s);
  t.set(task::send, s);
  captured.launch(s);
  EXPECT_EQ(t.ran(s), 0u);
  auto const d = a.failure(s);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->wait.kind, wait_kind::earlier);
  EXPECT_TRUE(b.failure(s));
  captured.launch(s);
  EXPECT_FALSE(a.failure(s));
  EXPECT_FALSE(b.failure(s));
  EXPECT_EQ(b.count(s), 64u);
}

}  // namespace
