// SPDX-License-Identifier: Apache-2.0
/// @file
/// Words of a text in device memory as keys of a table.
#pragma once

#include "apps/hash_table/words.hpp"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace hash_table {

/// Hashes and compares the bytes.
struct word_keys {
  char const* text;  ///< device memory

  __device__ std::uint64_t hash(word const& w) const {
    std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a, and a mixer for its weak high bits
    for (std::uint32_t i = 0; i < w.length; ++i)
      h = (h ^ static_cast<unsigned char>(text[w.offset + i])) * 0x100000001b3ull;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
  }
  __device__ bool equal(word const& a, word const& b) const {
    if (a.length != b.length) return false;
    for (std::uint32_t i = 0; i < a.length; ++i) {
      if (text[a.offset + i] != text[b.offset + i]) return false;
    }
    return true;
  }
};

}  // namespace hash_table
