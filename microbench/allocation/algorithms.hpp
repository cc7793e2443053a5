// SPDX-License-Identifier: Apache-2.0
// Device-wide algorithms that the benchmark compares with: CUB's, on the simulated device plain
// loops of the host. Pointers are device memory; calls enqueue, and allocate nothing.
#pragma once

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace allocation {

/// Temporary device memory of an algorithm, as large as its `..._bytes` says.
class temporary {
 public:
  explicit temporary(std::size_t bytes) : memory_{bytes == 0 ? 1 : bytes} {}
  [[nodiscard]] void* data() const { return memory_.data(); }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  warden::buffer<std::byte> memory_;
};

/// Samples, all below `bins`, and how often each occurs.
struct histogram_arguments {
  std::uint32_t const* samples;
  std::uint32_t n;
  std::uint32_t* counts;  ///< [bin]
  std::uint32_t bins;
};
std::size_t histogram_bytes(histogram_arguments const& a);
/// Writes all counts.
void histogram_async(histogram_arguments const& a, temporary const& memory);

/// Samples, sorted; then what occurs among them, and how often.
struct sorted_arguments {
  std::uint32_t const* samples;
  std::uint32_t n;
  unsigned bits;  ///< bits of a sample
  std::uint32_t *sorted, *values, *counts;
  std::uint32_t* runs;  ///< how many values there are
};
std::size_t sort_and_count_bytes(sorted_arguments const& a);
void sort_and_count_async(sorted_arguments const& a, temporary const& memory);

/// Runs, to be decoded into `total` elements, below 2^32 - 1. No run is empty.
struct decode_arguments {
  std::uint32_t const *values, *lengths;  ///< [run]
  std::uint32_t runs;
  std::uint32_t* offsets;  ///< [run] where it begins; one more
  std::uint32_t* starts;   ///< [tile] the run that it begins in; `decode_tiles(total)`
  std::uint32_t* elements;
  std::uint64_t total;
};
std::size_t decode_tiles(std::uint64_t total);
/// Enough for either.
std::size_t decode_bytes(decode_arguments const& a);
/// By a scan, a search for each tile of elements, and cub::BlockRunLengthDecode.
void block_decode_async(decode_arguments const& a, temporary const& memory);
/// By a scan, and cub::DeviceCopy::Batched from iterators that say the same again and again.
void batched_decode_async(decode_arguments const& a, temporary const& memory);

}  // namespace allocation
