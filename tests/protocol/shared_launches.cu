// SPDX-License-Identifier: Apache-2.0
// A failed launch is the failure of every guarded array that took part in it, until its own `wait`
// has reported it, and of no other: also with several streams, host threads and orders.

#include "tests/protocol/shared_launches.cuh"

#include <latch>
#include <thread>

namespace {

using test::shared_records;
using test::task;
using test::tasks;
using warden::wait_kind;

TEST(shared_launches, are_no_business_of_who_took_no_part) {
  tasks t;
  shared_records a, b;
  warden::stream s;
  t.launch(task::send, s, a, b);
  t.launch(task::forget, s, a);
  b.guarded.wait(s);
  EXPECT_EQ(b.count(), 64u);
  // Not even if other work follows in between.
  t.launch(task::send, s, b);
  EXPECT_NO_THROW(b.guarded.wait(s));
  EXPECT_EQ(b.count(), 128u);
  EXPECT_TRUE(a.failure(s));
  EXPECT_FALSE(a.failure(s)) << "reported once";
}

TEST(shared_launches, fail_for_each_guarded_until_it_has_reported_it) {
  for (bool const first_waits_first : {true, false}) {
    tasks t;
    shared_records a, b{2};
    t.launch(task::forget, {}, a, b);
    shared_records& one = first_waits_first ? a : b;
    shared_records& other = first_waits_first ? b : a;
    auto const first = one.failure();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->wait.kind, wait_kind::message);
    EXPECT_EQ(first->wait.guarded, 1u);
    EXPECT_EQ(first->channels.size(), 3u);
    EXPECT_FALSE(one.failure()) << "reported once";
    t.ran({});
    // Nothing runs with the other one, and the healthy array reports why.
    t.launch(task::send, {}, one, other);
    EXPECT_EQ(t.ran({}), 0u);
    auto const passed_on = one.failure();
    ASSERT_TRUE(passed_on);
    EXPECT_EQ(passed_on->wait.kind, wait_kind::earlier);
    EXPECT_EQ(passed_on->wait.guarded, 1u) << "the position of the other one in that launch";
    EXPECT_NE(to_string(*passed_on).find("an earlier one, with its guarded array 1, had failed"),
              std::string::npos);
    auto const second = other.failure();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->wait.kind, wait_kind::message) << "its first cause";
    EXPECT_EQ(second->channels.size(), first_waits_first ? 2u : 1u)
        << "the channels of a guarded array that has reported it are new";
    EXPECT_FALSE(one.failure());
    EXPECT_FALSE(other.failure());
    // Both are usable again.
    t.launch(task::send, {}, one, other);
    EXPECT_FALSE(one.failure());
    EXPECT_FALSE(other.failure());
    EXPECT_EQ(one.count(), 64u);
    EXPECT_EQ(other.count(), 64u);
  }
}

TEST(shared_launches, pass_a_failure_on_to_all_their_guarded_arrays) {
  for (unsigned failed = 0; failed < 3; ++failed) {
    tasks t;
    shared_records g[3];
    t.launch(task::forget, {}, g[failed]);
    t.launch(task::send, {}, g[0], g[1], g[2]);
    t.launch(task::send, {}, g[2], g[1]);
    EXPECT_EQ(t.ran({}), 1u);
    for (unsigned i = 0; i < 3; ++i) {
      auto const d = g[i].failure();
      ASSERT_TRUE(d);
      EXPECT_EQ(d->wait.kind, i == failed ? wait_kind::message : wait_kind::earlier);
      EXPECT_EQ(d->wait.guarded, i == failed ? 0 : failed) << "its place in the second launch";
      EXPECT_EQ(g[i].count(), 0u);
      EXPECT_FALSE(g[i].failure());
    }
  }
}

/// A partner's `wait` does not clear channels that it does not own.
TEST(shared_launches, do_not_run_on_channels_that_a_failed_one_left) {
  tasks t;
  shared_records a, b;
  warden::stream s, other;
  t.launch(task::forget, s, b, a);
  warden::event failed;
  failed.record(s);
  warden::stream_ref{other}.wait_for(failed);
  EXPECT_TRUE(b.failure(s));
  t.launch(task::send, other, a);
  EXPECT_EQ(t.ran(other), 1u) << "the one that failed";
  auto const d = a.failure(other);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->wait.kind, wait_kind::message);
  EXPECT_EQ(a.count(), 0u);
}

/// Asks for more shared memory than it said it needs, and tells where the launch counts.
struct ask_and_tell {
  using shared_storage = int;
  struct larger {
    int words[10];
  };
  std::uint32_t** counter;

  template <class A, class B>
  __device__ void operator()(warden::virtual_block const& at, A const& a, B const&) const {
    if (at.thread_rank() == 0) *counter = &a.launch.control->counters.next_virtual_block;
    static_cast<void>(at.shared<larger>());
  }
};

TEST(shared_launches, are_not_disturbed_by_a_partners_report) {
  shared_records a, b;
  warden::buffer<std::uint32_t*> counter{1};
  warden::launch_fused(ask_and_tell{counter.data()}, 1, 64, {}, a.guarded, b.guarded);
  std::uint32_t* const begun = counter.to_host()[0];
  // The state while a launch with `a` runs.
  std::uint32_t value = 7;
  warden::copy(begun, &value, 1);
  warden::stream_ref{}.synchronize();
  try {
    b.guarded.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("40 bytes asked for, but the kernel's shared_storage has"),
              std::string::npos)
        << e.what();
  }
  EXPECT_NO_THROW(b.guarded.wait());
  warden::copy(&value, begun, 1);
  warden::stream_ref{}.synchronize();
  EXPECT_EQ(value, 7u);
  EXPECT_THROW(a.guarded.wait(), warden::limit_error) << "its launch, too";
  EXPECT_NO_THROW(a.guarded.wait());
}

TEST(shared_launches, are_waited_for_in_whatever_stream) {
  tasks t;
  shared_records a, b;
  warden::stream one, two;
  t.launch(task::send, one, a, b);
  a.guarded.wait();
  EXPECT_EQ(a.count(), 64u);
  b.guarded.wait(two);
  EXPECT_EQ(b.count(), 64u);
  t.launch(task::forget, two, b);
  EXPECT_TRUE(b.failure());
  EXPECT_FALSE(a.failure());
}

TEST(shared_launches, move_with_their_guarded_arrays) {
  tasks t;
  shared_records a, b;
  warden::stream s;
  t.launch(task::forget, s, a, b);
  test::shared moved = std::move(a.guarded);
  EXPECT_THROW(moved.wait(), warden::timeout_error) << "the failure and its stream move along";
  a.guarded = std::move(moved);
  t.launch(task::send, s, a);
  EXPECT_FALSE(a.failure());
  EXPECT_EQ(a.count(), 64u);
  {
    shared_records gone;
    EXPECT_TRUE(b.failure());
    t.launch(task::forget, s, gone, b);
    s.synchronize();
  }
  auto const d = b.failure();
  ASSERT_TRUE(d);
  EXPECT_EQ(d->channels.size(), 2u) << "the dump outlives the other guarded";
}

/// The guarded arrays once shared a launch; now each has a host thread of its own, and one fails.
TEST(shared_launches, leave_host_threads_alone_that_share_no_launch) {
  tasks t, u;
  shared_records a, b;
  warden::stream of_a, of_b;
  t.launch(task::send, of_a, a, b);
  a.guarded.wait(of_a);
  b.guarded.wait(of_a);
  int const rounds = test::sized(40, 20);
  int failures = 0, errors = 0;
  std::thread failing{[&] {
    for (int i = 0; i < rounds; ++i) {
      t.launch(i % 2 == 0 ? task::stop : task::send, of_a, a);
      failures += a.failure(of_a).has_value() ? 1 : 0;
    }
  }};
  std::thread healthy{[&] {
    for (int i = 0; i < rounds; ++i) {
      u.launch(task::send, of_b, b);
      errors += b.failure(of_b).has_value() ? 1 : 0;
    }
  }};
  failing.join();
  healthy.join();
  EXPECT_EQ(failures, rounds / 2);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(a.count(), 64u * (1 + rounds / 2));
  EXPECT_EQ(b.count(), 64u * (1 + rounds));
}

TEST(shared_launches, host_threads_that_come_first_at_once_find_one_state) {
  for (int again = 0; again < 20; ++again) {
    warden::buffer<test::tally> records{10};
    warden::guarded<test::tally, test::record_in<2>> g{records};
    std::latch both{2};
    void const *one = nullptr, *other = nullptr;
    auto const prepare = [&](void const*& found) {
      both.arrive_and_wait();
      found = &warden::detail::guarded_access::fused(g);
    };
    std::thread thread{[&] { prepare(one); }};
    prepare(other);
    thread.join();
    ASSERT_EQ(one, other);
  }
}

}  // namespace
