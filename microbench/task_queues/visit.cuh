// SPDX-License-Identifier: Apache-2.0
// Tasks of the trees.
#pragma once

#include "microbench/task_queues/queues.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>
#include <memory>

namespace task_queues {

WARDEN_HOST_DEVICE std::uint32_t hash(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Steps that a task takes.
struct task_cost {
  std::uint32_t usual;  ///< steps of most tasks
  std::uint32_t many;   ///< steps of 1 of 64 tasks

  /// Takes the steps of a vertex. Returns 1, and the highest bit as the steps decide, so that the
  /// compiler leaves none out.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t work(std::uint32_t vertex) const {
    std::uint32_t const random = hash(vertex);
    std::uint32_t value = random;
    for (std::uint32_t k = random % 64 == 0 ? many : usual; k != 0; --k) value = hash(value + k);
    return 1 + (value & 0x80000000u);
  }
};
/// Runs the task of a vertex: counts it, takes some steps, and pushes its children. It runs
/// children that a full queue refuses itself; if they are too many, the check finds lost tasks.
struct visit {
  std::uint32_t const* first;  ///< the first child of each vertex; null if each vertex has two
  std::uint32_t size;          ///< vertices
  std::uint32_t* ran;          ///< times that each vertex was visited
  task_cost cost;              ///< steps of the tasks

  template <class Worker>
  __device__ void operator()(std::uint32_t vertex, Worker& worker) const {
    std::uint32_t own[most_refused];
    unsigned refused = 0;
    for (;;) {
      simt::add(&ran[vertex], cost.work(vertex));
      std::uint32_t child = first == nullptr ? 2 * vertex + 1 : first[vertex];
      std::uint32_t end = first == nullptr ? 2 * vertex + 3 : first[vertex + 1];
      if (end > size) end = size;
      for (; child < end; ++child) {
        if (!worker.push(child) && refused < most_refused) own[refused++] = child;
      }
      if (refused == 0) return;
      vertex = own[--refused];
    }
  }

  static constexpr unsigned most_refused = 64;
};

/// Returns a runner of the tree with two children for each vertex, by a fused launch whose sections
/// send sections: a guarded array of the counts of all vertices.
std::unique_ptr<task_runner<std::uint32_t, visit>> make_fused_runner();

}  // namespace task_queues
