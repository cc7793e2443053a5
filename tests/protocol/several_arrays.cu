// SPDX-License-Identifier: Apache-2.0
// Sections on several arrays, and rows that they append: the result of a loop, limits and errors.

#include "tests/protocol/several_arrays.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using several::across;
using several::cell;
using several::contents;
using several::entry;
using several::expect_arrays_as_in_a_loop;
using several::tables;
using testing::HasSubstr;
using warden::outcome;

TEST(several_arrays, sections_are_as_in_a_loop) {
  std::uint32_t const n = test::sized(700u, 200'000u);
  expect_arrays_as_in_a_loop({.cells = 60, .wides = 40, .narrows = 900, .places = 6 * n}, n);
  expect_arrays_as_in_a_loop(
      {.cells = 1, .wides = 2, .narrows = 1, .places = 6 * n, .bad = 9, .unnamed = 7}, 300);
}
TEST(several_arrays, few_sections_are_as_in_a_loop) {
  for (std::uint32_t const n : {1u, 32u, 33u})
    expect_arrays_as_in_a_loop({.cells = 2, .wides = 3, .narrows = 4, .places = 1000}, n);
}
/// The sums of rows take more than one pass of a warp.
TEST(several_arrays, rows_of_many_warps_are_as_in_a_loop) {
  std::uint32_t const n = test::sized(9000u, 500'000u);
  expect_arrays_as_in_a_loop({.cells = n, .wides = n, .narrows = n, .places = 6 * n}, n, 0, {}, 1);
}
TEST(several_arrays, sections_whose_rows_do_not_fit_are_refused) {
  for (std::uint32_t const places : {0u, 1u, 100u, 101u, 102u, 103u, 900u})
    expect_arrays_as_in_a_loop({.cells = 6, .wides = 4, .narrows = 9, .places = places}, 200);
}

// ---- errors

constexpr several::arrays_shape small{.cells = 6, .wides = 4, .narrows = 9, .places = 20};

/// A section with the given accesses.
struct chosen {
  std::uint32_t wide_id, entry_id, rows;
  std::uint32_t nanoseconds = 0;  ///< time that the section takes
  __device__ void access(warden::access_list<3, several::all_types>& a) const {
    a.write<several::wide>(wide_id);
    if (entry_id != ~0u) a.read<entry>(entry_id);
    a.append<entry>(rows);
  }
  __device__ outcome operator()(warden::records<several::all_types, 3>& r) const {
    r.write<several::wide>(0).value += 1;
    for (std::uint32_t k = 0; k < rows; ++k) r.append<entry>(k) = {1, k, 2};
    std::uint64_t const begin = nanoseconds != 0 ? simt::nanoseconds() : 0;
    while (nanoseconds != 0 && simt::nanoseconds() - begin < nanoseconds) simt::back_off(8);
    return outcome::commit;
  }
};
struct call_fixture {
  contents before = several::first_contents(small);
  tables t{before};
  warden::deferred_several<decltype(t.all), chosen> later{t.all, 10};

  /// Returns the error of `wait`.
  std::string apply(std::vector<chosen> const& sections) {
    warden::buffer<chosen> const on_device{sections};
    later.apply_async(on_device.data(), sections.size());
    warden::stream_ref{}.synchronize();
    return test::error_text(t.all);
  }
};
TEST(several_arrays, ids_are_checked_by_array) {
  call_fixture f;
  // 4 would be a narrow record, if the ids of arrays followed one another.
  EXPECT_THAT(f.apply({{4, ~0u, 0}, {3, ~0u, 2}}),
              HasSubstr("record id 4 is not below 4 (1 such id, in rows from 0 on; the other "
                        "sections were executed)"));
  EXPECT_EQ(f.later.counts().committed, 1u);
  // Rows 0 and 1 are in use. Row 2 has a place, 20 has none.
  std::string const text = f.apply({{0, 1, 0}, {0, 2, 0}, {0, 20, 0}, {0, 0, 1}});
  EXPECT_THAT(text, HasSubstr("access: 1 ids are not below the rows in use, and their sections did "
                              "not run: sections name rows that earlier runs have appended"));
  EXPECT_THAT(text, HasSubstr("record id 20 is not below 20"));
  EXPECT_EQ(f.later.counts().committed, 2u);
  EXPECT_EQ(f.t.entries.rows(), 3u);
  // Each array reports its own errors.
  warden::buffer<chosen> const bad{std::vector<chosen>{{4, ~0u, 0}}};
  f.later.apply_async(bad.data(), 1);
  warden::stream_ref{}.synchronize();
  f.t.cells.wait();
  EXPECT_THAT(test::error_text(f.t.wides), HasSubstr("record id 4 is not below 4"));
}
TEST(several_arrays, full_arrays_are_reported) {
  call_fixture f;
  EXPECT_THAT(f.apply({{0, ~0u, 15}, {0, ~0u, 6}, {0, ~0u, 1}, {1, ~0u, 0}}),
              HasSubstr("append: 2 sections did not run, because their rows do not fit: the "
                        "guarded array has 20 places; make it larger"));
  EXPECT_EQ(f.later.counts().committed, 2u);
  EXPECT_EQ(f.t.wide_memory.to_host()[0].value, f.before.wides[0].value + 1);
  // The places of the sections that were refused hold no rows.
  EXPECT_EQ(f.t.entries.rows(), 20u);
  std::vector<entry> const seen = f.t.entry_memory.to_host();
  EXPECT_EQ(seen[14].section, 1u);
  EXPECT_EQ(seen[15].section, 0u);
  f.t.entries.resize(3);
  EXPECT_THAT(f.apply({{0, ~0u, 8192}, {0, ~0u, 17}}),
              HasSubstr("append: 1 sections did not run, because they append more than 8191 rows"));
  EXPECT_EQ(f.t.entries.rows(), 20u);
}
TEST(several_arrays, wrong_sizes_are_errors) {
  tables t{several::first_contents(small)};
  EXPECT_THAT(test::refusal([&] { t.entries.resize(21); }),
              HasSubstr("growing_array: 21 rows in use; the guarded array has 20 records"));
}

/// The time limit stops a run. Rows of the sections that did not run are zeros, not what was there.
TEST(several_arrays, rows_of_sections_that_did_not_run_are_cleared) {
  constexpr std::uint32_t n = 40;
  several::arrays_shape const of{.cells = 6, .wides = 4, .narrows = 9, .places = 2 * n};
  tables t{several::first_contents(of), {.time_limit_seconds = 1e-4, .minimum_polls = 64}};
  t.entry_memory.fill_bytes(0xff);
  warden::deferred_several<decltype(t.all), chosen> later{t.all, n};
  // The last section waits for the first one, which another warp runs.
  std::vector<chosen> sections(n, chosen{1, ~0u, 2});
  sections.front() = {0, ~0u, 2, 4'000'000u};
  sections.back() = {0, ~0u, 2};
  warden::buffer<chosen> const on_device{sections};
  warden::buffer<outcome> results{n};
  later.apply_async(on_device.data(), n, results.data());
  EXPECT_NE(test::error_of<warden::timeout_error>([&] { t.all.wait(); }), "");
  EXPECT_EQ(t.entries.rows(), 2 * n);
  std::vector<outcome> const seen = results.to_host();
  std::vector<entry> const entries = t.entry_memory.to_host();
  EXPECT_EQ(seen.back(), outcome::not_run);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const wanted = seen[i] == outcome::commit ? 1 : 0;
    EXPECT_EQ(entries[2 * i].section, wanted) << "section " << i;
    EXPECT_EQ(entries[2 * i + 1].section, wanted) << "section " << i;
  }
}
TEST(several_arrays, rows_are_resized_after_the_runs_of_all_streams) {
  call_fixture f;
  warden::stream one, other;
  warden::buffer<chosen> const sections{std::vector<chosen>{{0, ~0u, 5}, {1, ~0u, 5, 2'000'000u}}};
  f.later.apply_async(sections.data(), 2, nullptr, one);
  f.t.entries.resize(3, other);
  f.later.apply_async(sections.data(), 1, nullptr, one);
  f.t.all.wait(one);
  EXPECT_EQ(f.t.entries.rows(), 8u);
  EXPECT_THAT(
      test::refusal([&] { warden::graph::capture(one, [&] { f.t.entries.resize(0, one); }); }),
      HasSubstr("growing_array: the stream is being captured into a graph"));
}

/// Holds the records as a run does.
WARDEN_KERNEL void occupy(std::uint32_t* at_work, std::uint32_t value) {
  if (simt::thread_rank() == 0) simt::store_relaxed(at_work, value);
}
TEST(several_arrays, a_run_needs_all_arrays) {
  call_fixture f;
  for (auto const& state : {warden::detail::guarded_access::shared(f.t.cells),
                            warden::detail::guarded_access::shared(f.t.narrows),
                            warden::detail::guarded_access::shared(f.t.link_array)}) {
    warden::launch(&occupy, 1, 1, {}, state->at_work.data(), 1u);
    warden::buffer<chosen> const sections{std::vector<chosen>{{0, ~0u, 1}}};
    f.later.apply_async(sections.data(), 1);
    warden::launch(&occupy, 1, 1, {}, state->at_work.data(), 0u);
    EXPECT_THAT(test::error_text(f.t.all), HasSubstr("found the guarded array in another run"));
    EXPECT_EQ(f.t.entries.rows(), 0u);
  }
  EXPECT_EQ(f.apply({{0, ~0u, 1}}), "");
  EXPECT_EQ(f.t.entries.rows(), 1u);
}

/// Adds 1 to the record of an array that is the only one.
struct raise_alone {
  std::uint32_t id;
  using types = warden::record_types<cell>;
  __device__ void access(warden::access_list<3, types>& a) const { a.write<cell>(id); }
  __device__ outcome operator()(warden::records<types, 3>& r) const {
    ++r.write<cell>(0).value;
    return outcome::commit;
  }
};
TEST(several_arrays, one_array_is_enough) {
  warden::buffer<cell> records{std::vector<cell>(2, {0, 0, 0})};
  warden::guarded<cell, several::keep<cell>> on{records};
  warden::guarded_arrays all{on};
  warden::deferred_several<decltype(all), raise_alone> later{all, 3};
  warden::buffer<raise_alone> const sections{std::vector<raise_alone>{{0}, {1}, {1}}};
  later.apply_async(sections.data(), 3);
  all.wait();
  EXPECT_EQ(records.to_host()[0].value, 1u);
  EXPECT_EQ(records.to_host()[1].value, 2u);
}

}  // namespace
