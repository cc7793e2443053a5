// SPDX-License-Identifier: Apache-2.0
/// @file
/// Barrier for all blocks of a cooperative launch, so that a kernel of many steps needs neither the
/// host nor another launch between two steps.
#pragma once

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <string>

namespace apps {

namespace simt = warden::simt;

/// Longest wait of a block for other blocks before the launch is given up.
struct barrier_limit {
  std::uint64_t nanoseconds = 10'000'000'000ull;  ///< time in which no block arrives
  /// Time alone is no proof: a preempted thread must also have looked this often.
  std::uint32_t minimum_looks = 64;
};

/// Wait that was given up.
struct failed_barrier {
  std::uint32_t block;    ///< block that waited
  std::uint32_t blocks;   ///< blocks of the launch
  std::uint64_t barrier;  ///< number of the launch's barriers before this one
  std::uint64_t arrived;  ///< blocks that had arrived
};

/// Shared state of the blocks of a launch, in device memory; zeroed in the stream before it.
struct grid_barrier_state {
  alignas(128) std::uint64_t arrivals;  ///< arrivals of all blocks at all barriers
  alignas(128) std::uint32_t failed;    ///< 1 if a wait has failed
  failed_barrier first;  ///< first failed wait; only the host reads it, after the launch
};

/// One block's part in the barriers of a launch. All blocks pass the same barriers, all of them
/// resident: a cooperative launch. All threads of a block have one each, with equal contents.
class grid_barrier {
  // The first thread of each block arrives for its block and waits for the others.
  //
  // The writes of any thread before the barrier are visible to all threads after it. The block's
  // barrier makes the writes of its threads known to the first thread, whose fence releases all of
  // them with the addition that follows. Every addition replaces the one before, so the sum that a
  // waiting thread finds hands on the releases of all blocks; its load, the fence after it and the
  // block's barrier acquire them for the threads of its block. Both fences are made by the first
  // thread alone, on the inner side of a barrier of its block: only there do they cover the other
  // threads.
 public:
  WARDEN_DEVICE explicit grid_barrier(grid_barrier_state* state, barrier_limit limit = {})
      : state_{state}, limit_{limit} {}

  /// Waits for all blocks. The block's first thread calls `before()` when all threads of the block
  /// have come: its writes count as writes before the barrier. The same thread calls `after()` when
  /// all blocks have come and before its own block goes on. Collective. Returns false once a wait
  /// has failed, this one or another block's: then every thread of the block must leave the kernel,
  /// whose results are invalid.
  template <class Before, class After>
  WARDEN_DEVICE bool wait(Before before, After after) {
    simt::sync_block();  // mutation: grid-block
    bool failed = false;
    if (simt::thread_rank() == 0) {
      before();
      failed = !arrive_and_wait();
      if (!failed) after();
    }
    ++passed_;
    return !simt::sync_block_or(failed);
  }
  /// Waits without calling functions.
  WARDEN_DEVICE bool wait() {
    return wait([] {}, [] {});
  }

 private:
  /// Number of polls without a pause. Other blocks usually arrive within microseconds, and pauses
  /// would lengthen each wait. Longer waits pause between polls.
  static constexpr unsigned eager_looks = simt::has_registers ? 32 : 1;

  WARDEN_DEVICE bool arrive_and_wait() {
    simt::fence_device();  // mutation: grid-release
    simt::fetch_add(&state_->arrivals, std::uint64_t{1});
    std::uint64_t const all =
        (std::uint64_t{passed_} + 1) * simt::block_count();  // mutation: grid-early
    unsigned eager = eager_looks;
    std::uint64_t seen = 0, since = 0;
    std::uint32_t looks = 0;
    bool const came = simt::wait_until(
        [&] {
          do {
            if (simt::load_relaxed(&state_->arrivals) >= all) return true;
          } while (eager != 0 && --eager != 0);
          return false;
        },
        [&] {
          if (simt::load_relaxed(&state_->failed) != 0) return false;
          std::uint64_t const now = simt::nanoseconds();
          std::uint64_t const arrivals = simt::load_relaxed(&state_->arrivals);
          if (arrivals != seen || looks == 0) {
            seen = arrivals;
            since = now;
            looks = 0;
          }
          ++looks;
          if (now - since < limit_.nanoseconds || looks < limit_.minimum_looks) return true;
          give_up(state_, passed_, arrivals);
          return false;
        },
        [&](auto watch) { watch(&state_->arrivals); });
    simt::fence_device();  // mutation: grid-acquire
    // A block that gave up may have left, and its shared memory with it.
    return came && simt::load_relaxed(&state_->failed) == 0;
  }
  /// Records a failed wait. Takes its arguments by value, because an object whose address is passed
  /// stays in local memory in the caller.
  WARDEN_COLD static void give_up(grid_barrier_state* state, std::uint64_t passed,
                                  std::uint64_t arrivals) {
    if (simt::compare_exchange(&state->failed, 0u, 1u) != 0) return;
    std::uint64_t const before = passed * simt::block_count();
    state->first = {simt::block_rank(), simt::block_count(), passed, arrivals - before};
  }

  grid_barrier_state* state_;
  barrier_limit limit_;
  std::uint32_t passed_ = 0;  ///< number of barriers passed; fewer than 2^32 in a launch
};

/// Returns the text of the error of a launch whose barrier failed.
inline std::string error_text(failed_barrier const& f, barrier_limit const& limit = {}) {
  return "block " + std::to_string(f.block) + " waited " +
         std::to_string(limit.nanoseconds / 1'000'000) + " ms at barrier " +
         std::to_string(f.barrier) + ", where " + std::to_string(f.arrived) + " of " +
         std::to_string(f.blocks) + " blocks have arrived";
}

}  // namespace apps
