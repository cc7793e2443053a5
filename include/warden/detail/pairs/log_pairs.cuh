// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a log's message says of a second record, and the bins in which messages wait that are known
/// by the parts of both.
#pragma once

#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The second record in messages of `Format`, a log_format.
template <class Format>
struct pair_words;
/// A paired section's first word, behind the number of the record that its sender named first.
template <class... Sent>
struct pair_words<log_format<Sent...>> {
  /// The messages.
  using message_type = typename log_format<Sent...>::message_type;

  /// Whether the section is on two records.
  WARDEN_DEVICE static bool is_pair(message_type const& m) {
    // Not even the tag is asked then: of a message that nobody wrote it may be any.
    if constexpr ((is_paired<Sent> && ...)) {
      return true;
    } else {
      unsigned const tag = m.tag();
      return ((is_paired<Sent> && tag == position_among<Sent, Sent...>) || ...);
    }
  }
  /// The second record of a pair; otherwise the record itself.
  WARDEN_DEVICE static std::uint32_t second_of(message_type const& m) {
    return is_pair(m) ? m.words[1] : m.local();
  }
  /// The same section for other numbers of its records; `second` counts if it is on two.
  WARDEN_DEVICE static message_type with_numbers(message_type const& m, std::uint32_t first,
                                                 std::uint32_t second) {
    message_type changed = m.with_local(first);
    if (is_pair(m)) changed.words[1] = second;
    return changed;
  }
};

/// Where a bin's messages lie.
struct bin_range {
  std::uint32_t begin;  ///< the first one
  std::uint32_t end;    ///< behind the last one
};

/// A tile pair of the schedule that has sections: the parts, and how many tile pairs each has
/// played before.
struct scheduled_pair {
  std::uint32_t a;          ///< a part
  std::uint32_t b;          ///< another one, or the same
  std::uint32_t earlier_a;  ///< tile pairs that `a` must have played
  std::uint32_t earlier_b;  ///< and `b`
};

/// How many tile pairs of this run a part has played: whoever plays next waits for it.
struct alignas(64) part_progress {
  std::uint32_t played;  ///< see above
};

/// The counters of one log's rounds.
struct rounds_control {
  alignas(128) std::uint32_t next_tile_pair;  ///< of the list
  alignas(128) std::uint32_t tile_pairs;      ///< in the list
  std::uint32_t placed;                       ///< messages that have a place in a bin
  std::uint32_t are_few;               ///< 1 if one block has run all sections: none is played
  alignas(128) std::uint32_t windows;  ///< that have run
};

/// The messages of a log by the parts of both records, while it is run. In a bin a message has its
/// records' numbers within their parts. `Schedule` says which pairs of parts there are.
template <class Message, class Schedule>
struct pair_bins {
  Message* pool = nullptr;               ///< as many as the log's
  bin_range* ranges = nullptr;           ///< [home][other]
  std::uint32_t* present = nullptr;      ///< [home][word] a bit for each bin that is not empty
  scheduled_pair* tile_pairs = nullptr;  ///< those that have sections, in order
  part_progress* turns = nullptr;        ///< [part]
  rounds_control* control = nullptr;     ///< one
  Schedule schedule{};                   ///< of the parts

  /// Words of a row of so many bits.
  WARDEN_HOST_DEVICE static constexpr std::uint32_t words(std::uint32_t bits) {
    return (bits + 31) / 32;
  }
  /// The bin of sections whose message went to the part `home`, and whose other record is in the
  /// part `other`.
  WARDEN_DEVICE bin_range* range(std::uint32_t home, std::uint32_t other) const {
    return ranges + std::size_t{home} * schedule.others() + schedule.other_of(other);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
