// SPDX-License-Identifier: Apache-2.0
// Section that measures the time since the previous section on its record [Wang 2020, table 4.2].
#pragma once

#include "microbench/contention/operations.cuh"
#include "microbench/support/clock.cuh"

#include <cstdint>

namespace handover {

namespace simt = warden::simt;
using bench::mix;

/// Gaps between the sections of one record. A gap lasts from the end of a section to the start of
/// the next.
struct record {
  std::uint64_t end;              ///< end of the last section
  std::int64_t sum;               ///< sum of all gaps
  std::int32_t minimum, maximum;  ///< least and largest of all gaps
  std::uint32_t count;            ///< number of sections: number of gaps + 1
  std::uint32_t numbers;          ///< numbers of the sections, mixed and added up modulo 2^32
};

/// Operation for the runner of the contention benchmark. Sections read `Clock`.
template <class Clock>
struct stamp {
  using clock = Clock;
  static constexpr char const* name = Clock::name;
  static constexpr bool fused_alone = true;
  using record = handover::record;
  struct context {};
  struct section {
    static constexpr bool reads_other_memory = false;
    std::uint32_t mixed;  ///< hash of the section's number, so that a lost and a doubled section do
                          ///< not cancel
    __device__ void operator()(record& r, context) const {
      std::uint64_t const start = Clock::now();
      if (r.count != 0) {
        // Signed, because the clocks of two multiprocessors may differ by a tick.
        auto const gap = static_cast<std::int32_t>(start - r.end);
        r.sum += gap;
        r.minimum = r.count == 1 || gap < r.minimum ? gap : r.minimum;
        r.maximum = r.count == 1 || gap > r.maximum ? gap : r.maximum;
      }
      ++r.count;
      r.numbers += mixed;
      r.end = Clock::now();
    }
  };
  struct make {
    __device__ section operator()(std::uint32_t i) const {
      return {static_cast<std::uint32_t>(mix(i, 7))};
    }
  };
  static constexpr bool has_atomic = false;
  static context make_context(std::uint32_t*) { return {}; }

  using check_arguments = contention::oracle_arguments<record, context>;
  /// Counts the operations of each key, and adds up their numbers.
  __device__ static void first_check(check_arguments const& a) {
    bench::for_each_of(a.n, [&](std::uint64_t i) {
      std::uint64_t* const expected = &a.memory.per_key[2 * std::uint64_t{a.ids[i]}];
      simt::fetch_add(&expected[0], std::uint64_t{1});
      simt::fetch_add(&expected[1], std::uint64_t{make{}(static_cast<std::uint32_t>(i)).mixed});
    });
  }
  /// Checks that each section ran once, and that its gap is in the sum.
  __device__ static void second_check(check_arguments const& a) {
    bench::for_each_of(a.keys, [&](std::uint64_t k) {
      record const& r = a.records[k];
      std::uint64_t const* const expected = &a.memory.per_key[2 * k];
      auto const gaps = static_cast<std::int64_t>(r.count) - 1;
      bool const good = r.count == expected[0] &&
                        r.numbers == static_cast<std::uint32_t>(expected[1]) &&
                        (gaps <= 0 || (r.sum >= gaps * r.minimum && r.sum <= gaps * r.maximum));
      if (!good) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
};

}  // namespace handover
