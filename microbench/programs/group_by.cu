// SPDX-License-Identifier: Apache-2.0
// SELECT id, SUM(value), COUNT(*) ... GROUP BY id, with sums of 128 bits.

#include "microbench/programs/program.cuh"

#include <warden/sections.cuh>

namespace {

// ---- the work

struct total {
  unsigned __int128 sum;
  std::uint64_t rows;
};
using sum_and_count =
    warden::aggregate<unsigned __int128, warden::sum<&total::sum>, warden::count<&total::rows>>;
using groups = warden::guarded<total, sum_and_count>;

// ---- data and check

/// Draws a value of 64 bits, some of them negative.
struct draw_value {
  __device__ unsigned __int128 operator()(std::uint64_t i) const {
    std::uint64_t const low = bench::mix(i, 7);
    std::uint64_t const high = (low >> 63 != 0 ? ~std::uint64_t{0} : 0) + bench::mix(i, 8) % 5;
    return static_cast<unsigned __int128>(high) << 64 | low;
  }
};
std::vector<total> sums_of(std::vector<std::uint32_t> const& ids,
                           std::vector<unsigned __int128> const& values, std::uint32_t n_groups) {
  std::vector<total> all(n_groups);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    all[ids[i]].sum += values[i];
    ++all[ids[i]].rows;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 25);
  auto const values = programs::made<unsigned __int128>(n, draw_value{});
  auto const host_values = values.to_host();
  programs::report report{"group_by"};
  for (char const* distribution : {"uniform", "zipf110"}) {
    for (std::uint32_t const n_groups : {64u, 128u, 129u, 256u, 4096u, 100'000u, 1u << 20}) {
      if (n_groups > n) continue;
      auto const ids = programs::draw_ids(distribution, n_groups, n);
      auto const expected = sums_of(ids.to_host(), host_values, n_groups);
      warden::buffer<total> totals{n_groups};
      groups all{totals};
      report.measure(
          std::to_string(n_groups) + " groups " + distribution, n, [&] { totals.fill_bytes(0); },
          [&] { all.apply_async(ids, values); }, [&] { all.wait(); },
          [&] {
            return std::ranges::equal(totals.to_host(), expected, [](auto const& a, auto const& b) {
              return a.sum == b.sum && a.rows == b.rows;
            });
          });
    }
  }
  return report.exit_code();
}
