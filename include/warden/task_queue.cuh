// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tasks that make tasks: a queue in device memory that persistent blocks take tasks from and push
/// tasks to, with an exact end.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/queue/block_worker.cuh>
#include <warden/detail/queue/queue_error_text.cuh>
#include <warden/detail/queue/queue_policy.cuh>
#include <warden/detail/queue/task_kernels.cuh>
#include <warden/detail/queue/task_queue_ref.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

/// A queue of tasks in device memory. `Policy` is one of namespace queue_policy. A task is
/// trivially copyable, and is run exactly once, together with the tasks that it pushes.
///
///     warden::task_queue<node> queue{100'000};
///     queue.fill_async(roots, 10, s);                       // device memory
///     warden::run_tasks(queue, expand, s);                  // expand(node, worker)
///     queue.wait(s);                                        // throws everything that went wrong
///
/// All work of a queue must be ordered by a stream or by events, except for kernels that use
/// `ref()`. The queue must outlive graphs that contain its work. A moved-from queue may only be
/// destroyed or assigned to.
template <class Task, class Policy = queue_policy::central>
class task_queue {
  using ring = detail::task_ring<Task>;

 public:
  using task_type = Task;                         ///< type of the tasks
  using ref_type = task_queue_ref<Task, Policy>;  ///< type of a kernel's argument
  /// Type of the worker that `run_tasks<Threads>` passes to its function.
  template <unsigned Threads = 256>
  using worker = block_worker<Threads, ref_type>;

  /// Largest capacity of a queue.
  static constexpr std::uint64_t most = std::uint64_t{1} << 31;

  /// Allocates a queue with room for `capacity` tasks in its rings. `limit` bounds the waits.
  /// Throws limit_error unless `capacity` is from 1 to `most`, and cuda_error when memory is short.
  explicit task_queue(std::uint64_t capacity, time_limit limit = {},
                      std::source_location where = std::source_location::current())
      : capacity_{checked(capacity, where)},
        limit_{limit},
        rings_(rings_of(capacity, where), where),
        slots_{std::bit_ceil(ring_capacity())},
        tasks_(rings_.size() * slots_, where),
        tags_(tasks_.size(), where),
        control_(1, where) {
    clear_async({}, where);
    stream_ref{}.synchronize(where);
  }

  /// Returns the argument for kernels.
  [[nodiscard]] ref_type ref() const {
    bool const is_one = rings_.size() == 1;
    return {ring{tasks_.data(), tags_.data(), rings_.data(),
                 static_cast<unsigned>(std::countr_zero(slots_)), ring_capacity(),
                 is_one ? &rings_.data()->available : &control_.data()->queued, control_.data(),
                 limit_},
            static_cast<unsigned>(rings_.size())};
  }
  /// Returns the number of tasks that the rings have room for. Blocks that run tasks keep more of
  /// them in shared memory.
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Returns the size of the queue's device memory. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return tasks_.bytes() + tags_.bytes() + rings_.bytes() + control_.bytes();
  }

  /// Pushes the tasks `tasks[0]` to `tasks[n - 1]` of device memory, which stay unchanged until the
  /// work is done. Enqueued. Throws limit_error if `n` exceeds the capacity or `tasks` is null.
  /// Throws cuda_error; the queue is then as before or, if CUDA refuses a second launch, empty.
  /// `wait` reports tasks that the rings have no room for.
  void fill_async(Task const* tasks, std::uint64_t n, stream_ref s = {},
                  std::source_location where = std::source_location::current()) {
    if (n > capacity_) {
      throw_limit_error("task queue: a fill of % tasks; the capacity is %: make it larger",
                        {n, capacity_}, where);
    }
    demand_memory("task queue: tasks", tasks, n, where);
    if (n == 0) return;
    auto const rings = static_cast<unsigned>(rings_.size());
    auto const blocks = static_cast<unsigned>((n - 1) / (rings * detail::fill_threads) + 1);
    launch(&detail::begin_fill<ref_type>,
           {1, detail::fill_threads, detail::fill_threads * sizeof(std::uint32_t)}, {s, where},
           ref(), static_cast<std::uint32_t>(n));
    try {
      launch(&detail::fill<ref_type>, rings * blocks, detail::fill_threads, {s, where}, ref(),
             tasks);
    } catch (...) {
      undo_fill(n, s, where);  // the positions that the first kernel took would stay empty
      throw;
    }
  }
  /// Removes all tasks, and clears errors. Enqueued. Throws cuda_error.
  void clear_async(stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    tags_.fill_bytes(0, s, where);
    rings_.fill_bytes(0, s, where);
    control_.fill_bytes(0, s, where);
  }
  /// Blocks the host until the stream has reached this point. Throws all errors since the last
  /// `wait` as one exception, see `error::all`; the queue is then empty.
  ///
  /// - timeout_error: a thread waited too long for a task; tasks that were left were not run.
  /// - limit_error: tasks of a fill, or of a block that left, did not fit.
  /// - cuda_error: CUDA reported an error.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    detail::queue_control control{};
    copy(&control, control_.data(), 1, s, where);
    s.synchronize(where);
    error_list found;
    detail::add_errors(found, control, capacity_, static_cast<double>(limit_.nanoseconds) * 1e-9);
    if (found.empty()) return;
    clear_async(s, where);
    s.synchronize(where);
    found.throw_all(where);
  }

 private:
  void undo_fill(std::uint64_t n, stream_ref s, std::source_location where) {
    try {
      launch(&detail::undo_fill<ref_type>, 1, detail::fill_threads, {s, where}, ref(),
             static_cast<std::uint32_t>(n));
    } catch (cuda_error const&) {
      clear_async(s, where);
    }
  }
  static std::uint64_t checked(std::uint64_t capacity, std::source_location where) {
    if (capacity != 0 && capacity <= most) return capacity;
    throw_limit_error("task queue: a capacity of %; the limits are 1 and %", {capacity, most},
                      where);
  }

  static std::size_t rings_of(std::uint64_t capacity, std::source_location where) {
    if (!Policy::several_rings) return 1;
    int const multiprocessors = runtime::facts(runtime::current_device(where)).multiprocessors;
    return std::min(
        {static_cast<std::uint64_t>(multiprocessors), capacity, std::uint64_t{detail::most_rings}});
  }
  [[nodiscard]] std::uint64_t ring_capacity() const { return (capacity_ - 1) / rings_.size() + 1; }

  std::uint64_t capacity_;
  time_limit limit_;
  buffer<detail::ring_control> rings_;
  std::uint64_t slots_;  ///< slots of a ring
  buffer<detail::task_words<Task>> tasks_;
  buffer<std::uint32_t> tags_;
  buffer<detail::queue_control> control_;
};

/// Runs `f(task, worker)` once for each task of the queue and each task that `f` pushes by
/// `worker.push(task)`, until none is left. `worker` is a `block_worker&`. Tasks may run in any
/// order. What `f` writes before a push is visible to the pushed task. Blocks have `Threads`
/// threads, and fill the device. Only threads with a task call `f`, so it has no block barrier.
///
/// Enqueued; allocates nothing. Throws limit_error if a block needs more shared memory than the
/// device has, and cuda_error. The queue's `wait` reports waits that took too long.
template <unsigned Threads = 256, class Task, class Policy, class Function>
void run_tasks(task_queue<Task, Policy> const& queue, Function f, located_stream in = {}) {
  using ref_type = typename task_queue<Task, Policy>::ref_type;
  constexpr std::size_t shared_bytes = sizeof(typename block_worker<Threads, ref_type>::storage);
  auto const kernel = &detail::run_tasks_until_finished<Threads, ref_type, Function>;
  auto const made = simt::make_kernel(kernel);
  auto const blocks =
      static_cast<unsigned>(runtime::resident_blocks(made, Threads, shared_bytes, in.where));
  launch(kernel, {blocks, Threads, shared_bytes}, in, queue.ref(), f);
}

WARDEN_NAMESPACE_END
