// SPDX-License-Identifier: Apache-2.0
// Benchmark of products of sparse matrices and vectors.

#include "microbench/sparse_product/matrix.hpp"
#include "microbench/sparse_product/points.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace sparse_product;
  bench::program program{"sparse_product", "Products of a sparse matrix and a vector.", argc, argv};
  std::vector<std::string> const all{std::begin(matrix_names), std::end(matrix_names)};
  std::vector<std::string> matrices = all;
  std::vector<std::uint32_t> scales;
  program.add_names("--input", matrices, all, "matrices");
  program.add_numbers("--scales", scales, most_scale, "logarithms of the numbers of entries");
  if (!program.parse({std::begin(arm_names), std::end(arm_names)}, argc, argv))
    return program.exit_code();
  if (scales.empty()) scales = {program.simulated() ? 12u : 25u};
  return program.run([&](bench::program::points& points) {
    for (std::string const& matrix : matrices) {
      for (std::uint32_t const scale : scales) points.push_back(make_point(matrix, scale));
    }
  });
}
