// SPDX-License-Identifier: Apache-2.0
// Points of the transport benchmark, by the properties of their channels.
#pragma once

#include "microbench/support/point.hpp"

#include <memory>

namespace transport {

// Each function is in a translation unit of its own, because its kernels take long to compile. All
// throw limit_error if the servers and a client block do not fit the device together.

/// Messages of 16 bytes, received by windows: all send levels and the ceiling.
std::shared_ptr<bench::point> make_windows_point(unsigned servers);
/// Messages of 16 bytes, received by slices: all send levels.
std::shared_ptr<bench::point> make_slices_point(unsigned servers);
/// Messages of 2 to 4 flits, received by windows: the block client and the ceiling.
std::shared_ptr<bench::point> make_size_point(int flits, unsigned servers);
/// Messages of 1 or 2 flits with a single tag each, received by windows: the block client and the
/// ceiling.
std::shared_ptr<bench::point> make_single_tag_point(int flits, unsigned servers);
/// Messages of 16 bytes and a bit-mask, received by a leader warp: the block client.
std::shared_ptr<bench::point> make_bitmask_point(unsigned servers);
/// Latency from send to execution.
std::shared_ptr<bench::point> make_latency_point(bool by_windows, unsigned servers);

}  // namespace transport
