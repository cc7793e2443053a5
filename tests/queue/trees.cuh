// SPDX-License-Identifier: Apache-2.0
// Trees of tasks: a task is a vertex, and pushes its children.
#pragma once

#include <warden/task_queue.cuh>

#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>

#include <cstdint>
#include <vector>

namespace test {

/// A tree of `vertices` vertices as kernels see it. The children of v are first[v] to first[v + 1]
/// - 1.
struct tree_view {
  std::uint32_t const* first;
  std::uint32_t vertices;
  std::uint32_t* ran;      ///< times that the task of a vertex ran
  std::uint64_t* message;  ///< written by the parent's task, before its push

  /// Runs the task of a vertex: checks the parent's message and writes those of the children.
  WARDEN_DEVICE void visit(std::uint32_t vertex) const {
    namespace simt = warden::simt;
    simt::demand_visible(&message[vertex]);
    simt::fetch_add(&ran[vertex], message[vertex] == mix(vertex) ? 1u : 0x10000u);
    for (std::uint32_t child = first[vertex]; child < first[vertex + 1]; ++child) {
      message[child] = mix(child);
      simt::note_written(&message[child]);
    }
  }
  /// Checks all messages, by the last thread of a block. Called after the end.
  WARDEN_DEVICE void check_all() const {
    namespace simt = warden::simt;
    if (simt::thread_rank() != simt::block_threads() - 1) return;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      simt::demand_visible(&message[v]);
      if (message[v] != mix(v)) simt::fetch_add(&ran[v], 0x10000u);
    }
  }
};

/// A task of `Words` words: the vertex, and numbers derived from it.
template <int Words>
struct vertex_task {
  std::uint32_t words[Words];

  WARDEN_HOST_DEVICE static vertex_task of(std::uint32_t vertex) {
    vertex_task t;
    for (int i = 0; i < Words; ++i) t.words[i] = vertex + 1000003u * static_cast<std::uint32_t>(i);
    return t;
  }
  /// Returns the vertex, or 0 for a torn task.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t vertex() const {
    for (int i = 0; i < Words; ++i) {
      if (words[i] != words[0] + 1000003u * static_cast<std::uint32_t>(i)) return 0;
    }
    return words[0];
  }
};

/// Visits a vertex and pushes its children. It visits children that the full queue refuses itself.
template <class Task>
struct visit_and_push {
  tree_view tree;

  template <class Worker>
  __device__ void operator()(Task const& task, Worker& worker) const {
    std::uint32_t own[128];
    unsigned size = 0;
    own[size++] = task.vertex();
    while (size != 0) {
      std::uint32_t const vertex = own[--size];
      tree.visit(vertex);
      for (std::uint32_t child = tree.first[vertex]; child < tree.first[vertex + 1]; ++child) {
        if (!worker.push(Task::of(child))) own[size++] = child;
      }
    }
  }
};

/// A tree with up to 3 children for each vertex, numbered level by level, of at least `vertices`
/// vertices. Its 1.5 children on average make it so flat that the stack of `visit_and_push` is
/// large enough.
class random_tree {
 public:
  random_tree(std::uint32_t vertices, std::uint64_t seed, std::uint32_t roots = 4)
      : roots_{roots},
        first_{grown(vertices, seed, roots)},
        device_first_{first_},
        ran_{size()},
        message_{size()} {
    EXPECT_GE(size(), vertices) << "the tree of seed " << seed << " died out";
    reset();
  }

  /// Forgets what ran.
  void reset(warden::stream_ref s = {}) {
    ran_.fill_bytes(0, s);
    std::vector<std::uint64_t> messages(size());
    for (std::uint32_t v = 0; v < roots_; ++v) messages[v] = mix(v);
    warden::copy(message_.data(), messages.data(), messages.size(), s);
    s.synchronize();
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  [[nodiscard]] tree_view view() const {
    return {device_first_.data(), size(), ran_.data(), message_.data()};
  }
  /// Returns the tasks of the roots, in device memory.
  template <class Task>
  [[nodiscard]] warden::buffer<Task> roots() const {
    std::vector<Task> tasks;
    for (std::uint32_t v = 0; v < roots_; ++v) tasks.push_back(Task::of(v));
    return warden::buffer<Task>{tasks};
  }
  /// Expects that each task ran `times` times.
  void expect_all(std::uint32_t times = 1, warden::stream_ref s = {}) const {
    std::vector<std::uint32_t> const ran = ran_.to_host(s);
    for (std::uint32_t v = 0; v < size(); ++v) {
      ASSERT_EQ(ran[v] & 0xffff, times) << "vertex " << v << ": tasks lost or doubled";
      ASSERT_EQ(ran[v] >> 16, 0u) << "vertex " << v << ": message of the parent not visible";
    }
  }

 private:
  static std::vector<std::uint32_t> grown(std::uint32_t vertices, std::uint64_t seed,
                                          std::uint32_t roots) {
    std::vector<std::uint32_t> first{roots};
    for (std::uint32_t v = 0; v < first.back(); ++v) {
      std::uint32_t const size = first.back();
      auto const children = static_cast<std::uint32_t>(mix(seed * 1000003 + v) % 4);
      first.push_back(size < vertices ? size + children : size);
    }
    return first;
  }

  std::uint32_t roots_;
  std::vector<std::uint32_t> first_;
  warden::buffer<std::uint32_t> device_first_, ran_;
  warden::buffer<std::uint64_t> message_;
};

/// Threads visit vertices, each by itself.
template <class Ref>
WARDEN_KERNEL void visit_by_threads(Ref queue, tree_view tree) {
  using task = typename Ref::task_type;
  warden::thread_worker<Ref> worker{queue};
  for (;;) {
    task t;
    warden::pop_result const got = worker.pop(t);
    if (got == warden::pop_result::finished) break;
    if (got == warden::pop_result::task) {
      visit_and_push<task>{tree}(t, worker);
    } else {
      worker.wait();
    }
  }
  tree.check_all();
}
/// Warps visit vertices. The lanes push their children together, one of each at a time, and the
/// queue has room for all.
template <class Ref>
WARDEN_KERNEL void visit_by_warps(Ref queue, tree_view tree) {
  using task = typename Ref::task_type;
  namespace simt = warden::simt;
  warden::warp_worker<Ref> worker{queue};
  for (;;) {
    task t;
    warden::pop_result const got = worker.pop(t);
    if (got == warden::pop_result::finished) break;
    bool const has_task = got == warden::pop_result::task;
    if (has_task) tree.visit(t.vertex());
    std::uint32_t const first = has_task ? tree.first[t.vertex()] : 0;
    std::uint32_t const end = has_task ? tree.first[t.vertex() + 1] : 0;
    for (std::uint32_t k = 0; simt::any(simt::full_warp, first + k < end); ++k) {
      bool const has_child = first + k < end;
      if (!worker.push(task::of(first + k), has_child) && has_child)
        simt::fetch_add(&tree.ran[first + k], 0x20000u);
    }
    worker.wait();
  }
  tree.check_all();
}
/// Blocks visit vertices, as `run_tasks` does.
template <unsigned Threads, class Ref>
WARDEN_KERNEL void visit_by_blocks(Ref queue, tree_view tree) {
  using worker_type = warden::block_worker<Threads, Ref>;
  WARDEN_SHARED(typename worker_type::storage, storage);
  worker_type worker{queue, storage};
  for (;;) {
    typename Ref::task_type t;
    warden::pop_result const got = worker.pop(t);
    if (got == warden::pop_result::finished) break;
    if (got == warden::pop_result::task) visit_and_push<typename Ref::task_type>{tree}(t, worker);
    worker.wait();
  }
  tree.check_all();
}

/// Limits for tests whose waits end early.
inline constexpr warden::time_limit short_limit{500'000'000, 64};

}  // namespace test
