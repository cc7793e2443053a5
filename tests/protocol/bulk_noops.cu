// SPDX-License-Identifier: Apache-2.0
// apply_async of sections with is_noop that combine: passes over many records leave out no-ops.

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

struct largest {
  std::uint32_t value;
  std::uint32_t rows;  ///< sections in the partials that changed the record
};
/// Section: raises the value of a record.
struct raise {
  std::uint32_t value, rows;
  WARDEN_HOST_DEVICE static raise of(std::uint64_t i) {
    return {static_cast<std::uint32_t>(test::mix(i) >> 40) + 1, 1};
  }
  __device__ bool is_noop(largest const& of) const { return value <= of.value; }
  __device__ void operator()(largest& of) const {
    if (is_noop(of)) return;
    of.value = value;
    of.rows += rows;
  }
  __device__ static raise combine(raise const& a, raise const& b) {
    return {a.value < b.value ? b.value : a.value, a.rows + b.rows};
  }
};
using policy = warden::policy<warden::options{.block_threads = 32}>;

/// Raises the values of many records by `n` sections in one call, and compares them with those of a
/// loop. Returns the sections that took part in a change.
std::uint64_t rows_of_changes(std::uint64_t n, std::uint32_t records) {
  std::vector<std::uint32_t> wanted(records);
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint32_t& value = wanted[test::id_of(i, records)];
    value = std::max(value, raise::of(i).value);
  }
  warden::buffer<largest> values{records};
  values.fill_bytes(0);
  warden::basic_guarded<policy, largest, raise> on{values};
  on.apply_async(n, [=] __device__(std::uint64_t i) {
    return warden::to{test::id_of(i, records), raise::of(i)};
  });
  on.wait();
  std::uint64_t rows = 0;
  auto const found = values.to_host();
  for (std::uint32_t r = 0; r < records; ++r) {
    EXPECT_EQ(found[r].value, wanted[r]) << "lost section on record " << r;
    rows += found[r].rows;
  }
  return rows;
}

constexpr std::uint32_t many_records = 20'000;
/// True if the sections go through no log, whose run also leaves out no-ops.
bool runs_in_bulk() {
  using runner = warden::detail::bulk_runner_of<true, policy, largest, raise>::type;
  return runner::fits(many_records, warden::runtime::facts(0));
}

TEST(bulk_noops, later_passes_leave_out_most_of_many_candidates) {
  std::uint64_t const n = test::sized(400'000u, 4'000'000u);
  EXPECT_LT(rows_of_changes(n, many_records), n / 2);
}
TEST(bulk_noops, few_candidates_of_a_record_are_one_pass) {
  std::uint64_t const n = 2 * many_records;
  std::uint64_t const rows = rows_of_changes(n, many_records);
  if (runs_in_bulk()) {
    EXPECT_EQ(rows, n);
  }
}

}  // namespace
