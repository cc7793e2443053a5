// SPDX-License-Identifier: Apache-2.0
// The yardstick: a kernel that reads and writes as many bytes as an allocation does, and nothing
// more.
#pragma once

#include <cstdint>

namespace allocation {

/// Words in device memory, aligned to 16 bytes. Of each side up to three in the end are left out.
struct word_stream {
  std::uint32_t const* in;
  std::uint64_t words_in;
  std::uint32_t* out;
  std::uint64_t words_out;
};
/// Enqueues it: each block reads a part and writes a part, in the order of both. Throws cuda_error.
void stream_async(word_stream const& s);
/// True if it wrote the right words.
bool was_streamed(word_stream const& s);

}  // namespace allocation
