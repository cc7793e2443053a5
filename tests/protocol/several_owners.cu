// SPDX-License-Identifier: Apache-2.0
// Sections on several records: which records have owners.

#include "tests/protocol/several.cuh"

#include <cstdint>
#include <vector>

namespace {

using several::cell;
using several::expect_as_in_a_loop;
using several::ordered_cells;
using several::shape;
using warden::outcome;

/// Readers share a record, so a block that owns it would only delay them.
TEST(several_owners, only_records_that_are_written_have_owners) {
  std::uint32_t const n = test::sized(900u, 100'000u);
  for (std::uint32_t const writes : {0u, 8u}) {
    shape const of{.records = 3, .positions = 1, .writes = writes};
    EXPECT_EQ(expect_as_in_a_loop<2>(of, n, 1, {}, 0, {.hot_accesses = 64}), 0u) << writes;
  }
  shape const written{.records = 3, .positions = 1, .writes = 256};
  EXPECT_EQ(expect_as_in_a_loop<2>(written, n, 1, {}, 0, {.hot_accesses = 64}), n);
}

/// Writes one of 20 records, and reads one that all sections read.
struct taxed {
  std::uint32_t number;
  __device__ void access(warden::access_list<2>& a) const {
    a.write(1 + number % 20);
    a.read(0);
  }
  __device__ outcome operator()(warden::records<cell, 2>& r) const {
    r.write(0).value += r.read(1).value;
    return outcome::commit;
  }
};
TEST(several_owners, a_record_that_all_sections_read_joins_no_groups) {
  std::uint32_t const n = 20 * test::sized(80u, 8000u);
  warden::buffer<cell> records{std::vector<cell>(21, {1, 0, 0})};
  ordered_cells on{records};
  warden::deferred_several<ordered_cells, taxed> later{on, n, {.hot_accesses = 64}};
  std::vector<taxed> sections(n);
  for (std::uint32_t i = 0; i < n; ++i) sections[i] = {i};
  warden::buffer<taxed> const on_device{sections};
  later.apply_async(on_device.data(), n);
  on.wait();
  EXPECT_EQ(later.counts().by_owners, n);
  for (cell const& c : records.to_host()) EXPECT_TRUE(c.value == 1 || c.value == 1 + n / 20);
}

/// Adds 1 to a record, or only reads it.
struct increment {
  std::uint32_t id;
  bool reads;
  __device__ void access(warden::access_list<1>& a) const {
    if (reads) return a.read(id);
    a.write(id);
  }
  __device__ outcome operator()(warden::records<cell, 1>& r) const {
    if (!reads) ++r.write(0).value;
    return outcome::commit;
  }
};
/// Returns the number of sections that owners run, if `first` sections write record 0, `more` use
/// record 1, and the others write `others` further records.
std::uint32_t run_by_owners(std::uint32_t n, std::uint32_t others, increment const& more_of,
                            std::uint32_t more, std::uint32_t first = 100,
                            warden::several_options const& chosen = {}) {
  warden::buffer<cell> records{std::vector<cell>(2 + others, {0, 0, 0})};
  ordered_cells on{records};
  warden::deferred_several<ordered_cells, increment> later{on, n, chosen};
  std::vector<increment> sections(n);
  std::vector<std::uint64_t> expected(2 + others);
  for (std::uint32_t i = 0; i < n; ++i) {
    sections[i] = i < first          ? increment{0, false}
                  : i < first + more ? more_of
                                     : increment{2 + i % others, false};
    if (!sections[i].reads) ++expected[sections[i].id];
  }
  warden::buffer<increment> const on_device{sections};
  later.apply_async(on_device.data(), n);
  on.wait();
  auto const all = records.to_host();
  for (std::size_t id = 0; id < expected.size(); ++id) EXPECT_EQ(all[id].value, expected[id]);
  return later.counts().by_owners;
}
TEST(several_owners, the_hottest_records_have_owners_if_few_sections_have_hot_records) {
  std::uint32_t const n = test::sized(1000u, 20'000u);
  EXPECT_EQ(run_by_owners(n, n, {1, false}, 40), 100u);
  EXPECT_EQ(run_by_owners(n, n / 40, {1, false}, 40), n);
  // A record that is only read does not count.
  EXPECT_EQ(run_by_owners(n, n, {1, true}, 300), 100u);
}
TEST(several_owners, records_that_do_not_hold_up_the_run_have_none) {
  constexpr std::uint32_t n = 2000;
  EXPECT_EQ(run_by_owners(n, n, {1, false}, 0, 4, {.hot_accesses = 3}), 0u);
  EXPECT_EQ(run_by_owners(n, n, {1, false}, 0, 5, {.hot_accesses = 3}), 5u);
}

}  // namespace
