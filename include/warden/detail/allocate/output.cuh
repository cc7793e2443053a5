// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that kernels fill, with checked capacity: the host's side of an allocation.
#pragma once

#include <warden/detail/allocate/allocation_error_text.cuh>
#include <warden/detail/allocate/allocation_memory.cuh>
#include <warden/detail/allocate/output_ref.cuh>
#include <warden/detail/allocate/tile_order.cuh>
#include <warden/detail/block/device_range.cuh>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN

namespace detail {
struct allocation_access;
}  // namespace detail

/// A range of device memory that allocations fill from the front, and the number of places that
/// they took. Elements beyond the range are counted and not written, and `wait` throws an error
/// that names the size needed. So a first run can find that size, with a range of any size, even 0.
///
///     warden::output<int> out{room};                      // a warden::buffer<int>, for example
///     warden::allocate_async(n, count, element, out, s);  // or a kernel, with out.ref()
///     std::uint64_t elements = out.wait(s);
///
/// An allocation continues where the one before ended; after `clear_async` it starts at the front.
/// Allocations must be ordered by a stream or by events; only kernels that use `ref()` alone may
/// run concurrently. The output must outlive graphs that contain its allocations. A moved-from
/// output may only be destroyed or assigned to.
template <class T>
class output {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "warden::output is filled with trivially copyable elements only");

 public:
  /// Type of a kernel's argument.
  using ref_type = output_ref<T>;

  /// Borrows the elements of `range`, all free. `limit` bounds the waits of allocations in order.
  /// Throws cuda_error.
  template <class Range>
  requires device_range<Range, T>
  explicit output(Range&& range, time_limit limit = {},
                  std::source_location where = std::source_location::current())
      : output(detail::data_of(range), range.size(), limit, where) {}
  /// Borrows `capacity` elements of device memory from `data` on, all free. Throws cuda_error, and
  /// limit_error for more than 2^57 elements, or some at a null pointer.
  output(T* data, std::uint64_t capacity, time_limit limit = {},
         std::source_location where = std::source_location::current())
      : data_{data}, capacity_{capacity}, limit_{limit}, memory_{where} {
    constexpr std::uint64_t most = no_place / 2;
    if (capacity > most) {
      throw_limit_error("output: a capacity of %; the limit is %", {capacity, most}, where);
    }
    demand_memory("output: elements", data, capacity, where);
    memory_.clear_async({}, where);
    stream_ref{}.synchronize(where);
  }

  /// Returns the argument for kernels.
  [[nodiscard]] output_ref<T> ref() const { return {data_, capacity_, memory_.counter()}; }
  /// Returns the tiles 0 to `tiles - 1`, none of them taken, for one launch of a kernel that
  /// allocates in order by `block_allocator<Threads, ordered>`. Enqueued. Needs 9 bytes for each
  /// tile, and allocates them if there were fewer. Throws cuda_error, and limit_error if it would
  /// allocate while the stream is captured.
  [[nodiscard]] detail::tile_order tiles_async(
      std::uint64_t tiles, stream_ref s = {},
      std::source_location where = std::source_location::current()) {
    constexpr std::uint64_t most = 2147483647;
    if (tiles > most) {
      throw_limit_error("tiles_async: % tiles; the limit is %", {tiles, most}, where);
    }
    memory_.begin_async(tiles, s, where);
    return memory_.order(tiles, limit_);
  }
  /// Frees all places and clears errors. Enqueued. Throws cuda_error.
  void clear_async(stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    memory_.clear_async(s, where);
  }
  /// Returns the number of places taken. Blocks the host until the stream has reached this point.
  /// Throws limit_error with the size needed if that exceeds the capacity, together with the errors
  /// of `needed`.
  std::uint64_t wait(stream_ref s = {},
                     std::source_location where = std::source_location::current()) const {
    error_list found;
    std::uint64_t const taken = find_errors(found, s, where);
    if (taken > capacity_ && taken < no_place) {
      found.add(error_type::limit,
                "output: " + std::to_string(taken) + " elements were emitted; the capacity is " +
                    std::to_string(capacity_),
                taken - capacity_);
    }
    found.throw_all(where);
    return taken;
  }
  /// Returns the number of places taken, even if it exceeds the capacity. Blocks the host until the
  /// stream has reached this point. Throws all errors since `clear_async` as one exception, see
  /// `error::all`; after that the output's contents are undefined.
  ///
  /// - timeout_error: tiles waited too long for an earlier one.
  /// - limit_error: blocks did not take all tiles, allocated for one twice, or have another number
  /// of threads than their allocator.
  /// - limit_error: an element of a partition had no owner, or `count` returned different values.
  /// - cuda_error: CUDA reported an error.
  std::uint64_t needed(stream_ref s = {},
                       std::source_location where = std::source_location::current()) const {
    error_list found;
    std::uint64_t const taken = find_errors(found, s, where);
    found.throw_all(where);
    return taken;
  }
  /// Returns the number of elements that fit.
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

 private:
  friend struct detail::allocation_access;

  /// Adds the errors since `clear_async`. Returns the number of places taken. Blocks the host.
  std::uint64_t find_errors(error_list& found, stream_ref s, std::source_location where) const {
    auto const [taken, control] = memory_.to_host(s, where);
    if (control.health.poisoned != 0) {
      diagnosis cause;
      cause.wait = control.health.first;
      cause.limit_seconds = static_cast<double>(limit_.nanoseconds) * 1e-9;
      found.add(std::move(cause));
    }
    detail::add_errors(found, taken, control);
    return taken;
  }

  T* data_;
  std::uint64_t capacity_;
  time_limit limit_;
  detail::allocation_memory memory_;
};
/// Deduces the type of `warden::output out{elements}` from the range.
template <class Range>
output(Range&&, time_limit = {}, std::source_location = {})
    -> output<std::remove_pointer_t<decltype(detail::data_of(std::declval<Range&>()))>>;

WARDEN_NAMESPACE_END
