// SPDX-License-Identifier: Apache-2.0
// Product of a matrix in COO by sections: each entry adds to the record of its row.
#pragma once

#include "microbench/sparse_product/matrix.hpp"

#include <warden/deferred.cuh>

#include <cstdint>
#include <type_traits>

namespace sparse_product {

/// Section that adds a product to an element of y.
struct add_product {
  float product;
  __device__ static add_product combine(add_product const& a, add_product const& b) {
    return {a.product + b.product};
  }
  __device__ void operator()(float& y) const { y += product; }
};
/// Makes the section of an entry.
struct make_product {
  float const *values, *x;
  std::uint32_t const* columns;
  __device__ add_product operator()(std::uint64_t entry) const {
    return {values[entry] * x[columns[entry]]};
  }
};

using any_order = warden::policy<>;
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;

/// Sums by row of all products. Precondition of `run_async`: y is 0.
template <class Policy>
class entry_sums {
 public:
  static constexpr bool same_bits = std::is_same_v<Policy, in_trees>;

  explicit entry_sums(matrix_view const& m) : m_{m}, rows_{m.y, m.rows} {}
  /// Enqueues all sections.
  void run_async() {
    rows_.apply_async(m_.entry_rows, m_.entries, make_product{m_.values, m_.x, m_.entry_columns});
  }
  void wait() { rows_.wait(); }

 private:
  matrix_view m_;
  warden::basic_guarded<Policy, float, add_product> rows_;
};

}  // namespace sparse_product
