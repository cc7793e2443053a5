// SPDX-License-Identifier: Apache-2.0
/// @file
/// Channel whose readiness is a bit-mask: one bit for each slot, stored after the slots, tells if
/// its message is there. [Wang 2020, section 4.3.1]
///
/// A bit is never cleared. Publishing a slot inverts its bit: to one if index div capacity is odd,
/// to zero if it is even. So no late access can undo what a later message has published.
///
/// A message does not show by itself that it is complete. So each slot needs a release and an
/// acquire in both directions:
///
/// - Messages, and the clients' other writes: the sending thread fences, then inverts the bits. The
/// receiving thread sees them inverted, then fences.
/// - Free slots, after the last load: the server's thread fences, then stores `released`. The
/// sending thread loads `released`, then fences.
///
/// Other threads on either side write, or load, the messages. They meet the fencing thread at a
/// barrier, between their accesses and its fence.
#pragma once

#include <warden/detail/fused/channel.cuh>

#include <cstdint>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One channel as device code sees it: slots and indices as in channel_ref, and after the slots the
/// words of the bit-mask.
template <int Flits>
class bitmask_channel_ref : channel_ref<Flits> {
  using base = channel_ref<Flits>;
  using base::capacity_log2_;
  using base::place;
  using base::slots_;

 public:
  /// False: a slot does not show by itself that its message is complete.
  static constexpr bool in_band = false;
  /// Slots of one word of the bit-mask.
  static constexpr unsigned slice = 32;

  using base::capacity;
  using base::credit;
  using base::has_credit;
  using base::indices;
  using base::released;
  using base::reserve;

  /// Constructs a view. `slots` has `flits(capacity_log2)` elements.
  WARDEN_DEVICE bitmask_channel_ref(channel_indices* indices, simt::flit_words* slots,
                                    unsigned capacity_log2)
      : base{indices, slots, capacity_log2} {}

  /// Offset of a server's channel among the slots of a guarded array. Units: flits. Each bit-mask
  /// has cache lines of its own.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t begin(std::uint64_t server,
                                                          unsigned capacity_log2) {
    std::uint64_t const words = std::uint64_t{1} << capacity_log2 >> 5;
    std::uint64_t const lines = (words + words_of_line - 1) / words_of_line;
    return server * (base::flits(capacity_log2) + lines * flits_of_line);
  }
  /// Flits of one channel, including its bit-mask.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t flits(unsigned capacity_log2) {
    return begin(1, capacity_log2);
  }

  // ---- senders

  /// Returns the released index. Acquire: this thread may write the slots below it, and so may the
  /// threads that it meets at a barrier.
  WARDEN_DEVICE std::uint64_t acquire_released() const {
    std::uint64_t const seen = released();
    simt::fence_device();  // mutation: slot-acquire
    return seen;
  }
  /// Writes the message into the slot of a reserved index with credit; `announce` publishes it.
  WARDEN_DEVICE void write(std::uint64_t index, message<Flits> const& m) const {
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) simt::store_flit(place(index, l), m.flits[l], /*marked*/ false);
  }
  /// Publishes at most 32 slots from `first` on. Precondition: their writers have met this thread
  /// at a barrier.
  WARDEN_DEVICE void announce(std::uint64_t first, std::uint32_t count) const {
    // Release: the fence of the thread that inverts the bits covers all the writers, by the
    // barrier.
    simt::fence_device();  // mutation: ready-fence
    std::uint64_t const bits = ((std::uint64_t{1} << count) - 1) << (first % slice);
    turn(first / slice, static_cast<std::uint32_t>(bits));
    turn(first / slice + 1, static_cast<std::uint32_t>(bits >> 32));
  }
  /// Publishes a message in the slot of a reserved index with credit. Called by one thread.
  WARDEN_DEVICE void publish(std::uint64_t index, message<Flits> const& m) const {
    // Acquire: this thread has seen `released` beyond the slot.
    simt::fence_device();
    write(index, m);
    announce(index, 1);
  }

  // ---- the server

  /// Returns the message of an index whose bit was seen inverted.
  WARDEN_DEVICE message<Flits> read(std::uint64_t index) const {
    message<Flits> m;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) m.flits[l] = simt::load_flit(place(index, l));
    return m;
  }
  /// Returns the bits of slice `number`, the indices from 32 times that on. Relaxed.
  WARDEN_DEVICE std::uint32_t ready(std::uint64_t number) const {
    return simt::load_relaxed(ready_word(number));
  }
  /// Returns the word that changes when an index of the slice is published.
  WARDEN_DEVICE std::uint32_t* ready_word(std::uint64_t number) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(slots_ + base::flits(capacity_log2_));
    return words + (number & (capacity() / slice - 1));
  }
  /// Returns the bits of slice `number` after all its indices are published.
  WARDEN_DEVICE std::uint32_t all_ready(std::uint64_t number) const {
    bool const is_odd = (number * slice >> capacity_log2_ & 1) != 0;  // mutation: polarity
    return is_odd ? ~0u : 0u;
  }
  /// Returns the bits of slice `number` when the next index of the channel is `first`: slots below
  /// that index are up to date, the others belong to the pass before.
  WARDEN_DEVICE std::uint32_t ready_before(std::uint64_t number, std::uint64_t first) const {
    return empty_word(static_cast<std::uint32_t>(number & (capacity() / slice - 1)), first,
                      capacity_log2_);
  }

  // ---- the host

  /// Returns a channel without messages whose next index is `first`.
  static std::vector<simt::flit_words> empty(std::uint64_t first, unsigned capacity_log2) {
    std::vector<simt::flit_words> slots(flits(capacity_log2), simt::flit_words{0, 0});
    std::uint64_t const words = std::uint64_t{1} << capacity_log2 >> 5;
    for (std::uint64_t w = 0; w < words; ++w) {
      simt::flit_words& four = slots[base::flits(capacity_log2) + w / 4];
      std::uint64_t& two = w % 4 < 2 ? four.first : four.second;
      two |= std::uint64_t{empty_word(static_cast<std::uint32_t>(w), first, capacity_log2)}
             << 32 * (w % 2);
    }
    return slots;
  }
  /// Returns true if an index was published in the slots of a channel that has stopped.
  static bool is_published(simt::flit_words const* slots, std::uint64_t index,
                           unsigned capacity_log2) {
    std::uint64_t const slot = index & ((std::uint64_t{1} << capacity_log2) - 1);
    std::uint64_t const w = slot / slice;
    simt::flit_words const& four = slots[base::flits(capacity_log2) + w / 4];
    std::uint64_t const two = w % 4 < 2 ? four.first : four.second;
    return (two >> (32 * (w % 2) + slot % slice) & 1) == (index >> capacity_log2 & 1);
  }

 private:
  static constexpr unsigned words_of_line = 32;
  static constexpr unsigned flits_of_line = 8;

  /// Returns word `w` of the bit-mask of an empty channel whose next index is `first`.
  WARDEN_HOST_DEVICE static std::uint32_t empty_word(std::uint32_t w, std::uint64_t first,
                                                     unsigned capacity_log2) {
    auto const next = static_cast<std::uint32_t>(first & ((std::uint64_t{1} << capacity_log2) - 1));
    std::uint32_t const begin = w * slice;
    std::uint32_t const below = next <= begin ? 0 : next - begin >= slice ? slice : next - begin;
    auto const written = static_cast<std::uint32_t>((std::uint64_t{1} << below) - 1);
    return (first >> capacity_log2 & 1) != 0 ? written : ~written;
  }

  /// Inverts bits. No bit is inverted twice before its slot is released, so the order of the
  /// inversions does not matter.
  WARDEN_DEVICE void turn(std::uint64_t number, std::uint32_t bits) const {
    if (bits != 0) simt::fetch_xor(ready_word(number), bits);  // mutation: ready-turn
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
