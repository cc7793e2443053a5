// SPDX-License-Identifier: Apache-2.0
/// @file
/// Flits that take one 128-bit access each and carry the sequence tag once. Kept to be measured
/// against flits whose two words both carry it.
///
/// This assumes that a flit is stored and loaded as one access. PTX guarantees that for at most 64
/// bits (memory consistency model, "vector data types" and "scalar data types"). So it holds only
/// as far as a GPU was seen to do it, and the policy is never the default. A reader would take a
/// flit that arrives in two halves for a complete message.
#pragma once

#include <warden/detail/fused/channel.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {
namespace flit {

/// Format of flits that carries the sequence tag in the first word, for both words. The second
/// word's upper 16 bits are unused. The layout is that of the other format, so only tagging and
/// checking differ.
struct sequence_in_first_word {
  /// Returns the flit with its sequence tag set.
  WARDEN_HOST_DEVICE static simt::flit_words stamped(simt::flit_words words,
                                                     std::uint64_t sequence) {
    words.first = first_stamped(words.first, sequence);
    return words;
  }
  /// Returns true if the first word carries this sequence tag, which stands for both words.
  WARDEN_HOST_DEVICE static bool is_of(simt::flit_words words, std::uint64_t sequence) {
    return first_is_of(words, sequence);
  }
  /// Loads a flit.
  WARDEN_DEVICE static simt::flit_words load(simt::flit_words const* place) {
    return simt::load_whole_flit(place);
  }
  /// Stores a flit.
  WARDEN_DEVICE static void store(simt::flit_words* place, simt::flit_words words) {
    simt::store_whole_flit(place, words);
  }
};

}  // namespace flit
}  // namespace detail
WARDEN_NAMESPACE_END
