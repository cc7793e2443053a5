// SPDX-License-Identifier: Apache-2.0
/// @file
/// Access to the second record of a log's messages, and the bins of messages that have the tiles of
/// both records in common.
#pragma once

#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Second record in messages of `Format`, a log_format.
template <class Format>
struct pair_words;
/// Version for log formats: the number of the second record is the first word of a paired section.
/// It follows the number of the record that the sender named first.
template <class... Sent>
struct pair_words<log_format<Sent...>> {
  /// Message type.
  using message_type = typename log_format<Sent...>::message_type;

  /// Returns true if the section is on two records.
  WARDEN_DEVICE static bool is_pair(message_type const& m) {
    // If all sections are on two records, the tag is not read: an unwritten message may have any
    // tag.
    if constexpr ((is_paired<Sent> && ...)) {
      return true;
    } else {
      unsigned const tag = m.tag();
      return ((is_paired<Sent> && tag == position_among<Sent, Sent...>) || ...);
    }
  }
  /// Returns the second record of a pair; otherwise the record itself.
  WARDEN_DEVICE static std::uint32_t second_of(message_type const& m) {
    return is_pair(m) ? m.words[1] : m.local();
  }
  /// Returns the section with other numbers of its records. `second` is used if it is on two
  /// records.
  WARDEN_DEVICE static message_type with_numbers(message_type const& m, std::uint32_t first,
                                                 std::uint32_t second) {
    message_type changed = m.with_local(first);
    if (is_pair(m)) changed.words[1] = second;
    return changed;
  }
};

/// Places of a bin's messages.
struct bin_range {
  std::uint32_t begin;  ///< place of the first message
  std::uint32_t end;    ///< place after the last message
};

/// A tile pair of the schedule that has sections. A tile is free for it after the number of its
/// earlier tile pairs have finished.
struct scheduled_pair {
  std::uint32_t a;          ///< one tile
  std::uint32_t b;          ///< another tile, or the same
  std::uint32_t earlier_a;  ///< tile pairs of `a` that must finish earlier
  std::uint32_t earlier_b;  ///< tile pairs of `b` that must finish earlier
};

/// Progress of a tile in this run. The block of its next tile pair waits for it.
struct alignas(64) tile_progress {
  std::uint32_t finished;  ///< tile pairs of the tile that have finished
};

/// Counters of one log's rounds.
struct rounds_control {
  alignas(128) std::uint32_t next_tile_pair;  ///< number of the next tile pair in the list
  alignas(128) std::uint32_t tile_pairs;      ///< length of the list
  std::uint32_t placed;                       ///< messages that have a place in a bin
  std::uint32_t are_few;               ///< 1 if one block has run all sections, without tile pairs
  alignas(128) std::uint32_t windows;  ///< windows that have run
};

/// Messages of a log by the tiles of both records, while the log is run. In a bin, a message has
/// its records' numbers within their tiles. `Schedule` lists the pairs of tiles.
template <class Message, class Schedule>
struct pair_bins {
  Message* pool = nullptr;               ///< as many places as the log has
  bin_range* ranges = nullptr;           ///< [home][other]
  std::uint32_t* present = nullptr;      ///< [home][word] a bit for each bin that is not empty
  scheduled_pair* tile_pairs = nullptr;  ///< tile pairs that have sections, in order
  tile_progress* progress = nullptr;     ///< [tile]
  rounds_control* control = nullptr;     ///< one object
  Schedule schedule{};                   ///< schedule of the tiles

  /// Number of words of a row of `bits` bits.
  WARDEN_HOST_DEVICE static constexpr std::uint32_t words(std::uint32_t bits) {
    return (bits + 31) / 32;
  }
  /// Returns the bin of sections whose message went to the tile `home`, and whose other record is
  /// in the tile `other`.
  WARDEN_DEVICE bin_range* range(std::uint32_t home, std::uint32_t other) const {
    return ranges + std::size_t{home} * schedule.others() + schedule.other_of(other);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
