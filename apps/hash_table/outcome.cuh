// SPDX-License-Identifier: Apache-2.0
/// @file
/// Outcomes of operations: returned to their callers, and counted in total.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace hash_table {

namespace simt = warden::simt;

/// Outcome of an operation.
enum class outcome : std::uint8_t {
  inserted,  ///< a new key
  updated,   ///< the value of a key that was there
  present,   ///< an insert that found its key, and changed nothing
  erased,    ///< a key removed
  absent,    ///< an erase that found nothing
  refused,   ///< a new key for which there was no room
};

/// Numbers of outcomes. Combined operations count as one.
struct totals {
  std::uint64_t inserted;  ///< new keys
  std::uint64_t updated;   ///< values of keys that were there
  std::uint64_t present;   ///< inserts that found their key, and changed nothing
  std::uint64_t erased;    ///< keys removed
  std::uint64_t absent;    ///< erases that found nothing
  std::uint64_t refused;   ///< new keys for which there was no room
};

using total = std::uint64_t totals::*;
/// Returns the member that counts an outcome.
__device__ constexpr total total_of(outcome o) {
  switch (o) {
    case outcome::inserted:
      return &totals::inserted;
    case outcome::updated:
      return &totals::updated;
    case outcome::present:
      return &totals::present;
    case outcome::erased:
      return &totals::erased;
    case outcome::absent:
      return &totals::absent;
    default:
      return &totals::refused;
  }
}

/// Part of the totals. Warps use different stripes, so that they do not contend for one.
struct alignas(128) totals_stripe {
  totals counts;
};
inline constexpr unsigned stripes = 1024;

/// Counts into an array of `stripes`, which are 0 at first. The converged lanes of a warp use one
/// atomic and do not wait for its result.
class outcome_counter {
 public:
  outcome_counter() = default;
  explicit outcome_counter(totals_stripe* counted) : counted_{counted} {}

  /// Counts the outcome, and returns it.
  __device__ outcome operator()(outcome o) const {
    unsigned const warp =
        simt::block_rank() * (simt::block_threads() / simt::warp_size) + simt::warp_rank();
    simt::add_together(&(counted_[warp % stripes].counts.*total_of(o)), 1);
    return o;
  }

 private:
  totals_stripe* counted_ = nullptr;
};

/// Result of looking for a key.
template <class Value>
struct finding {
  Value value;    ///< value of the key; 0 if it is not there
  bool is_there;  ///< true if the key is there
};

}  // namespace hash_table
