// SPDX-License-Identifier: Apache-2.0
// The broker queue of [Kerbl 2018], "The Broker Queue: A Fast, Linearizable FIFO Queue for
// Fine-Granular Work Distribution on the GPU": a count admits threads to the ring, and tickets hand
// over its slots. Threads that happen to be converged share one atomic.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>

namespace task_queues {

namespace simt = warden::simt;

struct broker_state {
  alignas(128) std::uint64_t count;       ///< admitted pushes less admitted pops
  alignas(128) std::uint64_t tail;        ///< position of the next push
  alignas(128) std::uint64_t head;        ///< position of the next pop
  alignas(128) std::uint64_t unfinished;  ///< tasks pushed and not completed
};

/// Pushes and pops tasks for the calling thread.
template <class Task>
class broker_worker {
 public:
  using task_type = Task;

  broker_worker() = default;
  /// Constructs a queue of `slots` slots, a power of two.
  broker_worker(Task* tasks, std::uint32_t* tickets, std::uint32_t log2_slots, broker_state* state)
      : tasks_{tasks}, tickets_{tickets}, log2_slots_{log2_slots}, state_{state} {}

  /// Returns false if the queue is full.
  WARDEN_DEVICE bool push(Task const& task) const {
    auto const slots = static_cast<std::int64_t>(std::uint64_t{1} << log2_slots_);
    auto const count = [](std::uint64_t word) { return static_cast<std::int64_t>(word); };
    for (;;) {
      if (count(simt::load_relaxed(&state_->count)) >= slots) return false;
      if (count(simt::fetch_add_together(&state_->count, 1)) < slots) break;
      simt::fetch_add_together(&state_->count, minus_one);
    }
    simt::fetch_add_together(&state_->unfinished, 1);
    std::uint64_t const position = simt::fetch_add_together(&state_->tail, 1);
    wait_for(position, 0);
    tasks_[slot_of(position)] = task;
    simt::store_release(&tickets_[slot_of(position)], turn_of(position) + 1);
    return true;
  }
  /// Returns false if there is no task.
  WARDEN_DEVICE bool pop(Task& task) const {
    auto const count = [](std::uint64_t word) { return static_cast<std::int64_t>(word); };
    for (;;) {
      if (count(simt::load_relaxed(&state_->count)) <= 0) return false;
      if (count(simt::fetch_add_together(&state_->count, minus_one)) > 0) break;
      simt::fetch_add_together(&state_->count, 1);
    }
    std::uint64_t const position = simt::fetch_add_together(&state_->head, 1);
    wait_for(position, 1);
    task = tasks_[slot_of(position)];
    simt::store_release(&tickets_[slot_of(position)], turn_of(position) + 2);
    return true;
  }
  /// Counts the completion of a popped task.
  WARDEN_DEVICE void complete() const {
    simt::fence_device();
    simt::fetch_add_together(&state_->unfinished, minus_one);
  }
  /// True once no task is left and none is running.
  [[nodiscard]] WARDEN_DEVICE bool has_finished() const {
    return simt::load_acquire(&state_->unfinished) == 0;
  }
  /// Waits until there may be a task, or has_finished().
  WARDEN_DEVICE void wait() const {
    simt::wait_until(
        [&] {
          return static_cast<std::int64_t>(simt::load_relaxed(&state_->count)) > 0 ||
                 simt::load_relaxed(&state_->unfinished) == 0;
        },
        [] { return true; },
        [&](auto watch) {
          watch(&state_->count);
          watch(&state_->unfinished);
        });
  }

 private:
  static constexpr std::uint64_t minus_one = ~std::uint64_t{0};

  [[nodiscard]] WARDEN_DEVICE std::uint64_t slot_of(std::uint64_t position) const {
    return position & ((std::uint64_t{1} << log2_slots_) - 1);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t turn_of(std::uint64_t position) const {
    return 2 * static_cast<std::uint32_t>(position >> log2_slots_);
  }
  WARDEN_DEVICE void wait_for(std::uint64_t position, std::uint32_t ticket) const {
    std::uint32_t* const word = &tickets_[slot_of(position)];
    std::uint32_t const wanted = turn_of(position) + ticket;
    simt::wait_until([&] { return simt::load_acquire(word) == wanted; }, [] { return true; },
                     [&](auto watch) { watch(word); });
  }

  Task* tasks_ = nullptr;
  std::uint32_t* tickets_ = nullptr;
  std::uint32_t log2_slots_ = 0;
  broker_state* state_ = nullptr;
};

/// Memory of a broker queue.
template <class Task>
class broker_queue {
 public:
  explicit broker_queue(std::uint32_t log2_slots)
      : log2_slots_{log2_slots},
        tasks_(std::size_t{1} << log2_slots),
        tickets_(tasks_.size()),
        state_(1) {
    clear_async();
  }
  [[nodiscard]] broker_worker<Task> ref() const {
    return {tasks_.data(), tickets_.data(), log2_slots_, state_.data()};
  }
  void clear_async() {
    tickets_.fill_bytes(0);
    state_.fill_bytes(0);
  }

 private:
  std::uint32_t log2_slots_;
  warden::buffer<Task> tasks_;
  warden::buffer<std::uint32_t> tickets_;
  warden::buffer<broker_state> state_;
};

/// Pushes one task. Called with one warp.
template <class Task>
WARDEN_KERNEL void push_first(broker_worker<Task> queue, Task task) {
  if (simt::thread_rank() == 0) queue.push(task);
}
/// Runs tasks until none is left and none is running.
template <class Task, class Function>
WARDEN_KERNEL void run_broker_tasks(broker_worker<Task> queue, Function f) {
  for (;;) {
    Task task;
    if (queue.pop(task)) {
      f(task, queue);
      queue.complete();
    } else if (queue.has_finished()) {
      return;
    } else {
      queue.wait();
    }
  }
}

}  // namespace task_queues
