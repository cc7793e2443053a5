// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a log's message says of a second record, and the bins in which messages wait that are known
/// by the parts of both.
#pragma once

#include <warden/channel/log_message.cuh>
#include <warden/channel/wire_types.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

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
    unsigned const tag = m.tag();
    return ((is_paired<Sent> && tag == position_among<Sent, Sent...>) || ...);
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

/// A game of the tournament that has sections: the parts, and how many games each has played
/// before.
struct round_game {
  std::uint32_t a;       ///< a part
  std::uint32_t b;       ///< another one, or the same
  std::uint32_t turn_a;  ///< games that `a` must have played
  std::uint32_t turn_b;  ///< and `b`
};

/// How many games of this run a part has played: whoever plays next waits for it.
struct alignas(64) part_turns {
  std::uint32_t played;  ///< see above
};

/// The counters of one log's rounds.
struct rounds_control {
  alignas(128) std::uint32_t next_game;  ///< of the list
  alignas(128) std::uint32_t games;      ///< in the list
  std::uint32_t placed;                  ///< messages that have a place in a bin
  alignas(128) std::uint32_t windows;    ///< that have run
};

/// The messages of a log by the parts of both records, while it is run. In a bin a message has its
/// records' numbers within their parts.
template <class Message>
struct pair_bins {
  Message* pool = nullptr;            ///< as many as the log's
  bin_range* ranges = nullptr;        ///< [part of the one record][part of the other one]
  std::uint32_t* present = nullptr;   ///< [part][word] a bit for each bin that is not empty
  round_game* games = nullptr;        ///< those that have sections, in order
  part_turns* turns = nullptr;        ///< [part]
  rounds_control* control = nullptr;  ///< one
  std::uint32_t parts = 0;            ///< of the records

  /// Words of a part's row of bits.
  WARDEN_HOST_DEVICE static constexpr std::uint32_t words(std::uint32_t parts) {
    return (parts + 31) / 32;
  }
  /// The bin of sections whose message went to `home`, and whose other record is in `other`.
  WARDEN_DEVICE bin_range* range(std::uint32_t home, std::uint32_t other) const {
    return ranges + std::size_t{home} * parts + other;
  }
};

WARDEN_NAMESPACE_END
