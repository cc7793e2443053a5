// SPDX-License-Identifier: Apache-2.0
// Merge sort of a tile by a warp: each lane merges 32 keys at a time. Which banks it reads depends
// on the keys.
#pragma once

#include "microbench/bank_conflicts/tile_matrix.cuh"

#include <cstdint>

namespace bank_conflicts {

template <unsigned Pitch>
struct merge_sort {
  static constexpr unsigned pitch = Pitch;

  __device__ static std::uint32_t& key(matrix<Pitch> const& m, unsigned i) {
    return m.at(i / side, i % side);
  }

  __device__ static void run(matrix<Pitch> const& m, unsigned lane) {
    std::uint32_t keys[side];
    WARDEN_UNROLL
    for (unsigned i = 0; i < side; ++i) keys[i] = m.at(lane, i);
    sort_registers(keys);
    for (unsigned lanes = 1; lanes < side; lanes *= 2) {
      write_row(m, lane, keys);
      merge(m, lane, lanes, keys);
    }
    write_row(m, lane, keys);
  }

 private:
  /// Each lane writes its own row, which others read until then.
  __device__ static void write_row(matrix<Pitch> const& m, unsigned lane,
                                   std::uint32_t const (&keys)[side]) {
    simt::sync_warp(simt::full_warp);
    WARDEN_UNROLL
    for (unsigned i = 0; i < side; ++i) m.at(lane, i) = keys[i];
    simt::sync_warp(simt::full_warp);
  }

  /// Merges pairs of lists of `lanes` rows. Each lane gets its 32 keys of a merged list.
  __device__ static void merge(matrix<Pitch> const& m, unsigned lane, unsigned lanes,
                               std::uint32_t (&keys)[side]) {
    unsigned const length = lanes * side;
    unsigned const begin = lane / (2 * lanes) * 2 * length, middle = begin + length;
    unsigned const end = middle + length;
    // Keys of both lists that go to lanes before this one, and how many of them are of the first.
    unsigned const before = lane % (2 * lanes) * side;
    unsigned low = before < length ? 0 : before - length;
    unsigned high = before < length ? before : length;
    while (low < high) {
      unsigned const half = (low + high) / 2;
      std::uint32_t const of_first = key(m, begin + half);
      std::uint32_t const of_second = key(m, middle + before - 1 - half);
      if (of_first <= of_second) {
        low = half + 1;
      } else {
        high = half;
      }
    }
    unsigned first = begin + low, second = middle + before - low;
    // A list that has ended is read on, at most to the tile's last key; its value is not used.
    auto const read = [&](unsigned i) { return key(m, i < tile_keys ? i : tile_keys - 1); };
    std::uint32_t of_first = read(first), of_second = read(second);
    WARDEN_UNROLL
    for (unsigned i = 0; i < side; ++i) {
      bool const takes_first = second >= end || (first < middle && of_first <= of_second);
      keys[i] = takes_first ? of_first : of_second;
      if (i + 1 == side) break;
      // One load for both lists: the lanes of a warp read together.
      std::uint32_t const next = read(takes_first ? ++first : ++second);
      of_first = takes_first ? next : of_first;
      of_second = takes_first ? of_second : next;
    }
  }
};

}  // namespace bank_conflicts
