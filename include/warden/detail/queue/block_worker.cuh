// SPDX-License-Identifier: Apache-2.0
/// @file
/// Worker of a block: pops a task for each thread, and keeps what they push in shared memory.
#pragma once

#include <warden/detail/queue/queue_control.cuh>
#include <warden/detail/queue/task_queue_ref.cuh>
#include <warden/detail/queue/task_ring.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Pushes and pops tasks for the threads of a block of `Threads` threads, in any dimensions. The
/// block keeps pushed tasks in shared memory until its next `pop`. That gives some of them to the
/// ring, as the queue's policy says, and takes a task for each thread. In the kernel:
///
///     using worker_type = warden::block_worker<256, warden::task_queue<task>::ref_type>;
///     __shared__ worker_type::storage storage;
///     worker_type worker{queue, storage};
///     for (;;) {
///       task t;
///       warden::pop_result const got = worker.pop(t);  // all threads of the block together
///       if (got == warden::pop_result::finished) break;
///       if (got == warden::pop_result::task) ...       // may call worker.push
///       worker.wait();                                 // all threads of the block together
///     }
template <unsigned Threads, class Ref>
class block_worker {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  using ring = detail::task_ring<typename Ref::task_type>;
  using words = typename ring::words;

  /// Cycles after which a block looks at others again: each look loads words that all blocks share.
  static constexpr std::uint32_t look_cycles = 2048;
  /// Cycles after which a block settles, so that waiting threads see progress.
  static constexpr std::uint32_t settle_cycles = 1 << 18;

  /// Returns the number of tasks in shared memory: a power of two, to number them by masks, of
  /// which one `pop` takes at most half.
  static constexpr unsigned deque_size() {
    unsigned size = 1;
    while (size < 2 * Threads) size *= 2;
    while (2 * size * sizeof(words) <= 16384 && size < 8 * Threads) size *= 2;
    return size;
  }

 public:
  using task_type = typename Ref::task_type;  ///< type of the tasks
  /// Tasks that the block has memory for.
  static constexpr unsigned room = deque_size();

  /// Shared memory of the block; uninitialized.
  struct storage {
    words tasks[room];      ///< the block's tasks, from `head` to `tail`, modulo `room`
    std::uint64_t first;    ///< position in the ring
    std::uint32_t head;     ///< number of the oldest task
    std::uint32_t tail;     ///< number of the next pushed task; pushes beyond `room` add, too
    std::uint32_t own;      ///< number of the first task that the last `pop` took from `tasks`
    std::uint32_t counted;  ///< uncompleted tasks that `unfinished` has for this block
    std::uint32_t running;  ///< tasks that the last `pop` gave to threads
    std::uint32_t given;    ///< tasks on their way to the ring
    std::uint32_t popped;   ///< tasks that the last `pop` took from a ring
    std::uint32_t source;   ///< number of that ring
    pop_result result;      ///< for threads without a task
  };

  /// Constructs a worker without tasks. Collective over the block. `memory` is the same for the
  /// whole block.
  WARDEN_DEVICE block_worker(Ref const& queue, storage& memory)
      : queue_{queue}, ring_{queue.ring(queue.own_ring())}, memory_{memory} {
    if (simt::thread_rank() == 0) {
      memory_.head = memory_.tail = memory_.counted = memory_.running = 0;
    }
    simt::sync_block();
  }
  /// Completes the tasks popped last, and gives all others to the ring. `task_queue::wait` reports
  /// tasks that do not fit. Collective over the block: all threads leave the worker's scope at the
  /// same place of the code, none by a `return` of its own.
  WARDEN_DEVICE ~block_worker() {
    if (is_finished_) return;
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      unsigned const size = close();
      settle(size);
      plan(size, ring_.room());
    }
    simt::sync_block();
    if (memory_.given != 0) give();
    std::uint32_t const left = memory_.tail - memory_.head;
    if (simt::thread_rank() != 0 || left == 0) return;
    simt::add(&ring_.control().left, std::uint64_t{left});
    // The others do not wait for these tasks.
    simt::fence_device();
    ring_.control().count_tasks(-std::int64_t{left});
  }
  block_worker(block_worker const&) = delete;
  block_worker& operator=(block_worker const&) = delete;

  /// Completes the tasks popped last, and pops up to one for each thread into `task`. Returns
  /// `empty` in threads that get none, `finished` in all threads or in none. Collective over the
  /// block. Does not wait for tasks.
  WARDEN_DEVICE pop_result pop(task_type& task) {
    unsigned const me = simt::thread_rank();
    simt::sync_block();
    if (simt::warp_rank() == 0) {
      if (me == 0) settle_and_plan();
      simt::sync_warp(simt::full_warp);
      if (memory_.given == 0) take();
    }
    simt::sync_block();
    bool has_failed = false;
    if (memory_.given != 0) {
      has_failed = !give();
      if (simt::warp_rank() == 0) take();
      simt::sync_block();
    }
    running_ = memory_.running;
    pop_result result = memory_.result;
    unsigned const from_ring = memory_.popped;
    words popped{};
    if (me < running_) {
      result = pop_result::task;
      if (from_ring == 0) {
        popped = memory_.tasks[(memory_.own + me) % room];
      } else if (!queue_.ring(memory_.source).get(memory_.first + me, popped)) {
        has_failed = true;
      }
    }
    // After this barrier, threads push where others have taken their tasks.
    bool const is_poisoned = simt::sync_block_or(has_failed);  // mutation: task-taken
    if (is_poisoned) result = pop_result::finished;
    if (me == 0) {
      if (from_ring != 0) queue_.ring(memory_.source).release(from_ring);
      if constexpr (Ref::policy::looks) look();
    }
    is_finished_ = result == pop_result::finished;
    if (result == pop_result::task) task = popped.task();
    return result;
  }

  /// Pushes a task. Returns false if the memory of the block and the ring are full. They stay full
  /// while the task waits: let it do the pushed task's work instead of trying again. Any thread of
  /// the block, in any control flow. Precondition: the thread has a task.
  WARDEN_DEVICE bool push(task_type const& task) {
    words const pushed{task};
    // The test bounds the pushes beyond `room`: `tail` does not wrap.
    if (simt::shared_load(memory_.tail) - memory_.head >= room) return ring_.push(pushed);
    unsigned const number = simt::shared_fetch_add(memory_.tail, 1u);
    if (number - memory_.head >= room) return ring_.push(pushed);
    memory_.tasks[number % room] = pushed;
    return true;
  }
  /// Returns at once if the last `pop` gave the block a task. Otherwise waits until the next one is
  /// worthwhile, within the queue's time limit. Collective over the block.
  WARDEN_DEVICE void wait() {
    if (running_ == 0 && simt::thread_rank() == 0) ring_.wait_for_tasks();
  }

 private:
  // Called by the first thread, after a barrier that follows all tasks.

  /// Returns the number of tasks here, after the pushes that found no room.
  WARDEN_DEVICE unsigned close() {
    unsigned const pushed = memory_.tail - memory_.head;
    unsigned const size = pushed < room ? pushed : room;
    memory_.tail = memory_.head + size;
    return size;
  }
  /// Brings `unfinished` up to date: the block has `size` tasks, none of which runs. Only a
  /// decrease releases what tasks wrote: while the block has tasks, their threads see it.
  WARDEN_DEVICE void settle(unsigned size) {
    if (!has_run_ && size == memory_.counted) return;
    auto const more = std::int64_t{size} - memory_.counted;
    if (more < 0) simt::fence_device();  // mutation: task-settled
    ring_.control().count_tasks(more);   // mutation: task-count
    memory_.counted = size;
    has_run_ = false;
  }
  /// Takes positions of the ring, which had room for `seen` tasks, for the oldest `count` tasks, or
  /// as many as fit.
  WARDEN_DEVICE void plan(unsigned count, std::int64_t seen) {
    unsigned const given = ring_.claim_room(count, seen);
    if (given != 0) memory_.first = ring_.take_push(given);
    memory_.given = given;
    memory_.counted -= given;
  }
  /// Settles if it has to, and plans as the policy says. A block that has tasks need not settle
  /// while `unfinished` has one for it: others then do not see the end.
  WARDEN_DEVICE void settle_and_plan() {
    unsigned const size = close();
    unsigned const count = Ref::policy::given({size, room, Threads, others_wait_, ring_is_empty_});
    // Loads of hints for the claims, early, because their results take long.
    std::int64_t const seen_room = count != 0 ? ring_.room() : 0;
    available_ = count != 0 ? ring_.available() : -1;
    now_ = static_cast<std::uint32_t>(simt::cycles());
    bool const is_over = size == 0 || memory_.counted == 0;                  // mutation: task-over
    bool const is_due = count != 0 || now_ - last_settled_ > settle_cycles;  // mutation: task-due
    if (is_over || is_due) {
      settle(size);
      last_settled_ = now_;
    }
    if (count != 0) ring_is_empty_ = false;
    plan(count, seen_room);
    if (available_ >= 0) available_ += memory_.given;
  }
  /// Looks at other blocks and the ring, for the next `pop`. The answers come while tasks run.
  WARDEN_DEVICE void look() {
    if (now_ - last_look_ <= look_cycles) return;
    others_wait_ = simt::load_relaxed(&ring_.control().hungry) != 0;
    ring_is_empty_ = ring_.available() <= 0;
    last_look_ = now_;
  }

  // Called by the first warp.

  /// Takes tasks of the block, or else of its ring or another ring.
  WARDEN_DEVICE void take() {
    bool const is_first = simt::lane_id() == 0;
    unsigned size = 0, own = 0, popped = 0, source = queue_.own_ring();
    if (is_first) {
      size = memory_.tail - memory_.head;
      own = size < Threads ? size : Threads;
      if (own == 0)
        popped = ring_.claim_tasks(Threads, available_ > 0 ? available_ : ring_.available());
    }
    if constexpr (Ref::policy::several_rings) {
      if (simt::shuffle(simt::full_warp, own + popped, 0) == 0)
        popped = steal(source);  // mutation: task-steal
    }
    if (!is_first) return;
    // The oldest tasks push the most. The newest ones keep the memory from filling up.
    if (size <= room / 2) {
      memory_.own = memory_.head;
      memory_.head += own;  // mutation: task-oldest
    } else {
      memory_.tail -= own;
      memory_.own = memory_.tail;
    }
    memory_.popped = popped;
    memory_.counted += popped;
    memory_.source = source;
    if (popped != 0) memory_.first = queue_.ring(source).take_pop(popped);
    memory_.running = own + popped;
    memory_.result = pop_result::empty;
    if (memory_.running != 0) {
      has_run_ = true;
      return;
    }
    memory_.result = ring_.nothing();
  }
  /// Claims tasks of the next ring that has some. Returns their number to the first lane, and the
  /// ring in `source` to all.
  WARDEN_DEVICE unsigned steal(unsigned& source) {
    static_assert(detail::most_rings <= simt::warp_size);
    unsigned const lane = simt::lane_id(), rings = queue_.rings();
    unsigned const other = (source + 1 + lane) % rings;
    std::int64_t const seen = lane + 1 < rings ? queue_.ring(other).available() : 0;
    unsigned const found = simt::ballot(simt::full_warp, seen > 0);
    if (found == 0) return 0;
    auto const finder = static_cast<unsigned>(simt::first_bit(found));
    source = simt::shuffle(simt::full_warp, other, finder);
    std::int64_t const most = simt::shuffle(simt::full_warp, seen, finder);
    return lane == 0 ? queue_.ring(source).claim_tasks(Threads, most) : 0;
  }

  /// Puts the planned tasks into the ring. Collective over the block. Returns false if the launch
  /// is poisoned.
  WARDEN_DEVICE bool give() {
    unsigned const me = simt::thread_rank(), count = memory_.given, head = memory_.head;
    bool is_put = true;
    for (unsigned i = me; i < count; i += Threads) {
      is_put = ring_.put(memory_.first + i, memory_.tasks[(head + i) % room]) && is_put;
    }
    simt::sync_block();
    if (me != 0) return is_put;
    memory_.head = head + count;  // mutation: task-given
    ring_.announce(count);
    return is_put;
  }

  Ref queue_;
  ring ring_;  ///< the block's ring
  storage& memory_;
  std::uint32_t running_ = 0;
  bool is_finished_ = false;

  // For the first thread.
  // Lower halves of cycles: registers limit the resident blocks, and a rare late look is harmless.
  std::uint32_t now_ = 0;           ///< at the last `pop`
  std::uint32_t last_settled_ = 0;  ///< value of `now_`
  std::uint32_t last_look_ = 0;     ///< value of `now_`
  std::int64_t available_ = -1;     ///< available tasks of the ring; -1: not known
  bool has_run_ = false;            ///< true if tasks have run since the block settled
  bool others_wait_ = false;        ///< see queue_policy::block_state
  bool ring_is_empty_ = false;      ///< see queue_policy::block_state
};

WARDEN_NAMESPACE_END
