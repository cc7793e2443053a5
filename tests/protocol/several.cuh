// SPDX-License-Identifier: Apache-2.0
// Sections on several records with random accesses, and the records that a loop over them leaves.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred_several.cuh>

#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

namespace several {

using test::mix;
using warden::outcome;

struct cell {
  std::uint64_t value;
  std::uint32_t writes, padding;
};

/// Section of a guarded array whose sections are all on several records.
template <class Record>
struct keep {
  __device__ void operator()(Record&) const {}
};

/// Random numbers of a seed.
struct draws {
  std::uint64_t seed;
  /// Returns number `which`, from 0 to 7, below `below`.
  std::uint32_t operator()(std::uint64_t which, std::uint32_t below) const {
    return static_cast<std::uint32_t>(mix(seed * 8 + which) % below);
  }
};

/// Shape of random sections.
struct shape {
  std::uint32_t records;       ///< ids are below
  std::uint32_t positions;     ///< at most
  std::uint32_t writes = 128;  ///< writes among 256 accesses
  std::uint32_t aborts = 32;   ///< sections among 256 that abort
  std::uint32_t bad = 0;       ///< sections among 256 that name a record that does not exist
  std::uint32_t groups = 1;    ///< a section names records of one of as many equal groups
};

/// A section with up to `Most` accesses, all derived from its number. Repeated ids are frequent if
/// there are few records.
template <unsigned Most>
struct mixed {
  static constexpr unsigned most = Most;
  std::uint32_t number;
  shape of;

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t draw(std::uint32_t which) const {
    return static_cast<std::uint32_t>(mix(std::uint64_t{number} << 8 | which) >> 32);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE unsigned positions() const { return 1 + draw(0) % of.positions; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_bad() const { return draw(1) % 256 < of.bad; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool aborts() const { return draw(2) % 256 < of.aborts; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t id(unsigned position) const {
    if (is_bad() && position == 0) return of.records + number % 3;
    std::uint32_t const size = of.records / of.groups;
    return draw(3) % of.groups * size + draw(16 + position) % size;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE bool writes(unsigned position) const {
    return draw(32 + position) % 256 < of.writes;
  }
  /// Returns the value that the section writes at a position after it has seen all values.
  [[nodiscard]] WARDEN_HOST_DEVICE static std::uint64_t written(std::uint64_t seen,
                                                                unsigned position) {
    return mix(seen + position);
  }

  __device__ void access(warden::access_list<Most>& a) const {
    for (unsigned p = 0; p < positions(); ++p) {
      if (writes(p)) {
        a.write(id(p));
      } else {
        a.read(id(p));
      }
    }
  }
  __device__ outcome operator()(warden::records<cell, Most>& r) const {
    std::uint64_t seen = number;
    for (unsigned p = 0; p < positions(); ++p) seen = mix(seen + r.read(p).value);
    for (unsigned p = 0; p < positions(); ++p) {
      if (!writes(p)) continue;
      r.write(p).value = written(seen, p);
      r.write(p).writes += 1;
      seen += r.read(p).writes;
    }
    // Sees its own writes, and otherwise the values read before.
    for (unsigned p = 0; p < positions(); ++p) seen = mix(seen + r.read(p).value);
    return aborts() || seen % 7 == 0 ? outcome::abort : outcome::commit;
  }

  /// Runs the section by itself.
  outcome run_alone(std::vector<cell>& all) const {
    if (is_bad()) return outcome::refused;
    std::map<std::uint32_t, cell> own;
    for (unsigned p = 0; p < positions(); ++p) own[id(p)] = all[id(p)];
    std::uint64_t seen = number;
    for (unsigned p = 0; p < positions(); ++p) seen = mix(seen + own[id(p)].value);
    for (unsigned p = 0; p < positions(); ++p) {
      if (!writes(p)) continue;
      own[id(p)].value = written(seen, p);
      own[id(p)].writes += 1;
      seen += own[id(p)].writes;
    }
    for (unsigned p = 0; p < positions(); ++p) seen = mix(seen + own[id(p)].value);
    if (aborts() || seen % 7 == 0) return outcome::abort;
    for (auto const& [id, one] : own) all[id] = one;
    return outcome::commit;
  }
};

/// Section on one record: each guarded array has one.
struct clear {
  __device__ void operator()(cell& c) const { c = {}; }
};
using cells = warden::guarded<cell, clear>;
/// Cells whose sections run in order, also those on two records.
using ordered_cells =
    warden::basic_guarded<warden::policy<warden::options{}, warden::order::sequential>, cell,
                          clear>;

/// Cells with values by number.
inline std::vector<cell> first_cells(std::uint32_t records) {
  std::vector<cell> all(records);
  for (std::uint32_t r = 0; r < records; ++r) all[r] = {mix(r), 0, 0};
  return all;
}
inline void expect_same(std::vector<cell> const& seen, std::vector<cell> const& wanted) {
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    ASSERT_EQ(seen[r].writes, wanted[r].writes) << "record " << r << ": lost or doubled section";
    ASSERT_EQ(seen[r].value, wanted[r].value) << "record " << r << ": not as in a loop";
  }
}

/// Runs sections, and compares records, results and counts with those of a loop. Returns the number
/// of sections that owners of records ran.
template <unsigned Most>
std::uint64_t expect_as_in_a_loop(shape of, std::uint32_t n, unsigned calls = 2,
                                  warden::guarded_options chosen = {},
                                  std::uint32_t first_number = 0,
                                  warden::several_options hot = {}) {
  using section = mixed<Most>;
  std::vector<cell> all = first_cells(of.records);
  warden::buffer<cell> records{all};
  // Without an order, sections on two records need not be as in a loop.
  using guarded = std::conditional_t<Most == 2, ordered_cells, cells>;
  guarded on{records, chosen};
  warden::deferred_several<guarded, section> later{on, n, hot};
  warden::buffer<outcome> results{n};
  std::uint64_t by_owners = 0;
  for (unsigned call = 0; call < calls; ++call) {
    std::vector<section> sections(n);
    for (std::uint32_t i = 0; i < n; ++i) sections[i] = {first_number + call * n + i, of};
    warden::buffer<section> const on_device{sections};
    later.apply_async(on_device.data(), n, results.data());
    std::uint32_t bad = 0, counted[3] = {};
    for (section const& one : sections) bad += one.is_bad() ? 1 : 0;
    if (bad == 0) {
      on.wait();
    } else {
      EXPECT_THROW(on.wait(), warden::limit_error);
    }
    std::vector<outcome> const seen = results.to_host();
    for (std::uint32_t i = 0; i < n; ++i) {
      outcome const wanted = sections[i].run_alone(all);
      ++counted[static_cast<unsigned>(wanted)];
      EXPECT_EQ(seen[i], wanted) << "section " << i << ": not as in a loop";
    }
    warden::outcome_counts const counts = later.counts();
    EXPECT_EQ(counts.committed, counted[0]);
    EXPECT_EQ(counts.aborted, counted[1]);
    EXPECT_EQ(counts.refused, counted[2]);
    by_owners += counts.by_owners;
  }
  expect_same(records.to_host(), all);
  return by_owners;
}

}  // namespace several
