// SPDX-License-Identifier: Apache-2.0
// Chains of sections that send sections, and their expected results.
#pragma once

#include "tests/support/support.cuh"

#include <cstdint>
#include <vector>

namespace chains {

using test::mix;
using test::tally;

WARDEN_HOST_DEVICE void note(tally& t, std::uint32_t value) {
  t.count += 1;
  t.sum += value;
  t.mixed += mix(value + 1);
}

/// Next record of a chain.
WARDEN_HOST_DEVICE std::uint32_t next_of(std::uint32_t value, std::uint32_t records) {
  return test::id_of(value * 2654435761u + 1, records);
}

/// Ends a chain.
struct last {
  static constexpr bool reads_other_memory = false;
  std::uint32_t value;
  __device__ void operator()(tally& t, warden::no_context) const { note(t, value); }
};
/// One link of a chain: `left` links more, then a `last`.
struct hop {
  static constexpr bool reads_other_memory = false;
  std::uint32_t value, left, records;
  template <class Next>
  __device__ void operator()(tally& t, warden::no_context, Next& next) const {
    note(t, value);
    if (left == 0) {
      next.send(next_of(value, records), last{value + 1});
    } else {
      next.send(next_of(value, records), hop{value + 1, left - 1, records});
    }
  }
};

/// Runs the chain that begins with `h` on record `at`.
inline void chain(std::vector<tally>& tallies, std::uint32_t at, hop h) {
  auto const records = static_cast<std::uint32_t>(tallies.size());
  for (;; at = next_of(h.value++, records)) {
    note(tallies[at], h.value);
    if (h.left-- == 0) break;
  }
  note(tallies[next_of(h.value, records)], h.value + 1);
}

/// Small, so that rings and windows are full.
template <warden::placement Where>
using policy = warden::with_values<test::small<warden::executor::sorted<64>>,
                                   &warden::options::records, Where>;
using in_memory = policy<warden::placement::in_memory>;
using on_chip = policy<warden::placement::on_chip>;

}  // namespace chains
