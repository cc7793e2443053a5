// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that all users of a task queue share, and that the host reads.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Answer of a worker's `pop`.
enum class pop_result : std::uint32_t {
  task,      ///< the calling thread has a task
  empty,     ///< the calling thread has no task; uncompleted tasks may still push some
  finished,  ///< no task is left and none is running, or the queue failed; final
};

namespace detail {

/// The lowest bits of `unfinished` count tasks, the bits above it changes of that number.
inline constexpr unsigned unfinished_bits = 40;

/// State of one ring in device memory, initially 0. Words that many threads change have a cache
/// line each.
struct ring_control {
  alignas(128) std::int64_t room;       ///< free slots that no push has claimed, less the capacity
  alignas(128) std::int64_t available;  ///< announced tasks that no pop has claimed
  alignas(128) std::uint64_t tail;      ///< position of the next push
  alignas(128) std::uint64_t head;      ///< position of the next pop
  alignas(128) std::uint64_t fill_first;  ///< first position of the fill under way
  std::uint32_t fill_count;               ///< tasks that it puts into this ring
  std::uint32_t fill_begin;               ///< the first of these tasks
};

/// State of a queue in device memory, initially 0.
struct queue_control {
  alignas(128) std::uint64_t unfinished;  ///< tasks pushed and not completed, see above
  alignas(128) std::int64_t queued;       ///< available tasks of all rings, if there are several
  alignas(128) std::uint32_t hungry;      ///< threads and blocks that wait for a task
  alignas(128) launch_health health;      ///< poisoned if a wait took too long
  std::uint64_t refused;                  ///< tasks that a fill had no room for
  std::uint64_t left;                     ///< tasks that blocks had when they left a full queue

  /// Adds `more` to the number of uncompleted tasks, and counts the change. Called by one thread.
  WARDEN_DEVICE void count_tasks(std::int64_t more) {
    simt::add(&unfinished,
              (std::uint64_t{1} << unfinished_bits) + static_cast<std::uint64_t>(more));
  }
  /// Returns the number of uncompleted tasks in a value of `unfinished`.
  WARDEN_HOST_DEVICE static std::uint64_t tasks_in(std::uint64_t word) {
    return word & ((std::uint64_t{1} << unfinished_bits) - 1);
  }
  /// True once no task is left and none is running. The caller then sees what all tasks wrote.
  [[nodiscard]] WARDEN_DEVICE bool has_finished() const {
    return tasks_in(simt::load_acquire(&unfinished)) == 0;  // mutation: task-end
  }
  /// Poisons the launch: the calling thread has waited too long for a task, or for the slot of
  /// position `index`. The rings have `in_rings` tasks.
  WARDEN_DEVICE void give_up(wait_kind kind, std::uint64_t index, std::int64_t in_rings) {
    failed_wait failure{};
    failure.kind = kind;
    failure.block = simt::block_rank();
    failure.thread = simt::thread_rank();
    failure.channel = in_rings < 0 ? 0 : static_cast<std::uint32_t>(in_rings);
    failure.index = kind == wait_kind::task ? tasks_in(simt::load_relaxed(&unfinished)) : index;
    failure.client_blocks = simt::block_count();
    failure.client_blocks_done = simt::load_relaxed(&hungry);
    poison(&health, failure);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
