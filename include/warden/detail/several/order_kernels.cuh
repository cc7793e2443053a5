// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels that name the accesses of all sections, and find the turn of each access on its record.
///
/// The accesses are sorted by record, and on each record by section. An access to a record that
/// follows n others there has the turn n if it is a write, and m + 1 if it is a read and the last
/// write before it follows m others. A turn has come when the counter of finished accesses has
/// reached it. docs/design/several.md shows why a counter is enough.
#pragma once

#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block.
inline constexpr unsigned order_threads = 256;
/// Rows of 32 accesses in a tile, which one warp handles.
inline constexpr unsigned tile_rows = 8;
/// Accesses of a tile.
inline constexpr unsigned tile_size = tile_rows * simt::warp_size;

/// Numbers of rows that a section appends to each array.
template <class Set>
struct own_rows {
  std::uint32_t counts[Set::count];
};
/// Writes the accesses of section `i`, and returns the rows that it appends. A wrong access refuses
/// the section: the kernel that runs the sections reports it, because only then the run has the
/// records for certain.
template <unsigned Most, class Arguments, class Section>
WARDEN_DEVICE auto name_accesses_of(Arguments const& a, std::uint32_t i, Section const& section) {
  typename access_list_of<Most, typename Arguments::types>::type list;
  section.access(list);
  named_accesses named = list.named();
  std::uint32_t const first = i * Most;
  std::uint32_t numbers[Most];
  if (list.calls() > Most) {
    named.refused_for = refusal::too_many;
  } else {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named.count) continue;
      a.arrays.with_array(list.array(s), [&](auto const& array) {
        if (list.id(s) >= array.limit()) named.refused_for = refusal::bad_id;
        numbers[s] = array.begin + list.id(s);
      });
    }
  }
  own_rows<typename Arguments::array_set> rows{};
  if constexpr (Arguments::array_set::grows) {
    a.arrays.for_growing([&](auto const&, unsigned k) {
      rows.counts[k] = list.rows(k);
      if (rows.counts[k] > growing_rows::most && named.refused_for == refusal::none)
        named.refused_for = refusal::rows;
    });
  }
  if (named.refused_for == refusal::bad_id) {
    // Keeps arrays and ids for the report: this memory is free, as no access gets a turn.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      bool const exists = s < named.count;
      a.turns[first + s] = {exists ? list.id(s) : 0, exists ? list.array(s) + 1 : 0};
    }
  }
  if (named.refused_for != refusal::none) named.count = 0, rows = {};
  a.named[i] = named;
  WARDEN_UNROLL
  for (unsigned s = 0; s < Most; ++s) {
    bool const exists = s < named.count;
    a.ids[first + s] = exists ? numbers[s] : a.records;
    a.marks[first + s] = (first + s) | (exists && named.writes_to(s) ? 1u << 31 : 0);
  }
  return rows;
}
/// Takes the records for a run, and closes its log, if there is one. One thread.
template <class Arguments>
WARDEN_KERNEL void close_several(Arguments a) {
  a.take_records();
  if (a.has_records() && a.log != nullptr) a.close();
}
/// Names the accesses of the sections that `function(i)` returns. One thread for each section.
template <unsigned Most, class Arguments, class Function>
WARDEN_KERNEL void name_accesses(Arguments a, Function function) {
  std::uint32_t const i = simt::block_rank() * order_threads + simt::thread_rank();
  // Sections without a result: if the run is put off, or stopped by the time limit.
  if (a.outcomes != nullptr && i < a.sections) a.outcomes[i] = outcome::not_run;
  // For a log, close_several has taken the records.
  if (a.log == nullptr) {
    a.take_records();
  } else if (!a.has_records()) {
    return;
  }
  std::uint32_t const count = a.count();
  own_rows<typename Arguments::array_set> rows{};
  if (i < count) {
    rows = name_accesses_of<Most>(a, i, function(std::uint64_t{i}));
  } else if (i < a.sections) {
    // This id is above all others, so places without accesses come last in the order.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      a.ids[i * Most + s] = a.records;
      a.marks[i * Most + s] = i * Most + s;
    }
  }
  a.arrays.for_growing([&](auto const& array, unsigned k) {
    array.rows.store_count(i, rows.counts[k], a.sections);
  });
}
/// Finds the places of appended rows. One warp for each array.
template <class Arguments>
WARDEN_KERNEL void place_rows(Arguments a) {
  if (!a.has_records()) return;
  a.arrays.for_growing([&](auto const& array, unsigned k) {
    if (simt::thread_rank() / simt::warp_size == k) array.rows.scan_warps(a.sections);
  });
}

/// One access of a row of 32, and masks of the row's lanes.
struct sorted_access {
  std::uint32_t place, mark;  ///< place in the sorted order; its mark
  std::uint32_t id;           ///< number of the record
  bool exists, is_last;       ///< `is_last`: of its record
  unsigned firsts, writes;    ///< masks: first access to a record; write
};
/// Calls `visit(row)` for the rows of a tile. Collective over the warp.
template <class Arguments, class Visit>
WARDEN_DEVICE void for_each_row(Arguments const& a, std::uint32_t tile, Visit const& visit) {
  for (unsigned r = 0; r < tile_rows; ++r) {
    std::uint32_t const place = tile * tile_size + r * simt::warp_size + simt::lane_id();
    sorted_access row{place, 0, 0, false, true, 0, 0};
    bool is_first = false;
    if (place < a.accesses) {
      std::uint32_t const id = a.sorted_ids[place];
      row.id = id;
      row.exists = id < a.records;
      row.mark = a.sorted_marks[place];
      is_first = row.exists && (place == 0 || a.sorted_ids[place - 1] != id);
      row.is_last = place + 1 == a.accesses || a.sorted_ids[place + 1] != id;
    }
    row.firsts = simt::ballot(simt::full_warp, is_first);
    row.writes = simt::ballot(simt::full_warp, row.exists && row.mark >> 31 != 0);
    visit(row);
  }
}
/// Returns the tile that the calling warp handles.
WARDEN_DEVICE std::uint32_t tile_of_warp() {
  return (simt::block_rank() * order_threads + simt::thread_rank()) / simt::warp_size;
}
/// Updates `now` by a row. `place` is the place of the calling lane in that row.
WARDEN_DEVICE void go_on(tile_places& now, std::uint32_t place, unsigned firsts, unsigned writes) {
  std::uint32_t const begin = place - simt::lane_id() + 1;
  if (firsts != 0) {
    auto const first = static_cast<unsigned>(simt::last_bit(firsts));
    now.first = begin + first;
    now.writes = static_cast<std::uint32_t>(simt::count_bits(writes >> first));
  } else {
    now.writes += static_cast<std::uint32_t>(simt::count_bits(writes));
  }
  if (writes != 0) now.write = begin + static_cast<unsigned>(simt::last_bit(writes));
}

/// Stores the last places of each tile. One warp for each tile.
template <class Arguments>
WARDEN_KERNEL void summarize_tiles(Arguments a) {
  if (!a.has_records()) return;
  std::uint32_t const tile = tile_of_warp();
  if (tile >= (a.accesses + tile_size - 1) / tile_size) return;
  tile_places now{};
  for_each_row(a, tile,
               [&](sorted_access const& row) { go_on(now, row.place, row.firsts, row.writes); });
  if (simt::lane_id() == 0) a.tiles[tile] = now;
}

/// Returns the last places before a tile. `write` is valid only if it does not come before `first`:
/// the search ends at `first`. Collective over the warp.
template <class Arguments>
WARDEN_DEVICE tile_places places_before(Arguments const& a, std::uint32_t tile) {
  tile_places found{};
  for (std::uint32_t end = tile; end != 0 && found.first == 0;) {
    std::uint32_t const back = simt::lane_id() + 1;
    tile_places const seen = back <= end ? a.tiles[end - back] : tile_places{};
    unsigned const firsts = simt::ballot(simt::full_warp, seen.first != 0);
    unsigned const writes = simt::ballot(simt::full_warp, seen.write != 0);
    // The nearest tile is that of the lowest lane. Shuffles need a lane in any case.
    auto const lane = [](unsigned lanes) {
      return static_cast<unsigned>(lanes == 0 ? 0 : simt::first_bit(lanes));
    };
    std::uint32_t const first = simt::shuffle(simt::full_warp, seen.first, lane(firsts));
    std::uint32_t const write = simt::shuffle(simt::full_warp, seen.write, lane(writes));
    if (firsts != 0) found.first = first;
    if (found.write == 0 && writes != 0) found.write = write;  // mutation: several-far
    bool const is_of_record = firsts == 0 || simt::lane_id() <= lane(firsts);
    found.writes += simt::warp_sum(is_of_record ? seen.writes : 0);
    end = end > simt::warp_size ? end - simt::warp_size : 0;
  }
  return found;
}
/// Notes a record that may be hot, by the threads of its first and of its last access: it has
/// `writes` writes. The marks that were sorted are not needed any more. Returns the bit of the
/// access.
template <class Arguments>
WARDEN_DEVICE std::uint32_t note_hot(Arguments const& a, sorted_access const& row,
                                     std::uint32_t first, std::uint32_t writes) {
  std::uint32_t const least = a.owned.least;
  if (least == 0 || first + (least - 1) >= a.accesses) return 0;
  if (a.sorted_ids[first + (least - 1)] != row.id) return 0;  // mutation: several-hot
  if (row.place == first) {
    std::uint32_t const number = simt::fetch_add(&a.control->hot_records, 1u);
    a.owned.records[number] = {row.id, first, number, 0, 0, 0, 0, 0, 0};
    a.marks[first] = number;
  }
  if (row.is_last) {
    std::uint32_t const accesses = row.place + 1 - first;
    a.marks[first + 1] = writes;
    a.marks[first + 2] = accesses;
    if (is_written(writes, least)) {
      simt::add(&a.control->hot_accesses, accesses);
      simt::fetch_max(&a.control->hottest, accesses);
    }
  }
  return access_turn::hot_bit;
}
/// Finds the turns of all accesses. One warp for each tile.
template <class Arguments>
WARDEN_KERNEL void order_accesses(Arguments a) {
  if (!a.has_records()) return;
  std::uint32_t const tile = tile_of_warp();
  if (tile >= (a.accesses + tile_size - 1) / tile_size) return;
  tile_places before = places_before(a, tile);
  for_each_row(a, tile, [&](sorted_access const& row) {
    unsigned const below = (1u << simt::lane_id()) - 1, up_to = (below << 1) | 1;
    tile_places mine = before;
    go_on(mine, row.place, row.firsts & up_to, row.writes & below);
    if (row.exists) {
      std::uint32_t const first = mine.first - 1;
      std::uint32_t turn = row.place - first;
      bool const is_write = row.mark >> 31 != 0;
      // A write before `first` belongs to another record.
      if (!is_write) turn = mine.write > first ? mine.write - first : 0;  // mutation: several-read
      if (!row.is_last) turn |= access_turn::release_bit;
      a.turns[row.mark & ~(1u << 31)] = {
          first | note_hot(a, row, first, mine.writes + (is_write ? 1 : 0)), turn};
    }
    go_on(before, row.place, row.firsts, row.writes);
  });
}

}  // namespace detail
WARDEN_NAMESPACE_END
