// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adds what a function returns to a block's tables of partials.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/bulk/bulk_rows.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Adds the sections that `function(i)` returns for all i of a range to `table`. Each block of the
/// grid takes its share. `check(id, row)` tells whether an id names a record. Collective over the
/// grid.
template <class Table, class Function, class Check>
WARDEN_DEVICE void add_elements(Table& table, index_range of, Function const& function,
                                Check const& check) {
  using partial = typename Table::partial_type;
  using section = typename send_traits<std::remove_cvref_t<decltype(function(of.end))>>::section;
  constexpr unsigned at_once = Table::rows_at_once(sizeof(section));
  constexpr unsigned together = Table::together;
  auto const add = [&](auto const& rows, std::uint64_t first_row, std::uint64_t step) {
    WARDEN_UNROLL
    for (unsigned first = 0; first < at_once; first += together) {
      std::uint32_t records[together];
      partial_words<partial> words[together];
      bool are_valid[together];
      WARDEN_UNROLL
      for (unsigned k = 0; k < together; ++k) {
        are_valid[k] =
            rows.has(first + k) && check(rows.id(first + k), first_row + (first + k) * step);
        // A lane without a record has a number of its own, beyond every record.
        records[k] = are_valid[k] ? rows.id(first + k) : ~simt::lane_id();
        if (are_valid[k])
          words[k] = partial_words<partial>{made_partial<partial>(rows.section(first + k))};
      }
      if constexpr (together == 1) {
        table.add(records[0], words[0], are_valid[0]);
      } else {
        table.add(records, words, are_valid);
      }
    }
  };
  for_each_row<at_once>(of, function, check, add);
}

}  // namespace detail
WARDEN_NAMESPACE_END
