// SPDX-License-Identifier: Apache-2.0
// Sections on three arrays that append rows to two of them, and what a loop over them leaves.
#pragma once

#include "tests/protocol/several.cuh"

#include <warden/deferred_several.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace several {

/// Records of different sizes, one of which is of one byte, and rows.
struct wide {
  std::uint64_t value;
  std::uint32_t more[5];
};
struct narrow {
  unsigned char value;
};
struct entry {
  std::uint32_t section, line;  ///< section plus 1
  std::uint64_t seen;
};
struct link {
  std::uint64_t first_entry;
  std::uint32_t section, entries;
};
using all_types =
    warden::record_types<cell, wide, narrow, warden::growing<entry>, warden::growing<link>>;

/// Shape of random sections.
struct arrays_shape {
  std::uint32_t cells, wides, narrows;  ///< records of each array
  std::uint32_t places;                 ///< places of the entries, and of the links
  std::uint32_t bad = 0;                ///< sections among 256 with a wrong id
  std::uint32_t unnamed = 0;            ///< sections among 256 that use an access of another array
};

/// Contents of all arrays.
struct contents {
  std::vector<cell> cells;
  std::vector<wide> wides;
  std::vector<narrow> narrows;
  std::vector<entry> entries;
  std::vector<link> links;
  std::size_t entries_used = 0, links_used = 0;
};
inline contents first_contents(arrays_shape const& of) {
  contents c{first_cells(of.cells), std::vector<wide>(of.wides), std::vector<narrow>(of.narrows),
             std::vector<entry>(of.places), std::vector<link>(of.places)};
  for (std::uint32_t r = 0; r < of.wides; ++r) c.wides[r] = {mix(r + 7), {r, 1, 2, 3, 4}};
  for (std::uint32_t r = 0; r < of.narrows; ++r) c.narrows[r] = {static_cast<unsigned char>(r)};
  return c;
}

/// A section on a cell, up to two wide records and a narrow one. Appends 0 to 5 entries, in two
/// calls, and a link if it has any. Reads an entry of an earlier run, if there is one.
struct across {
  std::uint32_t number, entries_before;
  arrays_shape of;

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t draw(std::uint32_t which) const {
    return static_cast<std::uint32_t>(mix(std::uint64_t{number} << 8 | which) >> 32);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_bad() const { return draw(1) % 256 < of.bad; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool misuses() const { return draw(2) % 256 < of.unnamed; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t cell_id() const { return draw(3) % of.cells; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t wide_id(unsigned k) const {
    return is_bad() && k == 0 ? of.wides + draw(4) % 2 : draw(5 + k) % of.wides;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t narrow_id() const { return draw(7) % of.narrows; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool writes_wide() const { return draw(8) % 2 == 0; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool reads_entry() const {
    return entries_before != 0 && draw(9) % 2 == 0;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t entry_id() const {
    return draw(10) % entries_before;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t new_entries() const { return draw(11) % 6; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool aborts(std::uint64_t seen) const {
    return (draw(12) + seen) % 8 == 0;
  }

  __device__ void access(warden::access_list<5, all_types>& a) const {
    a.write<cell>(cell_id());
    if (writes_wide()) {
      a.write<wide>(wide_id(0));
    } else {
      a.read<wide>(wide_id(0));
    }
    a.read<wide>(wide_id(1));
    a.write<narrow>(narrow_id());
    if (reads_entry()) a.read<entry>(entry_id());
    std::uint32_t const rows = new_entries();
    a.append<entry>(rows / 2);
    a.append<entry>(rows - rows / 2);
    if (rows != 0) a.append<link>();
  }
  __device__ outcome operator()(warden::records<all_types, 5>& r) const {
    if (misuses()) r.read<narrow>(2);
    std::uint64_t seen = number;
    seen = mix(seen + r.read<cell>(0).value);
    seen = mix(seen + r.read<wide>(1).value);
    seen = mix(seen + r.read<wide>(2).value);
    seen = mix(seen + r.read<narrow>(3).value);
    if (reads_entry()) seen = mix(seen + r.read<entry>(4).seen);
    r.write<cell>(0).value = seen;
    r.write<cell>(0).writes += 1;
    if (writes_wide()) r.write<wide>(1).value += seen;
    r.write<narrow>(3).value += static_cast<unsigned char>(seen);
    std::uint32_t const rows = new_entries();
    for (std::uint32_t k = 0; k < rows; ++k) r.append<entry>(k) = {number + 1, k, seen};
    if (rows != 0) r.append<link>() = {r.place<entry>(), number + 1, rows};
    return aborts(seen) ? outcome::abort : outcome::commit;
  }

  /// Runs the section by itself.
  outcome run_alone(contents& all) const {
    if (is_bad()) return outcome::refused;
    std::uint32_t const rows = new_entries();
    std::size_t const entries = all.entries_used, links = all.links_used;
    all.entries_used += rows;
    all.links_used += rows != 0 ? 1 : 0;
    if (rows != 0 && (all.entries_used > of.places || all.links_used > of.places))
      return outcome::refused;
    if (misuses()) return outcome::refused;
    std::uint64_t seen = number;
    seen = mix(seen + all.cells[cell_id()].value);
    seen = mix(seen + all.wides[wide_id(0)].value);
    seen = mix(seen + all.wides[wide_id(1)].value);
    seen = mix(seen + all.narrows[narrow_id()].value);
    if (reads_entry()) seen = mix(seen + all.entries[entry_id()].seen);
    if (aborts(seen)) return outcome::abort;
    all.cells[cell_id()].value = seen;
    all.cells[cell_id()].writes += 1;
    if (writes_wide()) all.wides[wide_id(0)].value += seen;
    all.narrows[narrow_id()].value =
        static_cast<unsigned char>(all.narrows[narrow_id()].value + seen);
    for (std::uint32_t k = 0; k < rows; ++k) all.entries[entries + k] = {number + 1, k, seen};
    if (rows != 0) all.links[links] = {entries, number + 1, rows};
    return outcome::commit;
  }
};

/// A section on one record, which each guarded array has.
template <class Record>
struct forget {
  __device__ void operator()(Record& r) const { r = {}; }
};
template <class Record>
using table = warden::guarded<Record, forget<Record>>;

/// The arrays in device memory.
struct tables {
  explicit tables(contents const& c, warden::guarded_options const& chosen = {})
      : cell_memory{c.cells},
        wide_memory{c.wides},
        narrow_memory{c.narrows},
        entry_memory{c.entries},
        link_memory{c.links},
        cells{cell_memory, chosen},
        wides{wide_memory, chosen},
        narrows{narrow_memory, chosen},
        entry_array{entry_memory, chosen},
        link_array{link_memory, chosen} {}

  warden::buffer<cell> cell_memory;
  warden::buffer<wide> wide_memory;
  warden::buffer<narrow> narrow_memory;
  warden::buffer<entry> entry_memory;
  warden::buffer<link> link_memory;
  table<cell> cells;
  table<wide> wides;
  table<narrow> narrows;
  table<entry> entry_array;
  table<link> link_array;
  warden::growing_array<table<entry>> entries{entry_array};
  warden::growing_array<table<link>> links{link_array};
  warden::guarded_arrays<table<cell>, table<wide>, table<narrow>,
                         warden::growing_array<table<entry>>, warden::growing_array<table<link>>>
      all{cells, wides, narrows, entries, links};
};

/// Compares the bytes of an array: places without a row are zeros.
template <class Record>
void expect_same_bytes(warden::buffer<Record> const& memory, std::vector<Record> const& wanted) {
  std::vector<Record> const seen = memory.to_host();
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    ASSERT_EQ(std::memcmp(&seen[r], &wanted[r], sizeof(Record)), 0)
        << "record " << r << " of " << sizeof(Record) << " bytes: not as in a loop";
  }
}

/// Runs sections, and compares all arrays, results and counts with those of a loop.
inline void expect_arrays_as_in_a_loop(arrays_shape of, std::uint32_t n, std::uint32_t first = 0,
                                       warden::guarded_options const& chosen = {},
                                       unsigned calls = 2, warden::several_options hot = {}) {
  contents wanted = first_contents(of);
  tables t{wanted, chosen};
  warden::deferred_several<decltype(t.all), across> later{t.all, n, hot};
  warden::buffer<outcome> results{n};
  for (unsigned call = 0; call < calls; ++call) {
    std::vector<across> sections(n);
    auto const before = static_cast<std::uint32_t>(t.entries.rows());
    for (std::uint32_t i = 0; i < n; ++i) sections[i] = {first + call * n + i, before, of};
    warden::buffer<across> const on_device{sections};
    later.apply_async(on_device.data(), n, results.data());
    std::vector<outcome> alone(n);
    std::uint32_t counted[3] = {};
    for (std::uint32_t i = 0; i < n; ++i) {
      alone[i] = sections[i].run_alone(wanted);
      ++counted[static_cast<unsigned>(alone[i])];
    }
    wanted.entries_used = std::min<std::size_t>(wanted.entries_used, of.places);
    wanted.links_used = std::min<std::size_t>(wanted.links_used, of.places);
    if (counted[2] == 0) {
      t.all.wait();
    } else {
      EXPECT_THROW(t.all.wait(), warden::limit_error);
    }
    std::vector<outcome> const seen = results.to_host();
    for (std::uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(seen[i], alone[i]) << "section " << i << ": not as in a loop";
    warden::outcome_counts const counts = later.counts();
    EXPECT_EQ(counts.committed, counted[0]);
    EXPECT_EQ(counts.aborted, counted[1]);
    EXPECT_EQ(counts.refused, counted[2]);
    EXPECT_EQ(t.entries.rows(), wanted.entries_used) << "lost or doubled section";
    EXPECT_EQ(t.links.rows(), wanted.links_used) << "lost or doubled section";
  }
  expect_same_bytes(t.cell_memory, wanted.cells);
  expect_same_bytes(t.wide_memory, wanted.wides);
  expect_same_bytes(t.narrow_memory, wanted.narrows);
  expect_same_bytes(t.entry_memory, wanted.entries);
  expect_same_bytes(t.link_memory, wanted.links);
}

}  // namespace several
