// SPDX-License-Identifier: Apache-2.0
// Device-wide algorithms to compare with: those of CUB, and plain host loops on the simulated
// device. Pointers are device pointers. Calls enqueue, and allocate no memory.
#pragma once

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace allocation {

/// Temporary device memory of an algorithm. Its `..._bytes` function returns the size.
class temporary {
 public:
  explicit temporary(std::size_t bytes) : memory_{bytes == 0 ? 1 : bytes} {}
  [[nodiscard]] void* data() const { return memory_.data(); }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  warden::buffer<std::byte> memory_;
};

/// Samples, all below `bins`, and the number of times that each value occurs.
struct histogram_arguments {
  std::uint32_t const* samples;
  std::uint32_t n;
  std::uint32_t* counts;  ///< [bin]
  std::uint32_t bins;
};
std::size_t histogram_bytes(histogram_arguments const& a);
/// Enqueues the histogram, which writes all counts.
void histogram_async(histogram_arguments const& a, temporary const& memory);

/// Samples, to be sorted; then the distinct values, and the number of times that each occurs.
struct sorted_arguments {
  std::uint32_t const* samples;
  std::uint32_t n;
  unsigned bits;  ///< bits of a sample
  std::uint32_t *sorted, *values, *counts;
  std::uint32_t* runs;  ///< number of distinct values
};
std::size_t sort_and_count_bytes(sorted_arguments const& a);
void sort_and_count_async(sorted_arguments const& a, temporary const& memory);

/// Run-length encoded values, to be decoded into `total` elements. Precondition: `total` < 2^32 -
/// 1, and no run is empty.
struct decode_arguments {
  std::uint32_t const *values, *lengths;  ///< [run]
  std::uint32_t runs;
  std::uint32_t* offsets;  ///< [run] place of its first element, and one entry more
  std::uint32_t* starts;   ///< [tile] run of its first element; `decode_tiles(total)` entries
  std::uint32_t* elements;
  std::uint64_t total;
};
std::size_t decode_tiles(std::uint64_t total);
/// Returns a size that suffices for both algorithms.
std::size_t decode_bytes(decode_arguments const& a);
/// Decodes by a scan, a search for each tile of elements, and cub::BlockRunLengthDecode.
void block_decode_async(decode_arguments const& a, temporary const& memory);
/// Decodes by a scan, and cub::DeviceCopy::Batched from constant iterators.
void batched_decode_async(decode_arguments const& a, temporary const& memory);

}  // namespace allocation
