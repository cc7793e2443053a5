// SPDX-License-Identifier: Apache-2.0
// Makes orders of keys, the adversarial ones by undoing merges.

#include "microbench/bank_conflicts/inputs.hpp"

#include <warden/error.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace bank_conflicts {

namespace {

/// Returns the number of keys that a thread takes from the first of two lists, of which `taken` are
/// gone, before it takes the rest of its `items` from the second one. Threads that begin in bank 0
/// read the same banks in the same steps, so the next thread shall begin there, too [Berney and
/// Sitchinava 2020].
unsigned taken_from_first(unsigned items, unsigned pitch, std::size_t taken) {
  for (unsigned now = items; now != 0; --now) {
    std::size_t const next = taken + now;
    if ((next + next / side * (pitch - side)) % side == 0) return now;
  }
  return items;
}

/// Orders the sorted `keys` so that a merge sort with lists of `items` and more has to merge them.
void unmerge(std::span<std::uint32_t> keys, unsigned items, unsigned pitch) {
  if (keys.size() <= items) return;
  // A merge sort of whole threads merges lists of items, 2 items, 4 items, and so on.
  std::size_t half = items;
  while (2 * half < keys.size()) half *= 2;
  std::vector<std::uint32_t> first, second;
  std::size_t const rest = keys.size() - half;
  for (std::size_t done = 0; done < keys.size();) {
    auto const now = static_cast<unsigned>(std::min<std::size_t>(items, keys.size() - done));
    // Each list has to get all of its keys.
    std::size_t take = std::min<std::size_t>(
        {taken_from_first(items, pitch, first.size()), now, half - first.size()});
    take = std::max(take, now - std::min<std::size_t>(now, rest - second.size()));
    for (std::size_t i = 0; i < now; ++i) (i < take ? first : second).push_back(keys[done + i]);
    done += now;
  }
  std::copy(first.begin(), first.end(), keys.begin());
  std::copy(second.begin(), second.end(), keys.begin() + static_cast<std::ptrdiff_t>(half));
  unmerge(keys.first(half), items, pitch);
  unmerge(keys.subspan(half), items, pitch);
}

}  // namespace

std::vector<std::uint32_t> adversarial(unsigned n, unsigned items, unsigned pitch) {
  std::vector<std::uint32_t> keys(n);
  std::iota(keys.begin(), keys.end(), 0u);
  unmerge(keys, items, pitch);
  return keys;
}

std::vector<std::uint32_t> keys_of(std::string const& input) {
  if (input == "random") return {};
  if (input == "sorted") return adversarial(tile_keys, tile_keys);
  if (input == "adversarial_8") return adversarial(tile_keys, 8);
  if (input == "adversarial_9") return adversarial(tile_keys, 9);
  if (input == "adversarial_32") return adversarial(tile_keys, side);
  if (input == "adversarial_padded") return adversarial(tile_keys, side, side + 1);
  throw warden::limit_error("warden: no input \"" + input + "\"");
}

}  // namespace bank_conflicts
