// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies an object by the lanes of a group: adjacent lanes copy adjacent words.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

// Parts of objects of any type.
struct [[gnu::may_alias]] alignas(16) four_words {
  std::uint32_t words[4];
};
struct [[gnu::may_alias]] two_words {
  std::uint64_t words;
};
struct [[gnu::may_alias]] one_word {
  std::uint32_t word;
};

/// Copies `*from` to `*to`. Each lane copies its words. The copy is visible to other lanes after a
/// barrier. Precondition: the objects do not overlap.
template <class T, unsigned Lanes>
WARDEN_DEVICE void copy_together(lane_group<Lanes> const& lanes, T* to, T const* from) {
  using word = std::conditional_t<
      alignof(T) % 16 == 0, detail::four_words,
      std::conditional_t<alignof(T) % 8 == 0, detail::two_words,
                         std::conditional_t<alignof(T) % 4 == 0, detail::one_word, unsigned char>>>;
  constexpr unsigned words = sizeof(T) / sizeof(word);
  auto* const out = reinterpret_cast<word*>(to);
  auto const* const in = reinterpret_cast<word const*>(from);
  WARDEN_UNROLL
  for (unsigned first = 0; first < words; first += Lanes) {
    unsigned const w = first + lanes.lane();
    if (w < words) out[w] = in[w];
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
