// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `churn`.

#include "microbench/hash_table/points.cuh"

namespace hash_table_bench {

std::shared_ptr<bench::point> make_churn_point(bench::workload w) {
  return std::make_shared<point_of<churn>>(std::move(w));
}

}  // namespace hash_table_bench
