// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checksum of bytes at the speed of memory, to find damage and changes. It gives no security
/// against deliberate changes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graph {

/// Returns the checksum of `bytes` bytes. For several pieces, pass the result of the pieces before.
/// One changed word always changes it, because each step is invertible in the word.
inline std::uint64_t checksum(void const* data, std::size_t bytes, std::uint64_t before = 0) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 4> lanes{before, before + odd, before + 2 * odd, bytes}, words;
  auto const step = [&] {
    for (unsigned k = 0; k < 4; ++k) lanes[k] = std::rotl((lanes[k] ^ words[k]) * odd, 29);
  };
  auto const* at = static_cast<unsigned char const*>(data);
  for (; bytes >= sizeof words; bytes -= sizeof words, at += sizeof words) {
    std::memcpy(words.data(), at, sizeof words);
    step();
  }
  words = {};
  if (bytes != 0) std::memcpy(words.data(), at, bytes);
  step();
  std::uint64_t all = 0;
  for (std::uint64_t const lane : lanes) all = std::rotl((all ^ lane) * odd, 31);
  return all;
}

}  // namespace graph
