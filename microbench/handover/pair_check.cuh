// SPDX-License-Identifier: Apache-2.0
// Checks that each record had each of its sections once, and that its gaps fit into the repetition.
#pragma once

#include "microbench/handover/pair_section.cuh"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handover {

struct asked_arguments {
  section_pairs all;
  std::uint64_t*
      asked;  ///< [2 * record] number of its sections, then the sum of their hashes; 0 before
};

/// Counts the sections of each record, and adds up their hashes.
template <class Make>
WARDEN_KERNEL void find_asked(asked_arguments a) {
  bench::for_each_of(a.all.n, [&](std::uint64_t i) {
    std::uint32_t const first = a.all.firsts[i], second = a.all.seconds[i];
    std::uint64_t const mixed = Make{}(static_cast<std::uint32_t>(i)).mixed;
    auto const add = [&](std::uint64_t id) {
      simt::fetch_add(&a.asked[2 * id], std::uint64_t{1});
      simt::fetch_add(&a.asked[2 * id + 1], mixed);
    };
    add(first);
    if (second != first) add(second);
  });
}

/// Returns the number of wrong records after a repetition that took `span` by the clock of the
/// sections. Gaps and sections of a record alternate in time: a gap that misses the end of a
/// section, or is added twice, makes the sum longer than the repetition. All records are wrong if
/// the repetition was too long for the 32-bit clock of the records.
inline std::size_t wrong_records(std::vector<pair_record> const& records,
                                 std::vector<std::uint64_t> const& asked, std::uint64_t span) {
  if (span > pair_record::longest_run) return records.size();
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < records.size(); ++k) {
    pair_record const& r = records[k];
    bool const saw_each =
        r.count == asked[2 * k] && r.numbers == static_cast<std::uint32_t>(asked[2 * k + 1]);
    auto const gaps = static_cast<std::int64_t>(r.count) - 1;
    bool const fits = gaps > 0
                          ? r.sum >= gaps * r.minimum && r.sum <= static_cast<std::int64_t>(span)
                          : r.sum == 0;
    wrong += saw_each && fits ? 0 : 1;
  }
  return wrong;
}

}  // namespace handover
