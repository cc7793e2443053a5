// SPDX-License-Identifier: Apache-2.0
// Scatter-add of rows: results and their check.
#pragma once

#include "microbench/workloads/arms.hpp"
#include "microbench/workloads/row_sums.cuh"

#include <cstddef>
#include <cstdint>

namespace workloads {

struct sum_check {
  float const* found;
  double const *sums, *sizes;
  std::uint64_t n;
  double tolerance;
  std::uint32_t* wrong;
};
template <class Arguments>
WARDEN_KERNEL void compare_sums(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t k) {
    double const error = a.found[k] - a.sums[k], limit = a.tolerance * a.sizes[k];
    if (!(error <= limit && -error <= limit)) simt::fetch_add(a.wrong, 1u);
  });
}

/// Rows and the records to which they are added.
template <unsigned Floats>
class scatter_work {
 public:
  explicit scatter_work(size const& s) : rows_{s}, out_{std::size_t{s.keys} * Floats} {}
  [[nodiscard]] float_rows<Floats> rows() const { return rows_.rows(); }
  [[nodiscard]] float* out() const { return out_.data(); }

  void reset() { out_.fill_bytes(0); }
  void draw_rounded() { rows_.draw(true); }
  bool is_right() {
    return finds_none_wrong(&compare_sums<sum_check>, {out(), rows_.sums(), rows_.sizes(),
                                                       out_.size(), rows_.tolerance(), nullptr});
  }
  [[nodiscard]] std::uint64_t bits() const { return hash_of({out(), out_.size()}); }

 private:
  row_sums<Floats> rows_;
  warden::buffer<float> out_;
};

/// Adds the arm that adds rows by bulk reductions, on a GPU that has them.
void add_bulk_arms(arm_makers<scatter_work<8>>& to);
void add_bulk_arms(arm_makers<scatter_work<64>>& to);

}  // namespace workloads
