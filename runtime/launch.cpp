// SPDX-License-Identifier: Apache-2.0
// Launches that must fit the device.

#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <cstdint>
#include <source_location>

WARDEN_HOST_NAMESPACE_BEGIN
namespace {

// Throws limit_error unless each number is from 1 to its limit.
void check(char const* text, dimensions const& given, dimensions const& limit,
           std::source_location where) {
  if (given.count() != 0 && given.x <= limit.x && given.y <= limit.y && given.z <= limit.z) return;
  throw_limit_error(text, {given.x, given.y, given.z, limit.x, limit.y, limit.z}, where);
}

}  // namespace

namespace runtime {

void check_launch(launch_shape const& shape, std::source_location where) {
  check("launch: a grid of % x % x %; the limits are 1 x 1 x 1 and % x % x %", shape.blocks,
        {2147483647, 65535, 65535}, where);
  check("launch: a block of % x % x %; the limits are 1 x 1 x 1 and % x % x %", shape.threads,
        {1024, 1024, 64}, where);
  if (shape.threads.count() > 1024) {
    throw_limit_error("launch: a block of % threads; the limit is 1024", {shape.threads.count()},
                      where);
  }
  if (shape.cluster == 0 || shape.blocks.x % shape.cluster != 0) {
    throw_limit_error(
        "launch: clusters of % blocks in a grid of %; their size must divide the grid",
        {shape.cluster, shape.blocks.x}, where);
  }
}

void launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
            std::source_location where) {
  if (try_launch(k, shape, arguments, s, where) == launch_result::launched) return;
  auto const threads = static_cast<unsigned>(shape.threads.count());
  throw_limit_error(
      "a cooperative launch of % blocks of % threads with % bytes of dynamic shared memory; an "
      "idle device holds % of them together: launch fewer blocks",
      {shape.blocks.count(), threads, shape.shared_bytes,
       static_cast<std::uint64_t>(resident_blocks(k, threads, shape.shared_bytes, where))},
      where);
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
