// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texts of a task queue's errors.
#pragma once

#include <warden/detail/queue/queue_control.cuh>
#include <warden/error.hpp>

#include <cstdint>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns "1 task", or "60 tasks".
inline std::string tasks_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " task" : " tasks");
}
/// Returns the text about fills of which `refused` tasks had no room.
inline std::string fill_refused_text(std::uint64_t refused, std::uint64_t capacity) {
  return "task queue: the queue was full and refused " + tasks_text(refused) +
         " of fills; its capacity is " + std::to_string(capacity) + ": make it larger";
}
/// Adds the errors of a task queue of `capacity` tasks.
inline void add_errors(error_list& found, queue_control const& control, std::uint64_t capacity,
                       double limit_seconds) {
  if (control.health.poisoned != 0) {
    diagnosis cause;
    cause.wait = control.health.first;
    cause.limit_seconds = limit_seconds;
    found.add(std::move(cause));
  }
  if (control.refused != 0) {
    found.add(error_type::limit, fill_refused_text(control.refused, capacity), control.refused);
  }
  if (control.left != 0) {
    found.add(error_type::limit,
              "task queue: blocks left with " + tasks_text(control.left) +
                  " that the full queue had no room for; its capacity is " +
                  std::to_string(capacity) +
                  ": make it larger, or call pop() until it returns finished",
              control.left);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
