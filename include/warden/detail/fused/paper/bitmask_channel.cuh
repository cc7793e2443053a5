// SPDX-License-Identifier: Apache-2.0
/// @file
/// The channel whose readiness is a bit-mask: one bit beside the slots tells for each whether its
/// message is there. [Wang 2020, section 4.3.1]
///
/// A bit is never cleared. Publishing a slot turns its bit over: in odd laps to one, in even laps
/// to zero. So nothing that happens late can undo what the next lap has published.
///
/// A message does not prove itself, so both ways through a slot need a release and an acquire:
///
/// | handed over | by the thread that | to the thread that |
/// |---|---|---|
/// | messages, and what clients wrote | fences, then turns the bits | sees them turned, then fences
/// | | free slots, after the last load | fences, then stores `released` | loads `released`, then
/// fences |
///
/// The threads on either side that write, or load, the messages meet the fencing one at a barrier,
/// between their accesses and its fence.
#pragma once

#include <warden/detail/fused/channel.cuh>

#include <cstdint>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One channel as device code sees it: slots and indices as in channel_ref, and behind the slots
/// the words of the bit-mask.
template <int Flits>
class bitmask_channel_ref : channel_ref<Flits> {
  using base = channel_ref<Flits>;
  using base::capacity_log2_;
  using base::place;
  using base::slots_;

 public:
  /// The slots do not prove themselves.
  static constexpr bool in_band = false;
  /// Slots of one word of the bit-mask.
  static constexpr unsigned slice = 32;

  using base::capacity;
  using base::credit;
  using base::has_credit;
  using base::indices;
  using base::released;
  using base::reserve;

  /// `slots` has `flits(capacity_log2)` elements.
  WARDEN_DEVICE bitmask_channel_ref(channel_indices* indices, simt::flit_words* slots,
                                    unsigned capacity_log2)
      : base{indices, slots, capacity_log2} {}

  /// Where the slots of a server's channel begin among those of a guarded array. The bit-masks have
  /// cache lines of their own.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t begin(std::uint64_t server,
                                                          unsigned capacity_log2) {
    std::uint64_t const words = std::uint64_t{1} << capacity_log2 >> 5;
    std::uint64_t const lines = (words + words_of_line - 1) / words_of_line;
    return server * (base::flits(capacity_log2) + lines * flits_of_line);
  }
  /// Flits of one channel, and of its bit-masks.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t flits(unsigned capacity_log2) {
    return begin(1, capacity_log2);
  }

  // ---- senders

  /// Acquire: the slots below may be written by this thread, and by those it meets at a barrier.
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
  /// Publishes at most 32 slots from `first` on. Their writers have met this thread at a barrier.
  WARDEN_DEVICE void announce(std::uint64_t first, std::uint32_t count) const {
    // Release: the fence of the thread that turns the bits covers all the writers, by the barrier.
    simt::fence_device();  // mutation: ready-fence
    std::uint64_t const bits = ((std::uint64_t{1} << count) - 1) << (first % slice);
    turn(first / slice, static_cast<std::uint32_t>(bits));
    turn(first / slice + 1, static_cast<std::uint32_t>(bits >> 32));
  }
  /// For one thread: publishes a message in the slot of a reserved index with credit.
  WARDEN_DEVICE void publish(std::uint64_t index, message<Flits> const& m) const {
    // Acquire: this thread has seen `released` beyond the slot.
    simt::fence_device();
    write(index, m);
    announce(index, 1);
  }

  // ---- the server

  /// The message of an index whose bit was seen turned over.
  WARDEN_DEVICE message<Flits> read(std::uint64_t index) const {
    message<Flits> m;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) m.flits[l] = simt::load_flit(place(index, l));
    return m;
  }
  /// The bits of slice `number`, the indices from 32 times that on. Relaxed.
  WARDEN_DEVICE std::uint32_t ready(std::uint64_t number) const {
    return simt::load_relaxed(ready_word(number));
  }
  /// The word that changes when one of its indices is published.
  WARDEN_DEVICE std::uint32_t* ready_word(std::uint64_t number) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(slots_ + base::flits(capacity_log2_));
    return words + (number & (capacity() / slice - 1));
  }
  /// The bits of slice `number` once all its indices are published.
  WARDEN_DEVICE std::uint32_t all_ready(std::uint64_t number) const {
    bool const is_odd = (number * slice >> capacity_log2_ & 1) != 0;  // mutation: polarity
    return is_odd ? ~0u : 0u;
  }
  /// The bits of slice `number` when the next index of the channel is `first`: the slots below that
  /// one have come to its lap, the others are one behind.
  WARDEN_DEVICE std::uint32_t ready_before(std::uint64_t number, std::uint64_t first) const {
    return empty_word(static_cast<std::uint32_t>(number & (capacity() / slice - 1)), first,
                      capacity_log2_);
  }

  // ---- the host

  /// A channel without messages whose next index is `first`.
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
  /// Whether an index was published in the slots of a channel that has stopped.
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

  /// Word `w` of the bit-mask of an empty channel whose next index is `first`.
  WARDEN_HOST_DEVICE static std::uint32_t empty_word(std::uint32_t w, std::uint64_t first,
                                                     unsigned capacity_log2) {
    auto const next = static_cast<std::uint32_t>(first & ((std::uint64_t{1} << capacity_log2) - 1));
    std::uint32_t const begin = w * slice;
    std::uint32_t const below = next <= begin ? 0 : next - begin >= slice ? slice : next - begin;
    auto const in_lap = static_cast<std::uint32_t>((std::uint64_t{1} << below) - 1);
    return (first >> capacity_log2 & 1) != 0 ? in_lap : ~in_lap;
  }

  /// No bit is turned over twice before its slot is released, so the order of the turns is free.
  WARDEN_DEVICE void turn(std::uint64_t number, std::uint32_t bits) const {
    if (bits != 0) simt::fetch_xor(ready_word(number), bits);  // mutation: ready-turn
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
