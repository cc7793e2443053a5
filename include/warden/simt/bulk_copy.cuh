// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies from global to shared memory that run while threads do other work, and barriers whose
/// phases end when threads have arrived and copies have brought their bytes. From compute
/// capability 9.0 on the hardware copies. Below, the threads load and store 16 bytes at a time,
/// and the copies have ended when the call returns. `has_bulk_copies()` is true if the hardware
/// copies.
///
/// The hardware accesses memory by the async proxy, threads by the generic proxy. What orders one
/// access before a later one:
/// - `init`, before a copy that signals the barrier: `fence_copies()` by the thread of `init`, then
///   a barrier of the threads.
/// - A thread's store to the source or the destination, before a copy: `fence_copies()` by the
///   storing thread, then a barrier of the threads.
/// - A thread's load from the destination, before a copy that overwrites it: a barrier of the
///   threads. It needs no fence, because the value has come before the thread reaches the barrier.
/// - A copy, before a thread's loads and stores at its destination and stores at its source: `wait`
///   for the copy's phase.
/// [PTX ISA 8.0, "Asynchronous copy", "mbarrier: tracking asynchronous operations",
/// "Memory Consistency Model: proxy-preserved base causality order"]
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/simt.cuh>

#if defined(WARDEN_GPU)
#  include <warden/simt/cuda_bulk_copy.cuh>
#else
#  include <warden/simt/simulated_bulk_copy.cuh>
#endif

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Bytes that an address and a size of a bulk copy must be multiples of.
inline constexpr unsigned bulk_copy_alignment = 16;
/// Most bytes of the copies of one phase.
inline constexpr unsigned most_phase_bytes = (1u << 20) - 1;

/// A barrier in shared memory with phases 0, 1, 2, ... A phase ends when its arrivals and the bytes
/// that they announced have come; then the next one begins.
class phase_barrier {
 public:
  /// Begins phase 0. Called by one thread. `fence_copies()` by this thread and a barrier of all
  /// threads follow. Precondition: `arrivals`, of each phase, is from 1 to 1,024.
  WARDEN_DEVICE void init(unsigned arrivals, site where = site::current()) {
    detail::init_phases(words_, arrivals, where);
  }
  /// Ends the use of the barrier, so that its memory can have another use. Called by one thread.
  /// Precondition: no thread waits, no copy is under way, and a barrier of the threads follows.
  WARDEN_DEVICE void end(site where = site::current()) { detail::end_phases(words_, where); }

  /// Arrives in the current phase. Releases what the thread has written to threads that wait.
  WARDEN_DEVICE void arrive(site where = site::current()) { detail::arrive(words_, where); }
  /// Arrives, and lets the phase wait for `bytes` more bytes of copies. The copies may begin before
  /// or after the call. Precondition below compute capability 9.0: the thread that has made these
  /// copies calls, after them.
  WARDEN_DEVICE void arrive_with_bytes(unsigned bytes, site where = site::current()) {
    detail::arrive_with_bytes(words_, bytes, where);
  }

  /// Waits until `phase` has ended. Then what its arrivals released and its copies wrote is visible
  /// to the calling thread. Calls `hopeful()` as wait_until does; returns false once that is false.
  /// Precondition: the phase before has ended, and the phase after it has not.
  template <class Hopeful>
  WARDEN_DEVICE bool wait(std::uint32_t phase, Hopeful hopeful,
                          site where = site::current()) const {
    return detail::wait_for_phase(words_, phase, hopeful, where);
  }

 private:
  friend WARDEN_DEVICE void copy_bulk(void*, void const*, unsigned, phase_barrier&, site);

  detail::phase_words words_;
};

namespace detail {
/// Copies a thread's share of `pieces` pieces of 16 bytes: piece `first` and each `step`-th after
/// it, from `from(piece)` to `to + piece * 16`. Lanes that call it together call `from` together,
/// also for pieces beyond the last one.
template <class From>
WARDEN_DEVICE void copy_pieces(std::byte* to, unsigned first, unsigned step, unsigned pieces,
                               From from, site where) {
  constexpr unsigned batch = 4;  // loads under way at a time
  for (unsigned base = first; base - first < pieces; base += batch * step) {
    std::uint32_t words[batch][4];
    WARDEN_UNROLL
    for (unsigned j = 0; j < batch; ++j) {
      std::byte const* const at = from(base + j * step);
      if (base + j * step < pieces) load_four_words(at, words[j]);
    }
    WARDEN_UNROLL
    for (unsigned j = 0; j < batch; ++j) {
      unsigned const piece = base + j * step;
      if (piece < pieces)
        shared_store_four_words(to + piece * bulk_copy_alignment, words[j], where);
    }
  }
}
}  // namespace detail

/// Copies `bytes` bytes from global to shared memory, in the current phase of `barrier`, which one
/// thread's `arrive_with_bytes` announces. By one thread: lanes that call it at once start a copy
/// each. Precondition: both addresses and `bytes`, which is not 0, are multiples of
/// `bulk_copy_alignment`; the caller loads and stores what is not.
///
/// Below compute capability 9.0 the calling thread copies; the functions below are faster there.
WARDEN_DEVICE void copy_bulk(void* to, void const* from, unsigned bytes, phase_barrier& barrier,
                             site where = site::current()) {
  if (has_bulk_copies()) return detail::start_copy(to, from, bytes, barrier.words_, where);
  auto const piece_at = [&](unsigned piece) {
    return static_cast<std::byte const*>(from) + piece * bulk_copy_alignment;
  };
  detail::copy_pieces(static_cast<std::byte*>(to), 0, 1, bytes / bulk_copy_alignment, piece_at,
                      where);
}

/// Copies one row. Arrives once at `barrier`, in whose current phase the row comes. Collective over
/// the lanes of the mask `group`, from one place of the source, with equal arguments. It begins
/// with a barrier of these lanes, so that they have read what the row overwrites, and have seen the
/// end of the phase before. Precondition: as copy_bulk's.
WARDEN_DEVICE void copy_row(unsigned group, std::byte* to, void const* row, unsigned bytes,
                            phase_barrier& barrier, site where = site::current()) {
  auto const rank = static_cast<unsigned>(count_bits(group & ((1u << lane_id()) - 1)));
  group_sync(group, where);  // mutation: row-met
  if (has_bulk_copies()) {
    if (rank != 0) return;
    barrier.arrive_with_bytes(bytes, where);
    return copy_bulk(to, row, bytes, barrier, where);
  }
  auto const piece_at = [&](unsigned piece) {
    return static_cast<std::byte const*>(row) + piece * bulk_copy_alignment;
  };
  detail::copy_pieces(to, rank, static_cast<unsigned>(count_bits(group)),
                      bytes / bulk_copy_alignment, piece_at, where);
  group_sync(group, where);  // mutation: row-stored
  if (rank == 0) barrier.arrive(where);
}

/// Copies one row for each of the first `rows` lanes: the row at `row` of lane i to
/// `to + i * row_bytes`. Arrives once at `barrier`, in whose current phase the rows come.
/// Collective over the warp; all arguments but `row` are the same in all lanes. It begins with a
/// barrier of the warp, as copy_row. Precondition: as copy_bulk's, and `rows` is at most 32.
WARDEN_DEVICE void gather_rows(std::byte* to, void const* row, unsigned rows, unsigned row_bytes,
                               phase_barrier& barrier, site where = site::current()) {
  unsigned const lane = lane_id();
  sync_warp(full_warp);  // mutation: rows-met
  if (has_bulk_copies()) {
    if (lane == 0) barrier.arrive_with_bytes(rows * row_bytes, where);
    if (lane < rows) copy_bulk(to + lane * row_bytes, row, row_bytes, barrier, where);
    return;
  }
  // All lanes copy each row, so that they load neighbouring bytes.
  unsigned const in_row = row_bytes / bulk_copy_alignment, last = rows - 1;
  auto const own = reinterpret_cast<std::uintptr_t>(row);
  auto const piece_at = [&](unsigned piece) {
    unsigned const of = piece / in_row < last ? piece / in_row : last;
    auto const* const from = reinterpret_cast<std::byte const*>(shuffle(full_warp, own, of));
    return from + (piece - of * in_row) * bulk_copy_alignment;
  };
  detail::copy_pieces(to, lane, warp_size, rows * in_row, piece_at, where);
  sync_warp(full_warp);  // mutation: rows-stored
  if (lane == 0) barrier.arrive(where);
}

/// Copies `bytes` bytes from `from` to `to` for each lane, which may have none. Arrives once at
/// `barrier`, in whose current phase the bytes come. Collective over the warp. It begins with a
/// barrier of the warp, as copy_row. Precondition: as copy_bulk's, but `bytes` may be 0.
WARDEN_DEVICE void gather_parts(std::byte* to, void const* from, unsigned bytes,
                                phase_barrier& barrier, site where = site::current()) {
  unsigned const all = warp_sum(bytes);
  sync_warp(full_warp);
  if (has_bulk_copies() && lane_id() == 0) barrier.arrive_with_bytes(all, where);
  if (bytes != 0) copy_bulk(to, from, bytes, barrier, where);
  if (has_bulk_copies()) return;
  sync_warp(full_warp);  // mutation: parts-stored
  if (lane_id() == 0) barrier.arrive(where);
}

}  // namespace simt
WARDEN_NAMESPACE_END
