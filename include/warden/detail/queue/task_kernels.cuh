// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of task queues: filling one, and running its tasks.
#pragma once

#include <warden/detail/queue/block_worker.cuh>
#include <warden/detail/queue/queue_control.cuh>
#include <warden/detail/queue/task_queue_ref.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block that fills a queue.
inline constexpr unsigned fill_threads = 256;
static_assert(fill_threads >= most_rings);

/// Takes positions for `n` tasks, or as many as fit, in all rings alike. Called with one block of
/// `fill_threads` threads, one for each ring, and a word of shared memory for each.
template <class Ref>
WARDEN_KERNEL void begin_fill(Ref queue, std::uint32_t n) {
  auto* const counts = reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  unsigned const me = simt::thread_rank(), rings = queue.rings();
  std::uint32_t const share = n / rings + (me < n % rings ? 1 : 0);
  if (me < rings) counts[me] = queue.ring(me).claim_room(share);
  simt::sync_block();
  if (me == 0) {
    std::uint32_t begin = 0;
    for (unsigned r = 0; r < rings; ++r) begin += counts[r];
    // Rings that are less full take what others have no room for.
    for (unsigned r = 0; r < rings && begin < n; ++r) {
      std::uint32_t const more = queue.ring(r).claim_room(n - begin);
      counts[r] += more;
      begin += more;
    }
    queue_control& control = queue.ring(0).control();
    control.refused += n - begin;
    if (begin != 0) control.count_tasks(begin);
    begin = 0;
    for (unsigned r = 0; r < rings; ++r) {
      queue.ring(r).own().fill_begin = begin;
      begin += counts[r];
    }
  }
  simt::sync_block();
  if (me >= rings) return;
  queue.ring(me).own().fill_count = counts[me];
  if (counts[me] != 0) queue.ring(me).own().fill_first = queue.ring(me).take_push(counts[me]);
}
/// Puts the tasks at these positions. Called with blocks of `fill_threads` threads, as many for
/// each ring.
template <class Ref>
WARDEN_KERNEL void fill(Ref queue, typename Ref::task_type const* tasks) {
  auto const ring = queue.ring(simt::block_rank() % queue.rings());
  ring_control const& own = ring.own();
  std::uint32_t const stride = simt::block_count() / queue.rings() * fill_threads;
  std::uint32_t i = simt::block_rank() / queue.rings() * fill_threads;
  for (; i < own.fill_count; i += stride) {
    std::uint32_t const left = own.fill_count - i;
    std::uint32_t const count = left < fill_threads ? left : fill_threads;
    unsigned const me = simt::thread_rank();
    using words = task_words<typename Ref::task_type>;
    if (me < count) ring.put(own.fill_first + i + me, words{tasks[own.fill_begin + i + me]});
    simt::sync_block();
    if (me == 0) ring.announce(count);
  }
}

/// Gives back the positions that `begin_fill` took for `n` tasks, whose `fill` was never enqueued.
/// Called like `begin_fill`, before any other push.
template <class Ref>
WARDEN_KERNEL void undo_fill(Ref queue, std::uint32_t n) {
  unsigned const me = simt::thread_rank(), rings = queue.rings();
  if (me == 0) {
    std::uint32_t taken = 0;
    for (unsigned r = 0; r < rings; ++r) taken += queue.ring(r).own().fill_count;
    queue_control& control = queue.ring(0).control();
    control.refused -= n - taken;
    control.count_tasks(-std::int64_t{taken});
  }
  if (me >= rings) return;
  auto const ring = queue.ring(me);
  ring.own().tail -= ring.own().fill_count;
  ring.release(ring.own().fill_count);
}

/// Runs tasks until none is left and none is running. Needs a `block_worker::storage` of dynamic
/// shared memory.
template <unsigned Threads, class Ref, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1) run_tasks_until_finished(Ref queue, Function f) {
  using worker_type = block_worker<Threads, Ref>;
  worker_type worker{queue,
                     *reinterpret_cast<typename worker_type::storage*>(simt::dynamic_shared())};
  for (;;) {
    typename Ref::task_type task;
    pop_result const got = worker.pop(task);
    if (got == pop_result::finished) return;
    if (got == pop_result::task) f(task, worker);
    worker.wait();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
