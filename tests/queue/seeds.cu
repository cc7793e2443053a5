// SPDX-License-Identifier: Apache-2.0
// Task queues under many schedules of the simulated device, and histories of pushes and pops.

#include "tests/queue/trees.cuh"
#include "tests/support/many_schedules.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;
using task = test::vertex_task<3>;

template <class Policy, class Task = task>
void run_under_many_schedules() {
  test::random_tree tree{150, 1};
  auto const roots = tree.roots<Task>();
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    // With one resident block, and rings for two multiprocessors, that block empties both.
    warden::task_queue<Task, Policy> queue{seed % 3 == 0 ? 4u : 100u};
    if (seed % 4 == 1) test::let_one_block_be_resident();
    tree.reset();
    for (int runs = 0; runs < 2; ++runs) {
      queue.fill_async(roots.data(), roots.size());
      warden::run_tasks<32>(queue, test::visit_and_push<Task>{tree.view()});
    }
    queue.wait();
    tree.expect_all(2);
  });
}
TEST(task_queue_seeds, central) { run_under_many_schedules<warden::queue_policy::central>(); }
TEST(task_queue_seeds, per_block) { run_under_many_schedules<warden::queue_policy::per_block>(); }
TEST(task_queue_seeds, blocks_push_where_tasks_were_taken) {
  // So wide that a block has memory for 64 of the 150.
  using wide = test::vertex_task<63>;
  static_assert(warden::block_worker<32, warden::task_queue<wide>::ref_type>::room == 64);
  run_under_many_schedules<warden::queue_policy::per_block, wide>();
}
TEST(task_queue_seeds, donating) { run_under_many_schedules<warden::queue_policy::donating>(); }
TEST(task_queue_seeds, stealing) { run_under_many_schedules<warden::queue_policy::stealing>(); }

/// Lets `count` launches fail, from the one of that number on.
void fail_launches(std::uint64_t number, std::uint64_t count) {
  warden::sim::settings s;
  s.failing_launch = number;
  s.failing_launches = count;
  warden::sim::configure(s);
}
/// Fills a queue, whose tasks are the first two roots, with more tasks than it has room for, by
/// launches of which `count` fail. After that the queue has `kept` tasks.
template <class Policy>
void fill_by_failing_launches(std::uint64_t number, std::uint64_t count, std::size_t kept) {
  test::random_tree tree{150, 1};
  auto const roots = tree.roots<task>();
  warden::task_queue<task, Policy> queue{roots.size()};
  queue.fill_async(roots.data(), 2);
  fail_launches(number, count);
  EXPECT_THROW(queue.fill_async(roots.data(), roots.size()), warden::cuda_error);
  fail_launches(0, 0);
  EXPECT_NO_THROW(queue.wait()) << "tasks of the fill that failed are refused";
  queue.fill_async(roots.data() + kept, roots.size() - kept);
  warden::run_tasks<32>(queue, test::visit_and_push<task>{tree.view()});
  queue.wait();
  tree.expect_all(1);
}
TEST(task_queue_seeds, a_fill_that_fails_leaves_the_queue_as_before) {
  for (std::uint64_t const number : {1u, 2u}) {
    fill_by_failing_launches<warden::queue_policy::central>(number, 1, 2);
    fill_by_failing_launches<warden::queue_policy::stealing>(number, 1, 2);
  }
}
TEST(task_queue_seeds, a_fill_that_cannot_be_undone_leaves_no_gap) {
  fill_by_failing_launches<warden::queue_policy::central>(2, 2, 0);
}

/// Kernels whose threads check after the end that they see what all tasks wrote.
template <class Policy>
void visit_under_many_schedules(void (*kernel)(warden::task_queue_ref<task, Policy>,
                                               test::tree_view)) {
  test::random_tree tree{100, 1};
  auto const roots = tree.roots<task>();
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    warden::task_queue<task, Policy> queue{2 * tree.size()};
    if (seed % 4 == 1) test::let_one_block_be_resident();
    tree.reset();
    queue.fill_async(roots.data(), roots.size());
    warden::launch(kernel, 2, 32, {}, queue.ref(), tree.view());
    queue.wait();
    tree.expect_all();
  });
}
template <class Policy>
using ref = warden::task_queue_ref<task, Policy>;
TEST(task_queue_seeds, by_threads) {
  using policy = warden::queue_policy::stealing;
  visit_under_many_schedules(&test::visit_by_threads<ref<policy>>);
}
TEST(task_queue_seeds, by_warps) {
  using policy = warden::queue_policy::stealing;
  visit_under_many_schedules(&test::visit_by_warps<ref<policy>>);
}
TEST(task_queue_seeds, by_blocks) {
  using policy = warden::queue_policy::donating;
  visit_under_many_schedules(&test::visit_by_blocks<32, ref<policy>>);
}

// ---- histories

/// Times of an operation on one task, by a clock that each reading advances.
struct interval {
  std::uint32_t begin, end;
};
struct history_view {
  interval* pushed;  ///< [task]
  interval* popped;  ///< [task]
  std::uint32_t* clock;
  std::uint32_t rounds;

  WARDEN_DEVICE std::uint32_t now() const { return simt::fetch_add(clock, 1u); }
};
using number_queue = warden::task_queue<std::uint32_t>;

/// Each thread pushes a task and pops one, `rounds` times. There are at least as many tasks as pops
/// under way, so each pop gets one.
WARDEN_KERNEL void push_and_pop(number_queue::ref_type queue, history_view history) {
  warden::thread_worker<number_queue::ref_type> worker{queue};
  for (std::uint32_t round = 0; round < history.rounds; ++round) {
    std::uint32_t const mine =
        (simt::block_rank() * simt::block_threads() + simt::thread_rank()) * history.rounds + round;
    std::uint32_t begin = history.now();
    if (!worker.push(mine)) return;
    history.pushed[mine] = {begin, history.now()};
    std::uint32_t popped;
    begin = history.now();
    while (worker.pop(popped) != warden::pop_result::task) {
      worker.wait();
      begin = history.now();
    }
    history.popped[popped] = {begin, history.now()};
  }
}

/// The threads of a block push and pop together. A push takes effect within the block's next `pop`.
/// A block that has pushed all its tasks pops until none is left.
WARDEN_KERNEL void push_and_pop_by_blocks(number_queue::ref_type queue, history_view history) {
  using worker_type = number_queue::worker<32>;
  WARDEN_SHARED(worker_type::storage, storage);
  worker_type worker{queue, storage};
  for (std::uint32_t round = 0;; ++round) {
    bool const pushes = round < history.rounds;
    std::uint32_t const mine =
        (simt::block_rank() * history.rounds + round) * 32 + simt::thread_rank();
    std::uint32_t const begin = history.now();
    if (pushes) worker.push(mine);
    std::uint32_t popped;
    warden::pop_result const got = worker.pop(popped);
    interval const now{begin, history.now()};
    if (pushes) history.pushed[mine] = now;
    if (got == warden::pop_result::task) history.popped[popped] = now;
    if (got == warden::pop_result::finished && !pushes) return;
  }
}

/// Expects that the history is one of a first-in-first-out queue. [Henzinger, Sezgin, Vafeiadis,
/// "Aspect-Oriented Linearizability Proofs", 2013]: a history in which each task is pushed and
/// popped once is linearizable unless a pop ended before the push began, or two tasks were pushed
/// one after the other and popped one after the other in the opposite order.
void expect_first_in_first_out(std::vector<interval> const& pushed,
                               std::vector<interval> const& popped) {
  for (std::size_t a = 0; a < pushed.size(); ++a) {
    ASSERT_NE(popped[a].end, 0u) << "task " << a << " was never popped";
    ASSERT_LT(pushed[a].begin, popped[a].end) << "task " << a << " was popped before its push";
    for (std::size_t b = 0; b < pushed.size(); ++b) {
      bool const is_before = pushed[a].end < pushed[b].begin;
      bool const is_overtaken = popped[b].end < popped[a].begin;
      if (!is_before || !is_overtaken) continue;
      FAIL() << "task " << b << " was pushed after task " << a << " and popped before it";
    }
  }
}
void expect_first_in_first_out(void (*kernel)(number_queue::ref_type, history_view),
                               unsigned blocks, unsigned threads, std::uint32_t rounds) {
  std::size_t const size = std::size_t{rounds} * blocks * threads;
  warden::buffer<interval> pushed{size}, popped{size};
  warden::buffer<std::uint32_t> clock{1};
  test::under_many_schedules(1, [&](std::uint64_t) {
    number_queue queue{size};
    pushed.fill_bytes(0);
    popped.fill_bytes(0);
    clock.fill_bytes(0);
    warden::launch(kernel, blocks, threads, {}, queue.ref(),
                   {pushed.data(), popped.data(), clock.data(), rounds});
    queue.wait();
    expect_first_in_first_out(pushed.to_host(), popped.to_host());
  });
}
TEST(task_queue_seeds, central_is_first_in_first_out) {
  expect_first_in_first_out(&push_and_pop, 3, 4, 6);
}
TEST(task_queue_seeds, central_is_first_in_first_out_by_blocks) {
  expect_first_in_first_out(&push_and_pop_by_blocks, 3, 32, 3);
}

}  // namespace
