// SPDX-License-Identifier: Apache-2.0
// Task queues: every task runs once, whatever the policy, the size of the ring and the kernel.

#include "tests/queue/trees.cuh"
#include "tests/support/error_text.hpp"

#include <warden/cuda_names.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::StartsWith;
using task = test::vertex_task<1>;
using central_queue = warden::task_queue<task>;

constexpr unsigned threads = 64;
std::uint32_t vertices() { return test::sized(600u, 2'000'000u); }

template <class Policy>
class task_queue_of : public testing::Test {};
using policies = testing::Types<warden::queue_policy::central, warden::queue_policy::per_block,
                                warden::queue_policy::donating, warden::queue_policy::stealing>;
TYPED_TEST_SUITE(task_queue_of, policies);

template <class Queue>
void fill_and_run(Queue& queue, test::random_tree const& tree, warden::stream_ref s) {
  using task_type = typename Queue::task_type;
  auto const roots = tree.roots<task_type>();
  queue.fill_async(roots.data(), roots.size(), s);
  warden::run_tasks<threads>(queue, test::visit_and_push<task_type>{tree.view()}, s);
  queue.wait(s);
}

TYPED_TEST(task_queue_of, runs_every_task_once) {
  warden::stream const s;
  test::random_tree const tree{vertices(), 1};
  warden::task_queue<task, TypeParam> queue{tree.size()};
  fill_and_run(queue, tree, s);
  tree.expect_all(1, s);
}
TYPED_TEST(task_queue_of, runs_children_that_a_full_ring_refuses) {
  warden::stream const s;
  for (std::uint64_t const capacity : {4, 5, 40}) {
    test::random_tree const tree{vertices(), capacity};
    warden::task_queue<task, TypeParam> queue{capacity};
    fill_and_run(queue, tree, s);
    tree.expect_all(1, s);
  }
}
TYPED_TEST(task_queue_of, is_used_again_and_captured) {
  warden::stream const s;
  test::random_tree tree{vertices(), 2};
  warden::task_queue<task, TypeParam> queue{64};
  auto const roots = tree.roots<task>();
  auto const enqueue = [&] {
    queue.fill_async(roots.data(), roots.size(), s);
    warden::run_tasks<threads>(queue, test::visit_and_push<task>{tree.view()}, s);
  };
  enqueue();
  enqueue();
  auto const captured = warden::graph::capture(s, enqueue);
  captured.launch(s);
  captured.launch(s);
  queue.wait(s);
  tree.expect_all(4, s);
}
TYPED_TEST(task_queue_of, ends_at_once_without_tasks) {
  warden::stream const s;
  warden::task_queue<task, TypeParam> queue{8};
  warden::run_tasks<threads>(queue, test::visit_and_push<task>{}, s);
  queue.wait(s);
}

template <class Task>
void run_sized(std::uint32_t size) {
  warden::stream const s;
  test::random_tree const tree{size, 3};
  warden::task_queue<Task, warden::queue_policy::per_block> queue{100};
  fill_and_run(queue, tree, s);
  tree.expect_all(1, s);
}
TEST(task_queue, tasks_have_any_size) {
  run_sized<test::vertex_task<2>>(vertices());
  run_sized<test::vertex_task<3>>(vertices());
  run_sized<test::vertex_task<16>>(vertices());
}

TEST(task_queue, any_kernel_uses_it) {
  warden::stream const s;
  using ref = central_queue::ref_type;
  for (auto const kernel : {&test::visit_by_threads<ref>, &test::visit_by_warps<ref>,
                            &test::visit_by_blocks<threads, ref>}) {
    test::random_tree const tree{vertices(), 4};
    auto const roots = tree.roots<task>();
    central_queue queue{tree.size()};
    queue.fill_async(roots.data(), roots.size(), s);
    // More blocks than are resident.
    warden::launch(kernel, test::sized(40u, 3000u), threads, s, queue.ref(), tree.view());
    queue.wait(s);
    tree.expect_all(1, s);
  }
}

TEST(task_queue, stealing_stocks_an_empty_ring) {
  using policy = warden::queue_policy::stealing;
  auto const given = [](unsigned size, bool others_wait, bool ring_is_empty) {
    return policy::given({size, 1024, 256, others_wait, ring_is_empty});
  };
  EXPECT_EQ(given(256, false, true), 0u) << "a task for each thread";
  EXPECT_EQ(given(256, true, true), 128u);
  EXPECT_EQ(given(400, false, true), 200u);
  EXPECT_EQ(given(700, false, true), 444u) << "all but a task for each thread";
  EXPECT_EQ(given(700, true, false), 0u);
  EXPECT_EQ(given(1000, false, false), 500u) << "the memory is 3/4 full";
}

using kept_queue = warden::task_queue<std::uint32_t, warden::queue_policy::per_block>;
using kept_worker = kept_queue::worker<32>;
/// Pushes tasks 1 to n, and stores those that the next `pop` gives.
WARDEN_KERNEL void push_then_pop(kept_queue::ref_type queue, std::uint32_t n, std::uint32_t* got) {
  WARDEN_SHARED(kept_worker::storage, storage);
  kept_worker worker{queue, storage};
  std::uint32_t task;
  if (worker.pop(task) == warden::pop_result::task) {
    for (std::uint32_t i = 1; i <= n; ++i) worker.push(i);
  }
  if (worker.pop(task) == warden::pop_result::task) got[warden::simt::thread_rank()] = task;
}
TEST(task_queue, blocks_take_the_newest_tasks_if_their_memory_is_half_full) {
  std::vector<std::uint32_t> oldest(32), newest(32);
  std::uint32_t const half = kept_worker::room / 2;
  std::iota(oldest.begin(), oldest.end(), 1u);
  std::iota(newest.begin(), newest.end(), half + 1 - 31);
  warden::buffer<std::uint32_t> const root{std::vector<std::uint32_t>{0}}, got{32};
  for (std::uint32_t const n : {half, half + 1}) {
    kept_queue queue{1000};
    queue.fill_async(root.data(), 1);
    warden::launch(&push_then_pop, 1, 32, {}, queue.ref(), n, got.data());
    queue.wait();
    EXPECT_EQ(got.to_host(), n == half ? oldest : newest);
  }
}

// ---- errors

TEST(task_queue, has_a_capacity) {
  EXPECT_THAT(test::refusal([] { central_queue{0}; }),
              HasSubstr("task queue: a capacity of 0; the limits are 1 and 2147483648"));
  central_queue queue{100};
  EXPECT_EQ(queue.capacity(), 100u);
  EXPECT_GE(queue.memory_bytes(), 100 * (sizeof(task) + 4));
  test::random_tree const tree{10, 1, 80};
  auto const roots = tree.roots<task>();
  EXPECT_THAT(test::refusal([&] { queue.fill_async(roots.data(), 101); }),
              HasSubstr("task queue: a fill of 101 tasks; the capacity is 100: make it larger"));
  EXPECT_THAT(test::refusal([&] { queue.fill_async(nullptr, 100); }),
              HasSubstr("task queue: tasks at a null pointer, 100 of them: pass device memory"));
  queue.fill_async(roots.data(), 80);
  queue.fill_async(roots.data(), 80);
  EXPECT_THAT(test::error_text(queue),
              HasSubstr("task queue: the queue was full and refused 60 tasks of "
                        "fills; its capacity is 100"));
  fill_and_run(queue, tree, {});
  tree.expect_all();
}

using block_worker = central_queue::worker<threads>;
/// Pops once, pushes two tasks for each popped one, and leaves.
WARDEN_KERNEL void pop_once(central_queue::ref_type queue) {
  WARDEN_SHARED(block_worker::storage, storage);
  block_worker worker{queue, storage};
  task t;
  if (worker.pop(t) == warden::pop_result::task) {
    worker.push(t);
    worker.push(t);
  }
}
struct ignore {
  template <class Worker>
  __device__ void operator()(task const&, Worker&) const {}
};
TEST(task_queue, keeps_tasks_of_blocks_that_leave) {
  central_queue queue{64};
  test::random_tree const tree{0, 1, 64};
  auto const roots = tree.roots<task>();
  queue.fill_async(roots.data(), 16);
  warden::launch(&pop_once, 1, threads, {}, queue.ref());  // leaves 32
  warden::launch(&pop_once, 1, threads, {}, queue.ref());  // leaves 64
  queue.wait();
  warden::launch(&pop_once, 1, threads, {}, queue.ref());  // has 128
  warden::run_tasks<threads>(queue, ignore{});             // does not wait for the others
  EXPECT_THAT(test::error_text(queue),
              StartsWith("task queue: blocks left with 64 tasks that the full queue had no room "
                         "for; its capacity is 64: make it larger, or call pop() until it returns "
                         "finished"));
  fill_and_run(queue, tree, {});
  tree.expect_all();
}

/// One thread waits for tasks and still has one, which another thread could never complete.
WARDEN_KERNEL void wait_with_a_task(central_queue::ref_type queue) {
  warden::thread_worker<central_queue::ref_type> worker{queue};
  task t;
  while (worker.pop(t) == warden::pop_result::empty) worker.wait();
  worker.wait();
}
/// One thread takes a position and puts no task there.
WARDEN_KERNEL void forget_a_task(central_queue::ref_type queue) {
  if (warden::simt::thread_rank() != 0) return;
  queue.ring(0).control().count_tasks(1);
  (void)queue.ring(0).take_push(1);
  queue.ring(0).announce(1);
}
std::string timeout_text(central_queue& queue) {
  return test::error_of<warden::timeout_error>([&] { queue.wait(); });
}
TEST(task_queue, waits_end) {
  central_queue queue{10, test::short_limit};
  test::random_tree const tree{0, 1, 2};
  auto const roots = tree.roots<task>();
  queue.fill_async(roots.data(), 1);
  warden::launch(&wait_with_a_task, 1, 4, {}, queue.ref());
  EXPECT_THAT(
      timeout_text(queue),
      testing::ContainsRegex("no progress for 0.5 s: block 0, thread [0-3] waited for a "
                             "task, one of [1-4] waiting threads in 1 blocks; the queue has 1 "
                             "uncompleted task, 0 of them in its rings"));
  warden::launch(&forget_a_task, 1, threads, {}, queue.ref());
  warden::launch(&wait_with_a_task, 1, 1, {}, queue.ref());
  EXPECT_THAT(timeout_text(queue), HasSubstr("block 0, thread 0 waited for the slot of task 0 of a "
                                             "task queue, which another thread had taken"));
  fill_and_run(queue, tree, {});
  tree.expect_all();
}

}  // namespace
