// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lanes that are one 128-bit access each and carry the lap once, kept to be measured beside the
/// lanes whose words each prove themselves.
///
/// This takes for granted that a lane is stored and loaded at once. PTX promises that of 64 bits at
/// most (memory consistency model, "vector data types" and "scalar data types"), so it holds only
/// as far as a GPU was seen to do it, and the policy is never the default. A lane seen in halves
/// would pass as a message.
#pragma once

#include <warden/channel.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace lane {

/// The lap is in the first word alone and proves both. Laid out as any lane: the second word's
/// upper 16 bits are not used, so that nothing differs but what is marked and checked.
struct lap_in_first_word {
  /// The lane with its lap field set.
  WARDEN_HOST_DEVICE static simt::lane_words stamped(simt::lane_words words, std::uint64_t lap) {
    words.first = first_stamped(words.first, lap);
    return words;
  }
  /// Whether the first word, and with it the second, was published in this lap.
  WARDEN_HOST_DEVICE static bool is_of(simt::lane_words words, std::uint64_t lap) {
    return first_is_of(words, lap);
  }
  /// What lies in a lane.
  WARDEN_DEVICE static simt::lane_words load(simt::lane_words const* place) {
    return simt::load_whole_lane(place);
  }
  /// Writes a lane.
  WARDEN_DEVICE static void store(simt::lane_words* place, simt::lane_words words) {
    simt::store_whole_lane(place, words);
  }
};

}  // namespace lane

namespace readiness {

/// By the lap in the first word of each lane. Relies on more than PTX promises.
struct whole_lanes {
  /// The channels.
  template <int Lanes>
  using channel = channel_ref<Lanes, lane::lap_in_first_word>;
};

}  // namespace readiness

WARDEN_NAMESPACE_END
