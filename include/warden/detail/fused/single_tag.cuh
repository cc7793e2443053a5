// SPDX-License-Identifier: Apache-2.0
/// @file
/// Flits that are one 128-bit access each and carry the lap once, kept to be measured beside the
/// flits whose words each prove themselves.
///
/// This takes for granted that a flit is stored and loaded at once. PTX promises that of 64 bits at
/// most (memory consistency model, "vector data types" and "scalar data types"), so it holds only
/// as far as a GPU was seen to do it, and the policy is never the default. A flit seen in halves
/// would pass as a message.
#pragma once

#include <warden/detail/fused/channel.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {
namespace flit {

/// The lap is in the first word alone and proves both. Laid out as any flit: the second word's
/// upper 16 bits are not used, so that nothing differs but what is marked and checked.
struct sequence_in_first_word {
  /// The flit with its lap field set.
  WARDEN_HOST_DEVICE static simt::flit_words stamped(simt::flit_words words, std::uint64_t lap) {
    words.first = first_stamped(words.first, lap);
    return words;
  }
  /// Whether the first word, and with it the second, was published in this lap.
  WARDEN_HOST_DEVICE static bool is_of(simt::flit_words words, std::uint64_t lap) {
    return first_is_of(words, lap);
  }
  /// What lies in a flit.
  WARDEN_DEVICE static simt::flit_words load(simt::flit_words const* place) {
    return simt::load_whole_flit(place);
  }
  /// Writes a flit.
  WARDEN_DEVICE static void store(simt::flit_words* place, simt::flit_words words) {
    simt::store_whole_flit(place, words);
  }
};

}  // namespace flit
}  // namespace detail
WARDEN_NAMESPACE_END
