// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tasks that a block of a cluster gives to another one, through distributed shared memory.
#pragma once

#include <warden/detail/queue/task_ring.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// An inbox in the shared memory of each block of a cluster. A block without a task opens its
/// inbox. Another block claims the open inbox, stores tasks there, and delivers them. One thread
/// opens, claims, delivers and looks; all threads of a block store and load.
///
/// The word `open` is a semaphore: only the block that subtracts 1 from a 1 may store, until the
/// inbox is opened again. So no store meets another one or a load.
template <unsigned Threads, class Task>
class cluster_exchange {
  using words = task_words<Task>;

 public:
  /// Shared memory of the block, at the same place in all blocks of the cluster; uninitialized.
  struct storage {
    words inbox[Threads];
    std::uint32_t open;   ///< 1 while the inbox is open; briefly less by the claims that fail
    std::uint32_t count;  ///< tasks that were delivered and not taken
  };

  /// Constructs closed inboxes. Collective over the cluster.
  WARDEN_DEVICE explicit cluster_exchange(storage& memory) : memory_{memory} {
    if (simt::thread_rank() == 0) {
      simt::shared_store(memory_.open, 0u);
      simt::shared_store(memory_.count, 0u);
    }
    simt::sync_cluster();
  }
  /// Keeps the block's shared memory until no other block uses it. Collective over the cluster.
  WARDEN_DEVICE ~cluster_exchange() { simt::sync_cluster(); }
  cluster_exchange(cluster_exchange const&) = delete;
  cluster_exchange& operator=(cluster_exchange const&) = delete;

  /// Opens the block's inbox, unless it is open or claimed, or has tasks.
  WARDEN_DEVICE void open() {
    if (is_open_) return;
    is_open_ = true;
    simt::fence_device();  // after the loads of earlier tasks
    simt::cluster_add(memory_.open, simt::cluster_rank(), 1u);
  }
  /// Returns the rank of another block whose inbox is open, or that of the calling block. Called by
  /// the first warp; all lanes get the result.
  [[nodiscard]] WARDEN_DEVICE unsigned find_open() const {
    unsigned const own = simt::cluster_rank(), lane = simt::lane_id();
    bool const is_other = lane < simt::cluster_size() && lane != own;
    bool const is_open = is_other && simt::cluster_load(memory_.open, lane) == 1;
    unsigned const found = simt::ballot(simt::full_warp, is_open);
    if (found == 0) return own;
    // Blocks begin at different ranks, so that they do not all claim the same inbox.
    unsigned const later = found & ~((2u << own) - 1);
    return static_cast<unsigned>(simt::first_bit(later != 0 ? later : found));
  }
  /// Claims the inbox of another block. Returns false if it is not open.
  [[nodiscard]] WARDEN_DEVICE bool claim(unsigned rank) const {
    bool const is_claimed = simt::cluster_fetch_add(memory_.open, rank, ~0u) == 1;
    if (!is_claimed) simt::cluster_add(memory_.open, rank, 1u);
    simt::fence_device();  // before the stores of tasks
    return is_claimed;
  }
  /// Stores task `i` into a claimed inbox.
  WARDEN_DEVICE void store(unsigned rank, unsigned i, words const& task) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < words::count; ++k)
      simt::cluster_store(memory_.inbox[i].words[k], rank, task.words[k]);
  }
  /// Delivers the `count` tasks that the block has stored, after a block barrier.
  WARDEN_DEVICE void deliver(unsigned rank, std::uint32_t count) const {
    simt::fence_device();
    simt::cluster_store(memory_.count, rank, count);  // mutation: task-delivered
  }

  /// Returns the number of tasks in the block's inbox. A block barrier lets all threads load them.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t delivered() const {
    std::uint32_t const count = simt::cluster_load(memory_.count, simt::cluster_rank());
    if (count != 0) simt::fence_device();
    return count;
  }
  /// Loads task `i` of the block's inbox.
  [[nodiscard]] WARDEN_DEVICE words load(unsigned i) const {
    words task;
    WARDEN_UNROLL
    for (unsigned k = 0; k < words::count; ++k)
      task.words[k] = simt::cluster_load(memory_.inbox[i].words[k], simt::cluster_rank());
    return task;
  }
  /// Empties the inbox, after a block barrier that follows the loads.
  WARDEN_DEVICE void clear() {
    simt::cluster_store(memory_.count, simt::cluster_rank(), 0u);
    is_open_ = false;
  }
  /// Returns the word that a delivery changes.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t const& word() const { return memory_.count; }

 private:
  storage& memory_;
  bool is_open_ = false;  ///< for the first thread
};

/// Replaces a cluster_exchange for policies without one.
struct no_exchange {
  struct storage {};
  WARDEN_DEVICE explicit no_exchange(storage&) {}
};

}  // namespace detail
WARDEN_NAMESPACE_END
