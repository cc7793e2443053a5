// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory of an output, in addition to the elements.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/detail/allocate/long_tiles.cuh>
#include <warden/detail/allocate/tile_order.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Device memory that grows. Earlier memory is freed with the object only, because graphs captured
/// before still use it.
template <class T>
class growing_memory {
 public:
  /// Returns memory for `size` elements, uninitialized. Throws cuda_error, and limit_error if
  /// memory has to grow while the stream is captured.
  T* reserve(std::uint64_t size, stream_ref s, std::source_location where) {
    if (size > current_.size()) grow(size, s, where);
    return current_.data();
  }
  /// Returns the memory as it is.
  [[nodiscard]] T* data() const { return current_.data(); }

 private:
  void grow(std::uint64_t size, stream_ref s, std::source_location where) {
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "allocate: % bytes of device memory are needed, and while a stream is captured there are "
          "%: run one such allocation of this output before the capture",
          {size * sizeof(T), current_.bytes()}, where);
    }
    // Small memory grows at least by a factor of 2, so that all of it stays small. Large memory
    // grows by what is needed.
    constexpr std::uint64_t small_enough = (std::uint64_t{64} << 20) / sizeof(T);
    buffer<T> larger(std::max(size, std::min<std::uint64_t>(2 * current_.size(), small_enough)),
                     where);
    earlier_.push_back(std::exchange(current_, std::move(larger)));
  }

  buffer<T> current_;
  std::vector<buffer<T>> earlier_;
};

/// Counter, control and scratch memory of an output.
class allocation_memory {
 public:
  /// Allocates a counter and a control, uninitialized. Throws cuda_error.
  explicit allocation_memory(std::source_location where) : counter_(1, where), control_(1, where) {}

  /// Returns the counter of places taken.
  [[nodiscard]] std::uint64_t* counter() const { return counter_.data(); }
  /// Returns the state that allocations share.
  [[nodiscard]] allocation_control* control() const { return control_.data(); }
  /// Frees all places and clears errors. Enqueued. Throws cuda_error.
  void clear_async(stream_ref s, std::source_location where) {
    counter_.fill_bytes(0, s, where);
    control_.fill_bytes(0, s, where);
  }
  /// Begins another allocation, with `tiles` tiles in order, none of them taken, and no long tile.
  /// Enqueued. Throws cuda_error, and limit_error if memory has to grow while the stream is
  /// captured.
  void begin_async(std::uint64_t tiles, stream_ref s, std::source_location where) {
    std::uint64_t const size = tile_order::words_of(tiles);
    std::uint64_t* const words = words_.reserve(size, s, where);
    launch(&begin_allocation<allocation_control>, 1, simt::warp_size, {s, where}, control(), tiles);
    if (tiles != 0) runtime::fill_async(words, 0, size * sizeof(std::uint64_t), s, where);
  }
  /// Returns the tiles of the allocation that began last.
  [[nodiscard]] tile_order order(std::uint64_t tiles, time_limit limit) const {
    return {words_.data(), tiles, control(), counter(), limit};
  }
  /// Returns an empty list with room for `most` tiles of more than `longest` elements. Called after
  /// `begin_async`; throws the same errors.
  [[nodiscard]] long_tiles listed(std::uint64_t longest, std::uint64_t most, stream_ref s,
                                  std::source_location where) {
    return {long_tiles_.reserve(most, s, where), most, longest, control()};
  }
  /// Returns scratch memory, aligned to 256 bytes. Throws the errors of `begin_async`.
  [[nodiscard]] std::byte* scratch(std::size_t bytes, stream_ref s, std::source_location where) {
    return scratch_.reserve(bytes, s, where);
  }

  /// State that the host reads.
  struct state {
    std::uint64_t taken;  ///< places taken
    allocation_control control;
  };
  /// Returns the state. Blocks the host until the stream has reached this point. Throws cuda_error.
  [[nodiscard]] state to_host(stream_ref s, std::source_location where) const {
    state result{};
    copy(&result.taken, counter(), 1, s, where);
    copy(&result.control, control(), 1, s, where);
    s.synchronize(where);
    return result;
  }

 private:
  buffer<std::uint64_t> counter_;
  buffer<allocation_control> control_;
  growing_memory<std::uint64_t> words_;  ///< words of tiles in order
  growing_memory<long_tile> long_tiles_;
  growing_memory<std::byte> scratch_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
