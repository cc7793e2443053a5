// SPDX-License-Identifier: Apache-2.0
// Arms by name.

#include "apps/matrix_factorization/arms.cuh"

#include "apps/matrix_factorization/model.hpp"

#include <warden/error.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace factorization {

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"lock_warp", "hogwild", "warden_rounds",
                                              "warden_rounds_on_chip"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, task const& t, std::source_location where) {
  if (std::uint64_t const n = t.train->size(); n == 0 || n >> 32 != 0) {
    throw warden::limit_error{
        "factorization: " + std::to_string(n) + " ratings to learn from; there are 1 to 2^32 - 1",
        where};
  }
  if (std::find(std::begin(ranks), std::end(ranks), t.rank) == std::end(ranks)) {
    throw warden::limit_error{
        "factorization: rank " + std::to_string(t.rank) + "; there are 16, 32, 64 and 128", where};
  }
  if (name == "lock_warp") return make_lock_arm(t);
  if (name == "hogwild") return make_hogwild_arm(t);
  if (name == "warden_rounds") return make_deferred_arm(t);
  if (name == "warden_rounds_on_chip") return make_rounds_arm(t);
  throw warden::limit_error{"factorization: no arm \"" + name + "\"", where};
}

}  // namespace factorization
