// SPDX-License-Identifier: Apache-2.0
// A matrix, the vectors of its product, and the check of the product.
#pragma once

#include "microbench/sparse_product/matrix.hpp"
#include "microbench/workloads/scatter.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>

namespace sparse_product {

namespace simt = warden::simt;

struct reference_arguments {
  matrix_view m;
  double *sums, *sizes;  ///< [row] sums of the products, and of their absolute values
};
template <class Arguments>
WARDEN_KERNEL void multiply_exactly(Arguments const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.m.entries, [&](std::uint64_t e) {
    double const product = double{a.m.values[e]} * a.m.x[a.m.entry_columns[e]];
    std::uint32_t const row = a.m.entry_rows[e];
    simt::fetch_add(a.sums + row, product);
    simt::fetch_add(a.sizes + row, product < 0 ? -product : product);
  });
}

/// COO with the entries of another one in an order that looks random.
struct shuffle_arguments {
  matrix_view from;  ///< has 2^n entries
  std::uint32_t *rows, *columns;
  float* values;
};
template <class Arguments>
WARDEN_KERNEL void shuffle_entries(Arguments const a) {
  simt::assume_one_dimension();
  std::uint32_t const last = a.from.entries - 1;
  auto const shift = static_cast<unsigned>(simt::count_bits(last) / 2);
  bench::for_each_of(a.from.entries, [&](std::uint64_t to) {
    // Each step maps the numbers of all entries to each other.
    std::uint32_t e = static_cast<std::uint32_t>(to) * 0x9e3779b1u & last;
    e ^= e >> shift;
    e = e * 0x85ebca6bu & last;
    e ^= e >> shift;
    a.rows[to] = a.from.entry_rows[e];
    a.columns[to] = a.from.entry_columns[e];
    a.values[to] = a.from.values[e];
  });
}

/// Work of a point; see work_point. An element of y may differ from the product in double precision
/// by workloads::relative_error of the sum of its absolute products. Exact products do not differ.
class product_work {
 public:
  product_work(std::string const& name, std::uint32_t scale)
      : matrix_{make_matrix(name, scale)},
        values_{matrix_.entries()},
        x_{matrix_.rows},
        y_{matrix_.rows},
        sums_{matrix_.rows},
        sizes_{matrix_.rows} {
    draw(false);
  }

  [[nodiscard]] matrix_view view() const {
    return {matrix_.rows,
            matrix_.rows,
            matrix_.entries(),
            matrix_.offsets.data(),
            matrix_.entry_rows.data(),
            matrix_.entry_columns.data(),
            values_.data(),
            x_.data(),
            y_.data()};
  }
  /// Returns the matrix with the entries of COO in any order. The first call makes it.
  matrix_view shuffled_view() {
    if (shuffled_rows_.size() == 0) {
      shuffled_rows_ = warden::buffer<std::uint32_t>{matrix_.entries()};
      shuffled_columns_ = warden::buffer<std::uint32_t>{matrix_.entries()};
      shuffled_values_ = warden::buffer<float>{matrix_.entries()};
      shuffle();
    }
    matrix_view v = view();
    v.entry_rows = shuffled_rows_.data();
    v.entry_columns = shuffled_columns_.data();
    v.values = shuffled_values_.data();
    return v;
  }
  /// Returns the bytes of a product in COO, or in CSR, that moves each array once.
  [[nodiscard]] double coo_bytes() const { return 12.0 * matrix_.entries() + 8.0 * matrix_.rows; }
  [[nodiscard]] double csr_bytes() const { return 8.0 * matrix_.entries() + 12.0 * matrix_.rows; }
  /// Enqueues y = 0.
  void clear_async() { y_.fill_bytes(0); }

  /// Sets all elements of y to NaN, so that the check finds an element that is not written.
  void reset() { y_.fill_bytes(0xff); }
  void draw_rounded() { draw(true); }
  bool is_right() {
    return workloads::finds_none_wrong(&workloads::compare_sums<workloads::sum_check>,
                                       {y_.data(), sums_.data(), sizes_.data(), y_.size(),
                                        is_rounded_ ? workloads::relative_error : 0, nullptr});
  }
  [[nodiscard]] std::uint64_t bits() const { return workloads::hash_of({y_.data(), y_.size()}); }

 private:
  void draw(bool rounded) {
    is_rounded_ = rounded;
    for (warden::buffer<float> const* numbers : {&values_, &x_}) {
      workloads::launch_helper(&workloads::draw_floats<workloads::draw_arguments>,
                               {numbers->data(), numbers->size(), rounded});
    }
    sums_.fill_bytes(0);
    sizes_.fill_bytes(0);
    workloads::launch_helper(&multiply_exactly<reference_arguments>,
                             {view(), sums_.data(), sizes_.data()});
    if (shuffled_rows_.size() != 0) shuffle();
  }
  void shuffle() {
    workloads::launch_helper(
        &shuffle_entries<shuffle_arguments>,
        {view(), shuffled_rows_.data(), shuffled_columns_.data(), shuffled_values_.data()});
  }

  matrix matrix_;
  warden::buffer<float> values_, x_, y_;
  warden::buffer<double> sums_, sizes_;
  warden::buffer<std::uint32_t> shuffled_rows_{0}, shuffled_columns_{0};
  warden::buffer<float> shuffled_values_{0};
  bool is_rounded_ = false;
};

/// Returns all arms of this device.
workloads::arm_makers<product_work> all_arms();

}  // namespace sparse_product
