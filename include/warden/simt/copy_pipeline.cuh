// SPDX-License-Identifier: Apache-2.0
/// @file
/// A pipeline of stages in shared memory: producer warps fill a stage with rows from global memory
/// while consumer warps read the stages before it. A warp may be both.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/bulk_copy.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// A warp's place in a pipeline of `Stages` stages, as a producer or as a consumer; a warp that is
/// both has one object for each. A producer calls acquire and commit, a consumer wait and release,
/// once for each stage in turn. All are collective over the warp.
///
/// Invariant: stage s is filled for the n-th time after phase n - 1 of `read[s]` has ended, in
/// which each consumer warp has arrived after it read the stage for the last time; and it is read
/// after phase n of `filled[s]` has ended, in which each producer warp has arrived.
template <unsigned Stages>
class copy_pipeline {
 public:
  /// Barriers in shared memory; the memory of the stages is the caller's.
  struct storage {
    phase_barrier filled[Stages];  ///< [stage] arrivals of the producer warps
    phase_barrier read[Stages];    ///< [stage] arrivals of the consumer warps
  };

  /// Prepares the barriers. Collective over the block, with a barrier. Stores that the block's
  /// threads made to the stages before are ordered before all copies.
  WARDEN_DEVICE static void start(storage& barriers, unsigned producer_warps,
                                  unsigned consumer_warps) {
    if (thread_rank() == 0) {
      for (unsigned s = 0; s < Stages; ++s) {
        barriers.filled[s].init(producer_warps);
        barriers.read[s].init(consumer_warps);
      }
    }
    fence_copies();  // mutation: stage-fence
    sync_block();
  }
  /// Ends the use of the barriers. Collective over the block, with barriers. Precondition: each
  /// stage that was committed has been waited for.
  WARDEN_DEVICE static void end(storage& barriers) {
    sync_block();
    if (thread_rank() == 0) {
      for (unsigned s = 0; s < Stages; ++s) {
        barriers.filled[s].end();
        barriers.read[s].end();
      }
    }
    sync_block();
  }

  /// Begins at the first stage. Uses the first `used` stages, the same number in all warps.
  /// Precondition: start() has returned.
  WARDEN_DEVICE explicit copy_pipeline(storage& barriers, unsigned used = Stages)
      : barriers_{&barriers}, used_{used} {}

  /// Number of the stage that is next.
  WARDEN_DEVICE unsigned stage() const { return stage_; }

  /// Waits until the consumer warps have released the stage. Calls `hopeful()` as wait_until does;
  /// returns false once that is false.
  template <class Hopeful>
  WARDEN_DEVICE bool acquire(Hopeful hopeful) {
    if (round_ == 0) return true;
    return barriers_->read[stage_].wait(round_ - 1, hopeful);  // mutation: stage-free
  }
  /// Fills the stage at `to` as gather_rows does, and goes on to the next one.
  WARDEN_DEVICE void commit(std::byte* to, void const* row, unsigned rows, unsigned row_bytes) {
    gather_rows(to, row, rows, row_bytes, barriers_->filled[stage_]);
    advance();
  }

  /// Fills the stage as gather_parts does, and goes on to the next one. What the producer warp's
  /// lane 0 has stored before is visible to consumers that have waited.
  WARDEN_DEVICE void commit_parts(std::byte* to, void const* from, unsigned bytes) {
    gather_parts(to, from, bytes, barriers_->filled[stage_]);
    advance();
  }

  /// Waits until the stage is filled; see acquire.
  template <class Hopeful>
  WARDEN_DEVICE bool wait(Hopeful hopeful) {
    return barriers_->filled[stage_].wait(round_, hopeful);  // mutation: stage-filled
  }
  /// Gives the stage back, and goes on to the next one. Precondition: all lanes have waited.
  WARDEN_DEVICE void release() {
    sync_warp(full_warp);  // mutation: stage-read
    if (lane_id() == 0) barriers_->read[stage_].arrive();
    advance();
  }

 private:
  WARDEN_DEVICE void advance() {
    stage_ = stage_ + 1 == used_ ? 0 : stage_ + 1;
    if (stage_ == 0) ++round_;
  }

  storage* barriers_;
  unsigned used_;
  unsigned stage_ = 0;
  std::uint32_t round_ = 0;  ///< times that all stages were used
};

}  // namespace simt
WARDEN_NAMESPACE_END
