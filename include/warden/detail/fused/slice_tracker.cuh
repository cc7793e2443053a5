// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that a server's warps share when they read a channel in slices: which slices are done, and
/// how slots go back to the senders in order.
///
/// A slice is 32 consecutive indices. Slices are assigned to the warps in turn; lane l of a warp
/// reads the l-th index of the warp's slice. A warp stays with a slice until all 32 messages have
/// been executed. Then it marks the slice done in shared memory and goes on to its next one. The
/// first warp releases slices in order, as far as all slices before them are done. [Wang 2020,
/// section 4.3.1]
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tracks which slices of a channel are done, by one word of shared memory for each slice, and
/// whether the work has ended. Shared by the warps of one server.
template <class Channel>
class slice_tracker {
 public:
  /// Indices of a slice.
  static constexpr unsigned slice = simt::warp_size;

  /// Number of words for a channel of which at most `window` indices beyond `released` are read:
  /// its capacity, or less.
  WARDEN_HOST_DEVICE static constexpr std::size_t words(std::size_t window) {
    return window / slice + 1;
  }

  /// Constructs a tracker. `words` is shared memory of `words(window)` words, the same for the
  /// whole block.
  WARDEN_DEVICE slice_tracker(Channel const& channel, simt::shared_span<std::uint32_t> words)
      : channel_{channel},
        done_{words},
        first_{simt::load_relaxed(&channel_.indices()->released.value)} {}

  /// Initializes the shared memory. Collective; the caller's next block barrier completes it.
  WARDEN_DEVICE void start() const {
    // A slice is done when its word is its number plus one. Initially the slices one window earlier
    // are done.
    auto const first = static_cast<std::uint32_t>(first_ / slice);
    for (unsigned i = simt::thread_rank(); i < slices(); i += simt::block_threads()) {
      done_[i] = first + ((i - first) & (slices() - 1)) + 1 - slices();
    }
    if (simt::thread_rank() == 0) done_[slices()] = 0;
  }

  /// Returns the channel.
  WARDEN_DEVICE Channel const& channel() const { return channel_; }
  /// Returns the channel's released index when the launch began.
  WARDEN_DEVICE std::uint64_t first() const { return first_; }

  /// Counts `count` sections as executed, those of all lanes of the warp. Collective over the warp.
  /// Relaxed, because only the end of work and the watchdog use it: the executor hands the
  /// sections' writes to later sections, and the end of the kernel hands them to the host.
  WARDEN_DEVICE void count_executed(unsigned count) const {
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() == 0) {
      simt::fetch_add(&channel_.indices()->executed.value, static_cast<std::uint64_t>(count));
    }
  }
  /// Marks the slice done after all its sections have run. An addition, because no order exists
  /// between two warps' stores to one word for two slices a window apart, whose messages need no
  /// fences.
  WARDEN_DEVICE void mark_done(std::uint64_t number) const {
    simt::shared_fetch_add(done_[position(number)], slices());
  }
  /// Returns true if slice `number` was marked done in this launch.
  WARDEN_DEVICE bool is_done(std::uint64_t number) const {
    return simt::shared_load(done_[position(number)]) == static_cast<std::uint32_t>(number) + 1;
  }
  /// Returns the word that changes when slice `number` is marked done.
  WARDEN_DEVICE std::uint32_t const* done_word(std::uint64_t number) const {
    return &done_[position(number)];
  }

  /// Returns the least number of slices to release while there is work: an eighth of the window.
  /// Senders, or readers, use the other seven eighths in the meantime.
  WARDEN_DEVICE unsigned worth_releasing() const {
    unsigned const eighth = slices() / 8;
    return eighth < 1 ? 1 : eighth > simt::warp_size ? simt::warp_size : eighth;
  }

  /// Releases the completed slices from `next` on, in order, if there are at least `least`, and
  /// notes that in the statistics of `ref`. Collective over one warp, always the same one. Returns
  /// the first slice not released.
  template <class Ref>
  WARDEN_DEVICE std::uint64_t release(Ref const& ref, std::uint64_t next, unsigned least) const {
    // A channel may have fewer than 32 slices: a lane beyond them would read a word twice.
    bool const looks = simt::lane_id() < slices();
    bool const slice_done = looks && is_done(next + simt::lane_id());
    unsigned const done = simt::ballot(simt::full_warp, slice_done);
    int const count = done == simt::full_warp ? simt::warp_size
                                              : simt::first_bit(~done);  // mutation: release-order
    if (count < static_cast<int>(least)) return next;
    std::uint64_t const released = (next + static_cast<unsigned>(count)) * slice;
    if constexpr (Channel::in_band) {
      // Relaxed: see channel_ref::released.
      if (simt::lane_id() == 0) simt::store_relaxed(&channel_.indices()->released.value, released);
    } else {
      // Acquire, by the lanes that have seen the marks, and release, by the lane that stores: the
      // messages were loaded before the marks.
      simt::fence_block();
      simt::sync_warp(simt::full_warp);
      if (simt::lane_id() == 0) simt::store_release(&channel_.indices()->released.value, released);
    }
    if (simt::lane_id() == 0) ref.note_fullness(channel_, next * slice);
    return next + static_cast<unsigned>(count);
  }

  /// Ends the work. Releases everything, so that the next launch begins where this one ended, even
  /// within a slice, and notifies the other warps. Collective over the warp that releases. The same
  /// lane stores as in `release`, so the last value stands.
  WARDEN_DEVICE void finish() const {
    // Any lane may have seen the last client end. The first lane must read `reserved` after that.
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() != 0) return;
    // By an atomic, which reads the latest value: nothing else orders this after the reservations
    // of other servers in a ring.
    simt::store_relaxed(&channel_.indices()->released.value,
                        simt::fetch_add(&channel_.indices()->reserved.value,
                                        std::uint64_t{0}));  // mutation: finish-latest
    simt::shared_store(done_[slices()], 1u);
  }
  /// Returns true if the work has ended.
  WARDEN_DEVICE bool is_finished() const { return simt::shared_load(done_[slices()]) != 0; }
  /// Returns the word that changes when the work ends.
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
