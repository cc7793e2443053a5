// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies of a task queue: which tasks a block keeps, and which it gives to a ring.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
/// Policies of a task queue.
namespace queue_policy {

/// Facts by which a policy decides how many of a block's tasks go to its ring, the oldest first.
struct block_state {
  unsigned size;       ///< tasks of the block
  unsigned room;       ///< tasks that the block has memory for
  unsigned threads;    ///< threads of the block
  bool others_wait;    ///< true if other blocks had no task a moment ago
  bool ring_is_empty;  ///< true if the ring had no task a moment ago
};

/// One ring for all tasks: first in, first out, while it has room.
struct central {
  static constexpr bool several_rings = false;  ///< true if blocks have different rings
  static constexpr bool looks = false;          ///< true if `given` uses the last two facts
  /// Returns the number of tasks that go to the ring.
  WARDEN_HOST_DEVICE static unsigned given(block_state const& block) {
    return block.size;  // mutation: task-order
  }
};
/// A block keeps its tasks in shared memory. It takes the oldest first, or the newest if more than
/// half of that memory is full. It gives the older half to the ring if the memory is 3/4 full, and
/// takes from the ring if it has no task.
struct per_block {
  static constexpr bool several_rings = false;  ///< see central
  static constexpr bool looks = false;          ///< see central
  /// See central.
  WARDEN_HOST_DEVICE static unsigned given(block_state const& block) {
    return block.size > block.room / 4 * 3 ? block.size / 2 : 0;
  }
};
/// As `per_block`. In addition, a block gives the older half of its tasks to the ring if other
/// blocks wait for a task and the ring has none.
struct donating {
  static constexpr bool several_rings = false;  ///< see central
  static constexpr bool looks = true;           ///< see central
  /// See central.
  WARDEN_HOST_DEVICE static unsigned given(block_state const& block) {
    return block.others_wait && block.ring_is_empty ? block.size / 2 : per_block::given(block);
  }
};
/// As `per_block`, with several rings. In addition, a block gives older tasks to its ring if the
/// ring has none, and the block has more than one for each thread or other blocks wait: half, or
/// all but one for each thread if these are more. A block whose ring has no task takes tasks of
/// another ring.
struct stealing {
  static constexpr bool several_rings = true;  ///< see central
  static constexpr bool looks = true;          ///< see central
  /// See central.
  WARDEN_HOST_DEVICE static unsigned given(block_state const& block) {
    bool const gives = block.ring_is_empty && (block.others_wait || block.size > block.threads);
    if (!gives) return per_block::given(block);
    unsigned const half = block.size / 2;
    return block.size > half + block.threads ? block.size - block.threads : half;
  }
};

}  // namespace queue_policy
WARDEN_NAMESPACE_END
