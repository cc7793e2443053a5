// SPDX-License-Identifier: Apache-2.0
// The error of both runtimes for a block that no multiprocessor can hold.
#pragma once

#include <warden/error.hpp>

#include <cstddef>
#include <source_location>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {

/// Throws limit_error for a block of `threads` threads and `shared_bytes` bytes of shared memory.
[[noreturn]] inline void refuse_block(unsigned threads, std::size_t shared_bytes,
                                      std::source_location where) {
  throw limit_error{"a block of " + std::to_string(threads) + " threads with " +
                        std::to_string(shared_bytes) +
                        " bytes of dynamic shared memory; a multiprocessor holds 0 of them: make "
                        "the block smaller",
                    where};
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
