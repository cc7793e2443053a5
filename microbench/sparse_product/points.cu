// SPDX-License-Identifier: Apache-2.0
// Arms of the benchmark: products in COO and in CSR.

#include "microbench/sparse_product/points.hpp"

#include "microbench/sparse_product/coo_product.cuh"
#include "microbench/sparse_product/cusparse.hpp"
#include "microbench/sparse_product/merge_product.cuh"
#include "microbench/sparse_product/row_product.cuh"
#include "microbench/sparse_product/sections.cuh"
#include "microbench/sparse_product/work.cuh"
#include "microbench/workloads/work_point.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace sparse_product {
namespace {

using workloads::arm;

arm make_atomics(product_work& w) {
  return {.run_async =
              [&w] {
                w.clear_async();
                workloads::launch_resident(&multiply_by_atomics<matrix_view>,
                                           workloads::arm_threads(256), 0, w.view());
              },
          .bytes = w.coo_bytes()};
}
template <class Policy, bool IsShuffled = false>
arm make_warden(product_work& w) {
  auto const by = std::make_shared<entry_sums<Policy>>(IsShuffled ? w.shuffled_view() : w.view());
  return {.run_async =
              [&w, by] {
                w.clear_async();
                by->run_async();
              },
          .wait = [by] { by->wait(); },
          .same_bits = entry_sums<Policy>::same_bits,
          .bytes = w.coo_bytes()};
}
/// Blocks of a grid that is never the usual one.
constexpr unsigned other_blocks = 1;
arm make_segments(product_work& w) {
  auto const on = [&w](unsigned blocks) {
    return [&w, by = std::make_shared<tile_product<coo_tile<128, 11>>>(w.view(), blocks)] {
      w.clear_async();
      by->run_async();
    };
  };
  return {.run_async = on(0),
          .same_bits = true,
          .run_on_other_grid = on(other_blocks),
          .bytes = w.coo_bytes()};
}
arm make_rows(product_work& w) {
  return {.run_async =
              [&w] {
                workloads::launch_resident(&multiply_rows<matrix_view>, workloads::arm_threads(256),
                                           0, w.view());
              },
          .same_bits = true,
          .bytes = w.csr_bytes()};
}
arm make_merge(product_work& w) {
  auto const on = [&w](unsigned blocks) {
    return [by = std::make_shared<tile_product<merge_tile<256, 11>>>(w.view(), blocks)] {
      by->run_async();
    };
  };
  return {.run_async = on(0),
          .same_bits = true,
          .run_on_other_grid = on(other_blocks),
          .bytes = w.csr_bytes()};
}
arm make_by_cusparse(product_work& w) {
  arm by = make_cusparse(w.view());
  by.bytes = w.csr_bytes();
  return by;
}

}  // namespace

workloads::arm_makers<product_work> all_arms() {
  workloads::arm_makers<product_work> arms{
      {"coo_atomics", make_atomics},
      {"warden_coo", make_warden<any_order>},
      {"warden_coo_deterministic", make_warden<in_trees>},
      {"warden_coo_deterministic_shuffled", make_warden<in_trees, true>},
      {"coo_segments", make_segments},
      {"csr_rows", make_rows},
      {"csr_merge", make_merge}};
  if (has_cusparse()) arms["cusparse"] = make_by_cusparse;
  return arms;
}

std::shared_ptr<bench::point> make_point(std::string const& matrix, std::uint32_t scale) {
  return workloads::make_point<product_work>(
      {"multiply", matrix, rows_of(matrix, scale), std::uint32_t{1} << scale, all_arms(),
       [=] { return std::make_unique<product_work>(matrix, scale); }});
}

}  // namespace sparse_product
