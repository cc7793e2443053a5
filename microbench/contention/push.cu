// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `push`.

#include "microbench/contention/points.cuh"

namespace contention {

std::shared_ptr<bench::point> make_push_point(std::string const& name, std::uint32_t keys,
                                              std::string const& file) {
  return make_point_of<push>(name, keys, file);
}

}  // namespace contention
