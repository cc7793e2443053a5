// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that kernels fill, whose capacity is checked: the host's part of an allocation.
#pragma once

#include <warden/allocate/allocation_memory.cuh>
#include <warden/allocate/output_ref.cuh>
#include <warden/allocate/tile_order.cuh>
#include <warden/device_range.cuh>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <source_location>
#include <string>

WARDEN_NAMESPACE_BEGIN

/// A range of device memory that allocations fill from its front on, and how many places they took.
/// What they take beyond the range is counted and not written, and `wait` throws an error that
/// names the size needed: so a first run can find it, with a range of any size, even 0.
///
///     warden::output<int> out{room};                      // a warden::buffer<int>, say
///     warden::allocate_async(n, count, element, out, s);  // or a kernel, with out.ref()
///     std::uint64_t elements = out.wait(s);
///
/// One allocation goes on where the one before ended; after `clear_async` at the front. They come
/// one after the other, by a stream or by events; only kernels that use `ref()` alone may run
/// beside each other.
template <class T>
class output {
 public:
  /// What kernels are given.
  using ref_type = output_ref<T>;

  /// The elements of `range`, borrowed, all free. `limit` bounds the waits of allocations in order.
  /// Throws cuda_error.
  template <class Range>
  requires device_range<Range, T>
  explicit output(Range&& range, time_limit limit = {},
                  std::source_location where = std::source_location::current())
      : output(detail::data_of(range), range.size(), limit, where) {}
  /// `capacity` elements of device memory from `data` on, borrowed, all free. As that.
  output(T* data, std::uint64_t capacity, time_limit limit = {},
         std::source_location where = std::source_location::current())
      : data_{data}, capacity_{capacity}, limit_{limit}, memory_{where} {
    memory_.clear_counter_async({}, where);
    stream_ref{}.synchronize(where);
  }

  /// For kernels.
  [[nodiscard]] output_ref<T> ref() const { return {data_, capacity_, memory_.counter()}; }
  /// For one launch of a kernel that allocates in order, by `block_allocator<Threads, ordered>`:
  /// its tiles, 0 to `tiles - 1`, none of them taken; enqueued. Needs 8 bytes a tile: allocates
  /// them if there were never as many, which waits for the device. Throws cuda_error, and
  /// limit_error if it would allocate while the stream is captured.
  [[nodiscard]] tile_order tiles_async(
      std::uint64_t tiles, stream_ref s = {},
      std::source_location where = std::source_location::current()) {
    memory_.begin_async(tiles, s, where);
    tiles_ = tiles;
    return memory_.order(tiles, limit_);
  }
  /// Every place is free again, whatever went wrong before; enqueued. Throws cuda_error.
  void clear_async(stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    memory_.clear_counter_async(s, where);
    memory_.begin_async(0, s, where);
    tiles_ = 0;
  }
  /// Blocks the host until the stream has come here; returns how many places were taken. Throws
  /// limit_error with the size needed if there are not as many; if a kernel left tiles, or
  /// allocated for one twice; if an element of a partition had no owner; timeout_error if tiles
  /// waited too long for an earlier one; cuda_error.
  std::uint64_t wait(stream_ref s = {},
                     std::source_location where = std::source_location::current()) const {
    auto const [taken, report] = memory_.to_host(s, where);
    tile_control const& tiles = report.tiles;
    if (tiles.health.poisoned != 0) {
      diagnosis what;
      what.wait = tiles.health.first;
      what.limit_seconds = static_cast<double>(limit_.nanoseconds) * 1e-9;
      throw timeout_error{what, where};
    }
    if (tiles.again != 0) {
      throw limit_error{"allocate was called for a tile that had its places already, by " +
                            std::to_string(tiles.again) + " blocks: once for each next_tile()",
                        where};
    }
    if (tiles.next < tiles_) {
      throw limit_error{"allocation in order: blocks took " + std::to_string(tiles.next) +
                            " of its " + std::to_string(tiles_) +
                            " tiles; each goes on until next_tile() is false",
                        where};
    }
    if (report.owners.count != 0) {
      throw limit_error{"partition: element " + std::to_string(report.owners.first_element()) +
                            " has owner " + std::to_string(report.owners.its_owner()) +
                            ", which is not below the number of owners (" +
                            std::to_string(report.owners.count) + " such elements)",
                        where};
    }
    if (taken > capacity_) {
      throw limit_error{"output: " + std::to_string(taken) +
                            " elements were emitted; the capacity is " + std::to_string(capacity_),
                        where};
    }
    return taken;
  }
  /// Elements that there is room for.
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

 private:
  friend struct allocation_access;

  T* data_;
  std::uint64_t capacity_;
  time_limit limit_;
  detail::allocation_memory memory_;
  std::uint64_t tiles_ = 0;  ///< of the last allocation in order, by a kernel
};
/// `warden::output out{elements}` takes the type from the range.
template <class Range>
output(Range&&) -> output<std::remove_pointer_t<decltype(detail::data_of(std::declval<Range&>()))>>;

WARDEN_NAMESPACE_END
