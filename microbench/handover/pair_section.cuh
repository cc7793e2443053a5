// SPDX-License-Identifier: Apache-2.0
// The section on two records that times the way to it from the last one on each ([Wang 2020,
// table 4.2], rows atm_256 and atm_1k).
#pragma once

#include "microbench/support/device.cuh"

#include <cstdint>

namespace handover {

namespace simt = warden::simt;

/// The gaps between the sections on one record, each from the end of one to the start of the next.
/// With the executor pair_messages a record travels: one of 24 bytes does in messages as long as
/// those of apps/bank_transfer.
struct pair_record {
  /// Largest lag of a clock after another multiprocessor's.
  static constexpr std::uint32_t most_lag = 1u << 20;
  /// Longest time of a repetition, so that no gap is taken for another one.
  static constexpr std::uint32_t longest_run = ~0u - most_lag;

  std::int64_t sum;       ///< sum of all gaps
  std::uint32_t end;      ///< end of the last section, modulo 2^32
  std::int32_t minimum;   ///< least of all gaps; the type's largest value if none is below it
  std::uint32_t count;    ///< number of sections: one more than gaps
  std::uint32_t numbers;  ///< numbers of the sections, mixed and added up modulo 2^32

  /// A section starts.
  __device__ void note_start(std::uint32_t start, std::uint32_t mixed) {
    if (count != 0) {
      // It may be below zero: two multiprocessors may read the clock a tick apart.
      auto const gap = std::int64_t{start - end + most_lag} - most_lag;
      sum += gap;
      auto const least = static_cast<std::int32_t>(gap < 0x7fffffff ? gap : 0x7fffffff);
      minimum = count == 1 || least < minimum ? least : minimum;
    }
    ++count;
    numbers += mixed;
  }
};
static_assert(sizeof(pair_record) == 24);

struct nothing {};

/// A section on one record twice is one section on it: it counts once and has one gap.
template <class Clock>
struct pair_stamp {
  static constexpr bool reads_other_memory = false;
  std::uint32_t mixed;  ///< from its number: a lost and a doubled one do not cancel

  __device__ void operator()(pair_record& first, pair_record& second, nothing) const {
    auto const start = static_cast<std::uint32_t>(Clock::now());
    // The addresses are not compared, so that a record under way can be in registers.
    std::uint32_t const before = second.count;
    first.note_start(start, mixed);
    if (second.count == before) second.note_start(start, mixed);
    auto const end = static_cast<std::uint32_t>(Clock::now());
    first.end = end;
    second.end = end;
  }
};

/// The section of number i.
template <class Clock>
struct make_pair_stamp {
  __device__ pair_stamp<Clock> operator()(std::uint32_t i) const {
    return {static_cast<std::uint32_t>(bench::mix(i, 7))};
  }
};

/// Sections in device memory: section i, for i < n, is on the records `firsts[i]` and `seconds[i]`.
struct section_pairs {
  std::uint32_t const* firsts;
  std::uint32_t const* seconds;
  std::uint32_t n;
};

}  // namespace handover
