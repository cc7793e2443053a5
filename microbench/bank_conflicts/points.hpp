// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark, one for each input.
#pragma once

#include "microbench/support/point.hpp"

#include <memory>
#include <string>

namespace bank_conflicts {

/// An operation is a key; a repetition sorts whole tiles.
std::shared_ptr<bench::point> make_point(std::string const& input);

}  // namespace bank_conflicts
