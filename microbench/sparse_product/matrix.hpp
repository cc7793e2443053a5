// SPDX-License-Identifier: Apache-2.0
// Sparse matrices of the benchmark, in device memory.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sparse_product {

/// A matrix in CSR and in COO with the entries of CSR, and the vectors of a product y = A x.
struct matrix_view {
  std::uint32_t rows, columns, entries;
  std::uint32_t const* offsets;     ///< [row] first entry of each row, and the number of entries
  std::uint32_t const* entry_rows;  ///< [entry]
  std::uint32_t const* entry_columns;
  float const* values;
  float const* x;  ///< [column]
  float* y;        ///< [row]
};

/// Places of the entries of a square matrix. Two entries may have the same place.
struct matrix {
  std::uint32_t rows;
  warden::buffer<std::uint32_t> offsets, entry_rows, entry_columns;

  [[nodiscard]] std::uint32_t entries() const {
    return static_cast<std::uint32_t>(entry_rows.size());
  }
};

/// Names of all matrices. The first 3 have 16 entries in a row, on average.
inline char const* const matrix_names[] = {"banded", "uniform", "rmat", "dense_row"};
/// Logarithms of the numbers of entries.
inline constexpr std::uint32_t least_scale = 6, most_scale = 30;

/// Returns the number of rows, and of columns, of a matrix with 2^scale entries.
constexpr std::uint32_t rows_of(std::string_view name, std::uint32_t scale) {
  return std::uint32_t{1} << (name == "dense_row" ? scale - 2 : scale - 4);
}

/// Returns a matrix with 2^scale entries. Precondition: the scale is from least_scale to
/// most_scale. Throws limit_error for other names, cuda_error when memory is short.
matrix make_matrix(std::string const& name, std::uint32_t scale);

}  // namespace sparse_product
