// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark, one for each operation and size.
#pragma once

#include "microbench/producer_warp/arms.hpp"
#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace producer_warp {

/// An operation of the benchmark, and its size.
struct point_options {
  std::string operation;
  std::uint32_t elements;   ///< elements of the result; made whole rows
  std::uint32_t row_bytes;  ///< bytes of a row; used by `gather`
  std::uint32_t stage_bytes;
};
/// Returns a point. Precondition: the operation is one of operation_names.
std::shared_ptr<bench::point> make_point(point_options const& options, abilities const& device);
/// Returns a point of the operation `segments`, whose elements are messages.
std::shared_ptr<bench::point> make_segment_point(point_options const& options,
                                                 abilities const& device);

}  // namespace producer_warp
