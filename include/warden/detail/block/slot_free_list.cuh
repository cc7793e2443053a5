// SPDX-License-Identifier: Apache-2.0
/// @file
/// Free list of the places of a server's memory.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counts of places taken and given back since the guarded array was made.
struct place_counts {
  std::uint64_t taken;  ///< places that all threads took, in order
  std::uint64_t given;  ///< places given back
};

/// Places of all servers, in global memory; part of a ref. Kept from launch to launch. All zero is
/// a list in which every place is free.
struct place_memory {
  std::uint64_t* tickets = nullptr;  ///< [server][place] tickets
  place_counts* counts = nullptr;    ///< [server] counts, between launches
  std::uint32_t room_log2 = 0;       ///< log2 of the places of one server
};

/// A queue of numbers of free places. The first numbers come in order. After that, the k-th place
/// that was given back goes to the k-th thread that takes one. A thread reads an entry first and
/// then raises `taken`, so no entry is overwritten that may still be read.
class slot_free_list {
 public:
  /// Stands for no place.
  static constexpr std::uint32_t none = ~0u;

  /// For server `number`. `counts` is one object, the same for the whole block.
  WARDEN_DEVICE slot_free_list(place_memory const& memory, std::uint32_t number,
                               simt::shared_span<place_counts> counts)
      : memory_{memory}, number_{number}, counts_{counts} {}

  /// Loads the counts. One thread; a block barrier follows.
  WARDEN_DEVICE void start() const { counts_[0] = memory_.counts[number_]; }
  /// Stores the counts. One thread, after a block barrier, when all places have been given back.
  WARDEN_DEVICE void finish() const { memory_.counts[number_] = counts_[0]; }

  /// Takes a place for each lane that `wants` one. Precondition: there are enough free places.
  /// Collective over a warp.
  WARDEN_DEVICE void take(bool wants, std::uint32_t& place) const {
    unsigned const wanting = simt::ballot(simt::full_warp, wants);
    if (wanting == 0) return;
    unsigned const me = simt::lane_id();
    auto const before = static_cast<unsigned>(simt::count_bits(wanting & ((1u << me) - 1)));
    auto const count = static_cast<unsigned>(simt::count_bits(wanting));
    while (true) {
      std::uint64_t const first =
          simt::shuffle(simt::full_warp, simt::shared_load(counts_[0].taken), 0);
      std::uint32_t found = none;
      bool const is_there = !wants || look(first + before, found);
      bool const all = simt::ballot(simt::full_warp, is_there) == simt::full_warp;
      bool won = false;
      // Release, by the first lane, of the reads of all lanes, and of their earlier writes to the
      // places.
      if (all) simt::sync_warp(simt::full_warp);
      if (all && me == 0) {
        // The reads come before all writes to their places.
        simt::fence_block();
        won = simt::shared_compare_exchange(counts_[0].taken, first, first + count) ==
              first;  // mutation: place-race
      }
      if (simt::any(simt::full_warp, won)) {
        if (wants) place = found;
        return;
      }
      // Another warp was faster, or is about to write the number that it gives back.
      simt::back_off(0);
    }
  }
  /// Gives a place back. One thread.
  WARDEN_DEVICE void give(std::uint32_t place) const {
    // Release: the place has been read. Then acquire: the threads that took the entry's last number
    // and gave a place back before this one have fenced after their read.
    simt::fence_block();
    std::uint64_t const ticket =
        simt::shared_fetch_add(counts_[0].given, std::uint64_t{1}) + room();
    simt::fence_block();  // mutation: place-fence
    simt::store_relaxed(entry(ticket), ticket << 32 | place);
  }

 private:
  /// True if the place of a ticket is known.
  WARDEN_DEVICE bool look(std::uint64_t ticket, std::uint32_t& place) const {
    if (ticket < room()) {
      place = static_cast<std::uint32_t>(ticket);
      return true;
    }
    std::uint64_t const value = simt::load_relaxed(entry(ticket));
    place = static_cast<std::uint32_t>(value);
    return value >> 32 == (ticket & 0xffffffffu);
  }
  WARDEN_DEVICE std::uint64_t room() const { return std::uint64_t{1} << memory_.room_log2; }
  WARDEN_DEVICE std::uint64_t* entry(std::uint64_t ticket) const {
    return memory_.tickets +
           ((std::uint64_t{number_} << memory_.room_log2) + (ticket & (room() - 1)));
  }

  // Computed at each use: kept, it would take registers.
  place_memory const& memory_;
  std::uint32_t number_;
  simt::shared_span<place_counts> counts_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
