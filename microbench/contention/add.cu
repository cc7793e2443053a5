// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `add`.

#include "microbench/contention/points.cuh"

namespace contention {

std::shared_ptr<bench::point> make_add_point(std::string const& name, std::uint32_t keys,
                                             std::string const& file) {
  return make_point_of<add>(name, keys, file);
}

}  // namespace contention
