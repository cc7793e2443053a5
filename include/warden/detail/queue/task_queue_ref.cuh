// SPDX-License-Identifier: Apache-2.0
/// @file
/// A task queue as kernels see it, and its workers of a thread and a warp.
#pragma once

#include <warden/detail/queue/queue_control.cuh>
#include <warden/detail/queue/task_ring.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A task queue for kernels, whose threads use it by a `thread_worker`, `warp_worker` or
/// `block_worker`. Trivially copyable; made by `task_queue::ref()`.
template <class Task, class Policy>
class task_queue_ref {
 public:
  using task_type = Task;  ///< type of the tasks
  using policy = Policy;   ///< one of namespace queue_policy

  task_queue_ref() = default;
  /// Used by the library: constructs a ref of `rings` rings, of which `ring` is the first.
  task_queue_ref(detail::task_ring<Task> const& ring, unsigned rings)
      : ring_{ring}, rings_{rings} {}
  /// Used by the library: returns the ring of that number.
  [[nodiscard]] WARDEN_DEVICE detail::task_ring<Task> ring(unsigned number) const {
    if constexpr (Policy::several_rings) {
      return ring_.after(number);
    } else {
      return ring_;
    }
  }
  /// Used by the library: returns the number of rings.
  [[nodiscard]] WARDEN_DEVICE unsigned rings() const { return Policy::several_rings ? rings_ : 1; }
  /// Used by the library: returns the number of the calling block's ring.
  [[nodiscard]] WARDEN_DEVICE unsigned own_ring() const {
    return Policy::several_rings ? simt::block_rank() % rings_ : 0;
  }

 private:
  detail::task_ring<Task> ring_;
  unsigned rings_ = 1;
};

namespace detail {

/// Most rings of a queue. With more of them, each holds fewer tasks, and a block that takes tasks
/// of a ring runs with fewer threads.
inline constexpr unsigned most_rings = 4;

/// Ring from which a worker of a thread or a warp takes tasks.
template <class Ref>
class ring_search {
 public:
  using ring_type = task_ring<typename Ref::task_type>;

  /// Starts at the block's ring.
  WARDEN_DEVICE explicit ring_search(Ref const& queue)
      : queue_{queue}, own_{queue.own_ring()}, next_{own_} {}
  /// Returns the block's ring.
  [[nodiscard]] WARDEN_DEVICE ring_type own() const { return queue_.ring(own_); }
  /// Returns the ring of that number.
  [[nodiscard]] WARDEN_DEVICE ring_type ring(unsigned number) const { return queue_.ring(number); }
  /// Claims a task of the block's ring or, if that has none, of another one: of the next one in
  /// each call. Returns false if there is none. The number of the ring is in `from`.
  [[nodiscard]] WARDEN_DEVICE bool claim_task(unsigned& from) {
    return claim(from, [](ring_type const& ring) { return ring.claim_task(); });
  }
  /// Claims up to a task for each lane of a warp. Returns their number.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t claim_tasks(unsigned& from) {
    return claim(from, [](ring_type const& ring) { return ring.claim_tasks(simt::warp_size); });
  }

 private:
  /// Returns `claim_of` of the block's ring or, if that is 0, of another one.
  template <class Claim>
  WARDEN_DEVICE auto claim(unsigned& from, Claim claim_of) {
    from = own_;
    auto count = claim_of(own());
    if constexpr (Ref::policy::several_rings) {
      if (count == 0 && queue_.rings() > 1) {
        next_ = next_ + 1 == queue_.rings() ? 0 : next_ + 1;
        from = next_;
        count = claim_of(ring(from));
      }
    }
    return count;
  }

  Ref queue_;
  unsigned own_;
  unsigned next_;
};

}  // namespace detail

/// Pushes and pops tasks, one at a time, for the calling thread. In any control flow.
template <class Ref>
class thread_worker {
 public:
  using task_type = typename Ref::task_type;  ///< type of the tasks

  /// Constructs a worker without a task.
  WARDEN_DEVICE explicit thread_worker(Ref const& queue) : search_{queue} {}
  /// Completes the task popped last.
  WARDEN_DEVICE ~thread_worker() { complete(); }
  thread_worker(thread_worker const&) = delete;
  thread_worker& operator=(thread_worker const&) = delete;

  /// Completes the task popped last, and pops the next one into `task`. Does not wait for a task.
  WARDEN_DEVICE pop_result pop(task_type& task) {
    complete();
    unsigned from;
    if (!search_.claim_task(from)) return search_.own().nothing();
    detail::task_words<task_type> popped;
    if (!search_.ring(from).get_claimed(popped)) return pop_result::finished;
    is_running_ = true;  // mutation: task-completed
    task = popped.task();
    return pop_result::task;
  }
  /// Pushes a task. Returns false if the queue is full. Precondition: the worker has a task.
  WARDEN_DEVICE bool push(task_type const& task) {
    return search_.own().push(detail::task_words<task_type>{task});
  }
  /// After a `pop` that returned `empty`: waits until the next one is worthwhile, within the
  /// queue's time limit.
  WARDEN_DEVICE void wait() { search_.own().wait_for_tasks(); }

 private:
  WARDEN_DEVICE void complete() {
    if (!is_running_) return;
    simt::fence_device();
    search_.own().control().count_tasks(-1);
    is_running_ = false;
  }

  detail::ring_search<Ref> search_;
  bool is_running_ = false;
};

/// Pushes and pops tasks for the lanes of a warp. Every call is collective over the warp, and takes
/// 2 or 3 atomics.
template <class Ref>
class warp_worker {
 public:
  using task_type = typename Ref::task_type;  ///< type of the tasks

  /// Constructs a worker without tasks.
  WARDEN_DEVICE explicit warp_worker(Ref const& queue) : search_{queue} {}
  /// Completes the tasks popped last.
  WARDEN_DEVICE ~warp_worker() { complete(); }
  warp_worker(warp_worker const&) = delete;
  warp_worker& operator=(warp_worker const&) = delete;

  /// Completes the tasks popped last, and pops up to one for each lane into `task`. Returns `empty`
  /// in lanes that get none, `finished` in all lanes or in none. Does not wait for tasks.
  WARDEN_DEVICE pop_result pop(task_type& task) {
    complete();
    bool const is_first = simt::lane_id() == 0;
    unsigned from = 0;
    std::uint32_t count = is_first ? search_.claim_tasks(from) : 0;
    std::uint64_t first = count != 0 ? search_.ring(from).take_pop(count) : 0;
    bool const is_over = is_first && count == 0 && search_.own().nothing() == pop_result::finished;
    count = simt::shuffle(simt::full_warp, count, 0);
    first = simt::shuffle(simt::full_warp, first, 0);
    from = simt::shuffle(simt::full_warp, from, 0);
    auto const ring = search_.ring(from);
    detail::task_words<task_type> popped;
    bool const has_task = simt::lane_id() < count;
    bool const has_failed = has_task && !ring.get(first + simt::lane_id(), popped);
    if (simt::any(simt::full_warp, is_over || has_failed)) {
      // The first lane has acquired what all tasks wrote; a vote does not order it for the others.
      simt::sync_warp(simt::full_warp);  // mutation: task-over-warp
      return pop_result::finished;
    }
    if (is_first && count != 0) ring.release(count);
    running_ = count;
    if (!has_task) return pop_result::empty;
    task = popped.task();
    return pop_result::task;
  }
  /// Pushes the tasks of lanes with `has_task`. Returns false in lanes whose task the full queue
  /// has no room for. Precondition: the worker has a task.
  WARDEN_DEVICE bool push(task_type const& task, bool has_task = true) {
    unsigned const lanes = simt::ballot(simt::full_warp, has_task);
    bool const is_first = simt::lane_id() == 0;
    auto const ring = search_.own();
    std::uint32_t count = 0;
    std::uint64_t first = 0;
    if (is_first && lanes != 0) {
      count = ring.claim_room(static_cast<std::uint32_t>(simt::count_bits(lanes)));
      if (count != 0) {
        ring.control().count_tasks(count);  // mutation: task-count-warp
        first = ring.take_push(count);
      }
    }
    simt::sync_warp(simt::full_warp);  // a shuffle does not order the count before the puts
    count = simt::shuffle(simt::full_warp, count, 0);
    first = simt::shuffle(simt::full_warp, first, 0);
    unsigned const earlier = lanes & ((1u << simt::lane_id()) - 1);
    auto const rank = static_cast<std::uint32_t>(simt::count_bits(earlier));
    bool is_put = has_task && rank < count;
    if (is_put) {
      detail::task_words<task_type> const pushed{task};
      is_put = ring.put(first + rank, pushed);
    }
    simt::sync_warp(simt::full_warp);
    if (is_first && count != 0) ring.announce(count);
    return is_put;
  }
  /// After a `pop` that gave the warp no task: waits until the next one is worthwhile, within the
  /// queue's time limit.
  WARDEN_DEVICE void wait() {
    if (running_ == 0 && simt::lane_id() == 0) search_.own().wait_for_tasks();
    simt::sync_warp(simt::full_warp);
  }

 private:
  WARDEN_DEVICE void complete() {
    simt::sync_warp(simt::full_warp);
    if (running_ != 0 && simt::lane_id() == 0) {
      simt::fence_device();
      search_.own().control().count_tasks(-std::int64_t{running_});
    }
    running_ = 0;
  }

  detail::ring_search<Ref> search_;
  std::uint32_t running_ = 0;
};

WARDEN_NAMESPACE_END
