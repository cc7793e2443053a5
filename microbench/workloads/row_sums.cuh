// SPDX-License-Identifier: Apache-2.0
// Rows of floats that are added to records, and the exact sums.
#pragma once

#include "microbench/workloads/rows.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>

#include <cstddef>
#include <cstdint>
#include <span>

namespace workloads {

/// Rows of `Floats` floats as kernels see them. Row i belongs to record `ids[i]`.
template <unsigned Floats>
struct float_rows {
  static constexpr unsigned floats = Floats;
  std::uint32_t const* ids;
  float const* values;  ///< [row][column]
  std::uint32_t n, n_records;
};

struct draw_arguments {
  float* values;
  std::uint64_t n;
  bool rounded;
};
/// Draws small integers, whose sums are exact in any order; or numbers whose sums are rounded.
template <class Arguments>
WARDEN_KERNEL void draw_floats(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.values[i] = a.rounded ? static_cast<float>(2 * bench::mix_to_unit(i, 6) - 1)
                            : static_cast<float>(bench::mix(i, 5) % 17) - 8;
  });
}
template <unsigned Floats>
struct sum_arguments {
  float_rows<Floats> rows;
  double *sums, *sizes;  ///< [record][column] sums of the values, and of their absolute values
};
template <unsigned Floats>
WARDEN_KERNEL void add_exactly(sum_arguments<Floats> a) {
  simt::assume_one_dimension();
  bench::for_each_of(std::uint64_t{a.rows.n} * Floats, [&](std::uint64_t k) {
    std::uint64_t const to = std::uint64_t{a.rows.ids[k / Floats]} * Floats + k % Floats;
    double const v = a.rows.values[k];
    simt::fetch_add(a.sums + to, v);
    simt::fetch_add(a.sizes + to, v < 0 ? -v : v);
  });
}

/// Limit of the error of a sum of rounded values, relative to the sum of absolute values.
constexpr double relative_error = 1e-5;

/// Rows of a point, and their sums.
template <unsigned Floats>
class row_sums {
 public:
  explicit row_sums(size const& s)
      : ids_{draw_ids(s)},
        n_records_{s.keys},
        values_{std::size_t{s.rows} * Floats},
        sums_{std::size_t{s.keys} * Floats},
        sizes_{sums_.size()} {
    draw(false);
  }
  void draw(bool rounded) {
    rounded_ = rounded;
    launch_helper(&draw_floats<draw_arguments>, {values_.data(), values_.size(), rounded});
    sums_.fill_bytes(0);
    sizes_.fill_bytes(0);
    launch_helper(&add_exactly<Floats>, {rows(), sums_.data(), sizes_.data()});
  }
  [[nodiscard]] float_rows<Floats> rows() const {
    return {ids_.data(), values_.data(), static_cast<std::uint32_t>(ids_.size()), n_records_};
  }
  [[nodiscard]] double const* sums() const { return sums_.data(); }
  [[nodiscard]] double const* sizes() const { return sizes_.data(); }
  /// Limit of the relative error of a sum.
  [[nodiscard]] double tolerance() const { return rounded_ ? relative_error : 0; }

 private:
  warden::buffer<std::uint32_t> ids_;
  std::uint32_t n_records_;
  warden::buffer<float> values_;
  warden::buffer<double> sums_, sizes_;
  bool rounded_ = false;
};

struct hash_arguments {
  float const* values;
  std::uint64_t n;
  std::uint64_t* hash;
};
template <class Arguments>
WARDEN_KERNEL void add_hashes(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    simt::add(a.hash, bench::mix(i, __float_as_uint(a.values[i])));
  });
}
/// Returns a hash of the bits and places of all values.
inline std::uint64_t hash_of(std::span<float const> values) {
  warden::buffer<std::uint64_t> hash{1};
  hash.fill_bytes(0);
  launch_helper(&add_hashes<hash_arguments>, {values.data(), values.size(), hash.data()});
  return hash.to_host()[0];
}

}  // namespace workloads
