// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the warps of a server share that read a channel in slices: which slice each reads, which
/// slices are done, and how slots go back to the senders in order.
///
/// The channel is read in slices of 32 consecutive indices, dealt out to the warps in turn; lane l
/// of a warp reads the l-th index of the warp's slice. A warp stays with a slice until all 32
/// messages have been executed, marks it done in shared memory and goes on to its next one. The
/// first warp releases slices in order, as far as all before them are done. [Wang 2020,
/// section 4.3.1]
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tells which slices of a channel are done, by one word of shared memory a slice, and when the
/// work has ended. Shared by the warps of one server.
template <class Channel>
class slice_tracker {
 public:
  /// Indices of a slice.
  static constexpr unsigned slice = simt::warp_size;

  /// Words for a channel of which `window` indices beyond `released` are read at most: its
  /// capacity, or less.
  WARDEN_HOST_DEVICE static constexpr std::size_t words(std::size_t window) {
    return window / slice + 1;
  }

  /// `words` is shared memory of `words(window)` words, the same for the whole block.
  WARDEN_DEVICE slice_tracker(Channel const& channel, simt::shared_span<std::uint32_t> words)
      : channel_{channel},
        done_{words},
        first_{simt::load_relaxed(&channel_.indices()->released.value)} {}

  /// Collective; the caller's next block barrier completes it.
  WARDEN_DEVICE void start() const {
    // A slice is done when its word is its number plus one; so far those of the lap before are.
    auto const first = static_cast<std::uint32_t>(first_ / slice);
    for (unsigned i = simt::thread_rank(); i < slices(); i += simt::block_threads()) {
      done_[i] = first + ((i - first) & (slices() - 1)) + 1 - slices();
    }
    if (simt::thread_rank() == 0) done_[slices()] = 0;
  }

  /// Where the messages come.
  WARDEN_DEVICE Channel const& channel() const { return channel_; }
  /// The channel's released index when the launch began.
  WARDEN_DEVICE std::uint64_t first() const { return first_; }

  /// Counts `count` sections as executed, those of all lanes of the warp. Collective over the warp.
  /// For the end of work and the watchdog only, so it is relaxed: what the sections wrote is handed
  /// on by their executor, and to the host by the end of the kernel.
  WARDEN_DEVICE void count_executed(unsigned count) const {
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() == 0) {
      simt::fetch_add(&channel_.indices()->executed.value, static_cast<std::uint64_t>(count));
    }
  }
  /// All sections of the slice have run. An addition, because nothing orders the stores of two laps
  /// to one word, by different warps, whose messages need no fences.
  WARDEN_DEVICE void mark_done(std::uint64_t number) const {
    simt::shared_fetch_add(done_[position(number)], slices());
  }
  /// Whether slice `number` was marked done in this launch.
  WARDEN_DEVICE bool is_done(std::uint64_t number) const {
    return simt::shared_load(done_[position(number)]) == static_cast<std::uint32_t>(number) + 1;
  }
  /// The word that changes when slice `number` is marked done.
  WARDEN_DEVICE std::uint32_t const* done_word(std::uint64_t number) const {
    return &done_[position(number)];
  }

  /// While there is work, slices are released an eighth of the window at a time. The senders, or
  /// the readers, have seven eighths meanwhile.
  WARDEN_DEVICE unsigned worth_releasing() const {
    unsigned const eighth = slices() / 8;
    return eighth < 1 ? 1 : eighth > simt::warp_size ? simt::warp_size : eighth;
  }

  /// Releases the slices from `next` on that are done, in order, if they are at least `least`, and
  /// tells `ref`'s statistics. Collective over one warp, always the same one. Returns the first
  /// slice not released.
  template <class Ref>
  WARDEN_DEVICE std::uint64_t release(Ref const& ref, std::uint64_t next, unsigned least) const {
    // A channel may be smaller than 32 slices: a lane beyond it would look at a word twice.
    bool const looks = simt::lane_id() < slices();
    bool const is = looks && is_done(next + simt::lane_id());
    unsigned const done = simt::ballot(simt::full_warp, is);
    int const count = done == simt::full_warp ? simt::warp_size
                                              : simt::first_bit(~done);  // mutation: release-order
    if (count < static_cast<int>(least)) return next;
    std::uint64_t const released = (next + static_cast<unsigned>(count)) * slice;
    if constexpr (Channel::in_band) {
      // Relaxed: see channel_ref::released.
      if (simt::lane_id() == 0) simt::store_relaxed(&channel_.indices()->released.value, released);
    } else {
      // Acquire, by the lanes that have seen the marks, and release, by the one that stores: the
      // messages were loaded before the marks.
      simt::fence_block();
      simt::sync_warp(simt::full_warp);
      if (simt::lane_id() == 0) simt::store_release(&channel_.indices()->released.value, released);
    }
    if (simt::lane_id() == 0) ref.note_fullness(channel_, next * slice);
    return next + static_cast<unsigned>(count);
  }

  /// The end of work: releases everything, so that the next launch begins where this one ended,
  /// within a slice or not, and tells the other warps. Collective over the warp that releases; the
  /// same lane stores as in `release`, so the last value stands.
  WARDEN_DEVICE void finish() const {
    // Whichever lane saw the last client end, the first one must read `reserved` after that.
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() != 0) return;
    // By an atomic, which reads the latest value: nothing else orders this behind the reservations
    // of other servers in a ring.
    simt::store_relaxed(&channel_.indices()->released.value,
                        simt::fetch_add(&channel_.indices()->reserved.value,
                                        std::uint64_t{0}));  // mutation: finish-latest
    simt::shared_store(done_[slices()], 1u);
  }
  /// Whether the work has ended.
  WARDEN_DEVICE bool is_finished() const { return simt::shared_load(done_[slices()]) != 0; }
  /// The word that changes when the work ends.
  WARDEN_DEVICE std::uint32_t const* finish_word() const { return &done_[slices()]; }

 private:
  WARDEN_DEVICE unsigned slices() const { return done_.size() - 1; }
  WARDEN_DEVICE unsigned position(std::uint64_t number) const {
    return static_cast<unsigned>(number) & (slices() - 1);
  }

  Channel channel_;
  simt::shared_span<std::uint32_t> done_;
  std::uint64_t first_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
