// SPDX-License-Identifier: Apache-2.0
// index_add_: out[ids[i]][:] += rows[i][:], with the same bits in every run.

#include "microbench/programs/program.cuh"

#include <warden/sections.cuh>

#include <cmath>

namespace {

// ---- the work

template <unsigned Floats>
using row = warden::elements<float, Floats>;
using repeatable = warden::policy<warden::options{}, warden::order::deterministic>;
template <unsigned Floats>
using table = warden::basic_guarded<repeatable, row<Floats>, warden::add<row<Floats>>>;

// ---- data and check

template <unsigned Floats>
struct draw_row {
  __device__ row<Floats> operator()(std::uint64_t i) const {
    row<Floats> drawn;
    for (unsigned k = 0; k < Floats; ++k) {
      auto const bits = static_cast<std::int32_t>(bench::mix(i * Floats + k, 5));
      drawn[k] = static_cast<float>(bits) * 1e-9f;
    }
    return drawn;
  }
};
/// Checks that sums are near those of doubles, and that all repetitions have the same bits.
template <unsigned Floats>
class sum_check {
 public:
  sum_check(std::vector<std::uint32_t> const& ids, std::vector<row<Floats>> const& rows,
            std::uint32_t n_out)
      : sums_(std::size_t{n_out} * Floats), sizes_(sums_.size()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (unsigned k = 0; k < Floats; ++k) {
        double const value = rows[i][k];
        sums_[std::size_t{ids[i]} * Floats + k] += value;
        sizes_[std::size_t{ids[i]} * Floats + k] += std::abs(value);
      }
    }
  }
  bool is_right(std::vector<row<Floats>> const& found) {
    std::vector<float> const now{found.front().values,
                                 found.front().values + found.size() * Floats};
    bool right = first_.empty() || now == first_;
    for (std::size_t k = 0; k < now.size(); ++k)
      right = right && std::abs(now[k] - sums_[k]) <= 1e-4 * sizes_[k];
    first_ = now;
    return right;
  }

 private:
  std::vector<double> sums_, sizes_;
  std::vector<float> first_;
};
template <unsigned Floats>
void measure(programs::report& report, warden::buffer<std::uint32_t> const& ids,
             std::uint32_t n_out, std::string const& distribution) {
  auto const n = static_cast<std::uint32_t>(ids.size());
  auto const rows = programs::made<row<Floats>>(n, draw_row<Floats>{});
  sum_check<Floats> check{ids.to_host(), rows.to_host(), n_out};
  warden::buffer<row<Floats>> sums{n_out};
  table<Floats> out{sums};
  report.measure(
      "D=" + std::to_string(Floats) + " " + distribution, n, [&] { sums.fill_bytes(0); },
      [&] { out.apply_async(ids, rows); }, [&] { out.wait(); },
      [&] { return check.is_right(sums.to_host()); });
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 22), n_out = n / 4;
  programs::report report{"scatter"};
  for (char const* distribution : {"uniform", "zipf099"}) {
    auto const ids = programs::draw_ids(distribution, n_out, n);
    measure<1>(report, ids, n_out, distribution);
    measure<8>(report, ids, n_out, distribution);
    measure<64>(report, ids, n_out, distribution);
  }
  return report.exit_code();
}
