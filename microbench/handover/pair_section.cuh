// SPDX-License-Identifier: Apache-2.0
// Section on two records that measures the time since the previous section on each ([Wang 2020,
// table 4.2], rows atm_256 and atm_1k).
#pragma once

#include "microbench/support/device.cuh"

#include <cstdint>

namespace handover {

namespace simt = warden::simt;

/// Gaps between the sections on one record. A gap lasts from the end of a section to the start of
/// the next. The executor pair_messages sends the record in messages: with 24 bytes they are as
/// long as those of apps/bank_transfer.
struct pair_record {
  /// Largest difference between the clocks of two multiprocessors.
  static constexpr std::uint32_t most_lag = 1u << 20;
  /// Longest time of a repetition: a longer gap could wrap around and be read as a shorter one.
  static constexpr std::uint32_t longest_run = ~0u - most_lag;

  std::int64_t sum;       ///< sum of all gaps
  std::uint32_t end;      ///< end of the last section, modulo 2^32
  std::int32_t minimum;   ///< least of all gaps, at most the largest value of the type
  std::uint32_t count;    ///< number of sections: number of gaps + 1
  std::uint32_t numbers;  ///< numbers of the sections, mixed and added up modulo 2^32

  /// Records the start of a section.
  __device__ void note_start(std::uint32_t start, std::uint32_t mixed) {
    if (count != 0) {
      // A gap may be negative, because the clocks of two multiprocessors may differ by a tick.
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

/// A section whose two records are one and the same counts once and has one gap.
template <class Clock>
struct pair_stamp {
  static constexpr bool reads_other_memory = false;
  std::uint32_t
      mixed;  ///< hash of the section's number, so that a lost and a doubled section do not cancel

  __device__ void operator()(pair_record& first, pair_record& second, nothing) const {
    auto const start = static_cast<std::uint32_t>(Clock::now());
    // Compares counts instead of addresses, so that a record in a message can stay in registers.
    std::uint32_t const before = second.count;
    first.note_start(start, mixed);
    if (second.count == before) second.note_start(start, mixed);
    auto const end = static_cast<std::uint32_t>(Clock::now());
    first.end = end;
    second.end = end;
  }
};

/// Makes section i.
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
