// SPDX-License-Identifier: Apache-2.0
/// @file
/// Number of tiles into which a run in rounds divides the records of one array, by estimated time.
#pragma once

#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Inputs of the time of a run in rounds, in addition to the number of tiles.
struct rounds_load {
  std::uint64_t sections;         ///< that the log has room for
  std::uint64_t records;          ///< records of the array
  std::uint64_t records_on_chip;  ///< that a block can hold at most
  unsigned threads;               ///< threads of a block
  unsigned blocks;                ///< that run concurrently
};

/// Estimated time of a run with `tiles` tiles. Unit: the time in which a block runs one section if
/// its threads seldom want the same record. The factors were measured on an H100 with 132
/// multiprocessors, where the unit is 4 ns; results/h100 has the rates. They are multiples
/// of the number of threads, because the unit is the shorter the more threads a block has.
constexpr double rounds_time(rounds_load const& load, unsigned tiles) {
  double const records = static_cast<double>(load.records), threads = load.threads;
  double const p = std::min<double>(tiles, records);
  double const largest = static_cast<double>((load.records + tiles - 1) / tiles);
  // Records in the two tiles that a block holds.
  double const held = std::min(records, 2 * largest);
  // With so few records, most sections of a window wait for others: they run one after another.
  bool const serial = 5 * held < threads;
  double const round = (serial ? 2.5 : 2) * threads;
  double const section =
      serial ? threads / 40
             : (held > static_cast<double>(load.records_on_chip) ? 1.3 : 1) + threads / (3 * held);
  // The largest tile meets itself once and each other tile once. The rounds last as long as the
  // sections that have a record there.
  double const share = largest / records;
  double const sections = static_cast<double>(load.sections) * share * (2 - share);
  // Pairs of tiles that one block takes in a round.
  double const pairs = std::max(1.0, p / 2 / load.blocks);
  return pairs * (p * round + sections * section);
}

/// Returns the power of two up to `most` with the least estimated time.
constexpr unsigned rounds_tiles(rounds_load const& load, unsigned most) {
  unsigned best = 1;
  for (unsigned tiles = 2; tiles <= most; tiles *= 2)
    if (rounds_time(load, tiles) < rounds_time(load, best)) best = tiles;
  return best;
}

}  // namespace detail
WARDEN_NAMESPACE_END
