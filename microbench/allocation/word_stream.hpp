// SPDX-License-Identifier: Apache-2.0
// Upper bound for allocations: a kernel that only reads and writes, as many bytes as an allocation.
#pragma once

#include <cstdint>

namespace allocation {

/// Words in device memory, aligned to 16 bytes. Up to 3 words at the end of each side are left out.
struct word_stream {
  std::uint32_t const* in;
  std::uint64_t words_in;
  std::uint32_t* out;
  std::uint64_t words_out;
};
/// Enqueues the stream: each block reads and writes parts, both in order. Throws cuda_error.
void stream_async(word_stream const& s);
/// True if the stream wrote the right words.
bool was_streamed(word_stream const& s);

}  // namespace allocation
