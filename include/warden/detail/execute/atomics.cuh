// SPDX-License-Identifier: Apache-2.0
/// @file
/// The `atomics` executor: runs each section as one atomic on its record, as it is received. No
/// locks, no sorting.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the atomics of one window. See window_server. `OneCopy` uses one copy of a section's code
/// for all messages of a thread, if records are on chip. Sections that search records on chip do
/// not wait for memory, but warps at different places of long code wait for instructions.
template <class Ref, unsigned BytesPerThread, bool OneCopy = false>
class atomics_worker {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Largest number of messages of a thread in one window.
  static constexpr unsigned per_thread =
      std::max<unsigned>(1, BytesPerThread / sizeof(message_type));
  /// See partition_server.
  static constexpr bool by_warps = true;
  static constexpr bool runs_hot = false;  ///< a hot record is run as any other

  /// Bytes of shared memory for `locals` records of the server; windows take none.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals, unsigned) {
    return layout{locals}.carver.bytes();
  }

  /// For server `number`, with shared memory for the block.
  WARDEN_DEVICE atomics_worker(Ref const& ref, std::uint32_t number, std::byte* storage)
      : ref_{ref}, records_{ref, number, layout{ref.locals}.records.in(storage)} {}

  /// Loads the records. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const { records_.load(); }
  /// Runs each message at once: atomics exclude one another.
  WARDEN_DEVICE void take(message_type const (&m)[per_thread], unsigned arrived) const {
    if constexpr (OneCopy && record_store<Ref>::on_chip) {
      take_one_by_one(m, arrived);
    } else {
      WARDEN_UNROLL
      for (unsigned k = 0; k < per_thread; ++k) {
        if ((arrived >> k & 1u) != 0) run(m[k]);
      }
    }
  }
  /// Does nothing: the whole window has run.
  WARDEN_DEVICE void execute(message_type const (&)[per_thread], unsigned) const {}
  /// Writes the records back. Collective.
  WARDEN_DEVICE void finish() const { records_.write_back(); }

 private:
  WARDEN_DEVICE void run(message_type const& m) const {
    typename Ref::reply_type to_caller[1];
    section_runner{ref_}.apply_atomic(m, records_.at(m.local()), to_caller[0]);
    section_runner{ref_}.reply(to_caller);
  }
  /// Runs the messages one after another. They move up, because registers cannot be indexed.
  /// Collective over the warp, whose lanes meet before each message, so that a lane that is late
  /// for one is not late for all that follow.
  WARDEN_DEVICE void take_one_by_one(message_type const (&m)[per_thread], unsigned arrived) const {
    message_type next[per_thread];
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) next[k] = m[k];
    WARDEN_NO_UNROLL
    for (unsigned left = arrived; simt::any(simt::full_warp, left != 0); left >>= 1) {
      if ((left & 1u) != 0) run(next[0]);
      WARDEN_UNROLL
      for (unsigned k = 0; k + 1 < per_thread; ++k) next[k] = next[k + 1];  // mutation: next-atomic
    }
  }

  struct layout {
    std::size_t locals;
    arena_carver carver{};
    arena_piece<typename Ref::record> records = record_store<Ref>::carve(carver, locals);
  };

  Ref const& ref_;
  record_store<Ref> records_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
