// SPDX-License-Identifier: Apache-2.0
// index_add_: out[ids[i]][:] += rows[i][:], with the same bits in every run.

#include "microbench/programs/program.cuh"

#include <cmath>

namespace {

// ---- the work

template <unsigned Floats>
struct alignas(Floats < 4 ? 4 : 16) row {
  float v[Floats];
};
template <unsigned Floats,
          unsigned Lanes = Floats<64 ? 1 : 16> struct alignas(Floats < 4 ? 4 : 16) add {
  static constexpr unsigned group_size = Lanes, each = Floats / Lanes;
  float v[each];
  __device__ static add combine(add a, add const& b) {
    for (unsigned k = 0; k < each; ++k) a.v[k] += b.v[k];
    return a;
  }
  __device__ void operator()(row<Floats>& r, warden::lane_group<Lanes> const& group) const {
    for (unsigned k = 0; k < each; ++k) r.v[group.lane() * each + k] += v[k];
  }
};
using repeatable = warden::policy<warden::options{}, warden::order::deterministic>;
template <unsigned Floats>
using table = warden::basic_guarded<repeatable, row<Floats>, add<Floats>>;
template <unsigned Floats>
void add_rows(table<Floats>& out, std::uint32_t const* ids, float const* rows, std::uint64_t n) {
  using lanes = warden::lane_group<add<Floats>::group_size>;
  auto const* const parts = reinterpret_cast<add<Floats> const*>(rows);
  out.apply_async(ids, n, [=] __device__(std::uint64_t i, lanes const& group) {
    return parts[i * lanes::lanes + group.lane()];
  });
}

// ---- data and check

struct draw_value {
  __device__ float operator()(std::uint64_t i) const {
    return static_cast<float>(static_cast<std::int32_t>(bench::mix(i, 5))) * 1e-9f;
  }
};
/// Checks that sums are near those of doubles, and that all repetitions have the same bits.
template <unsigned Floats>
class sum_check {
 public:
  sum_check(std::vector<std::uint32_t> const& ids, std::vector<float> const& rows,
            std::uint32_t n_out)
      : sums_(std::size_t{n_out} * Floats), sizes_(sums_.size()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (unsigned k = 0; k < Floats; ++k) {
        double const value = rows[i * Floats + k];
        sums_[std::size_t{ids[i]} * Floats + k] += value;
        sizes_[std::size_t{ids[i]} * Floats + k] += std::abs(value);
      }
    }
  }
  bool is_right(std::vector<row<Floats>> const& found) {
    std::vector<float> const now{found.front().v, found.front().v + found.size() * Floats};
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
  auto const rows = programs::made<float>(std::uint64_t{n} * Floats, draw_value{});
  sum_check<Floats> check{ids.to_host(), rows.to_host(), n_out};
  warden::buffer<row<Floats>> sums{n_out};
  table<Floats> out{sums};
  report.measure(
      "D=" + std::to_string(Floats) + " " + distribution, n, [&] { sums.fill_bytes(0); },
      [&] { add_rows<Floats>(out, ids.data(), rows.data(), n); }, [&] { out.wait(); },
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
