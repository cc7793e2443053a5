// SPDX-License-Identifier: Apache-2.0
// Launches that must fit the device.

#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {

void launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
            std::source_location where) {
  if (try_launch(k, shape, arguments, s, where) == launch_result::launched) return;
  auto const threads = static_cast<unsigned>(shape.threads.count());
  throw limit_error{"a cooperative launch of " + std::to_string(shape.blocks.count()) +
                        " blocks of " + std::to_string(threads) + " threads with " +
                        std::to_string(shape.shared_bytes) +
                        " bytes of dynamic shared memory; an idle device holds " +
                        std::to_string(resident_blocks(k, threads, shape.shared_bytes, where)) +
                        " of them together: launch fewer blocks",
                    where};
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
