// SPDX-License-Identifier: Apache-2.0
// SELECT id, SUM(value), COUNT(*) ... GROUP BY id, with sums of 128 bits.

#include "microbench/programs/program.cuh"

namespace {

// ---- the work

struct total {
  unsigned __int128 sum;
  std::uint64_t rows;
};
/// Several rows of a group.
struct sums {
  std::uint64_t low, high;
  std::uint32_t rows;
  __device__ static sums combine(sums const& a, sums const& b) {
    std::uint64_t const low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low), a.rows + b.rows};
  }
  __device__ void operator()(total& t) const {
    t.sum += static_cast<unsigned __int128>(high) << 64 | low;
    t.rows += rows;
  }
};
struct row {
  std::uint64_t low, high;
  using partial = sums;
  __device__ operator sums() const { return {low, high, 1}; }
  __device__ void operator()(total& t) const { sums{low, high, 1}(t); }
};
using groups = warden::guarded<total, row>;

// ---- data and check

/// Draws a value of 64 bits, some of them negative.
struct draw_row {
  __device__ row operator()(std::uint64_t i) const {
    std::uint64_t const low = bench::mix(i, 7);
    return {low, (low >> 63 != 0 ? ~std::uint64_t{0} : 0) + bench::mix(i, 8) % 5};
  }
};
std::vector<total> sums_of(std::vector<std::uint32_t> const& ids, std::vector<row> const& rows,
                           std::uint32_t n_groups) {
  std::vector<total> all(n_groups);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    all[ids[i]].sum += static_cast<unsigned __int128>(rows[i].high) << 64 | rows[i].low;
    ++all[ids[i]].rows;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 25);
  auto const rows = programs::made<row>(n, draw_row{});
  auto const host_rows = rows.to_host();
  programs::report report{"group_by"};
  for (char const* distribution : {"uniform", "zipf110"}) {
    for (std::uint32_t const n_groups : {64u, 128u, 129u, 256u, 4096u, 100'000u, 1u << 20}) {
      if (n_groups > n) continue;
      auto const ids = programs::draw_ids(distribution, n_groups, n);
      auto const expected = sums_of(ids.to_host(), host_rows, n_groups);
      warden::buffer<total> totals{n_groups};
      groups all{totals};
      report.measure(
          std::to_string(n_groups) + " groups " + distribution, n, [&] { totals.fill_bytes(0); },
          [&] { all.apply_async(ids.data(), rows.data(), n); }, [&] { all.wait(); },
          [&] {
            return std::ranges::equal(totals.to_host(), expected, [](auto const& a, auto const& b) {
              return a.sum == b.sum && a.rows == b.rows;
            });
          });
    }
  }
  return report.exit_code();
}
