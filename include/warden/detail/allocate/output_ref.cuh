// SPDX-License-Identifier: Apache-2.0
/// @file
/// An output as kernels see it.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Memory that threads fill, each at places that an allocation assigned to it, and the count of
/// places. Trivially copyable, for kernels; made by `output<T>::ref()`.
template <class T>
class output_ref {
 public:
  /// Type of the elements.
  using value_type = T;

  output_ref() = default;
  /// Constructs a ref of `capacity` elements of device memory, and a counter in device memory.
  output_ref(T* data, std::uint64_t capacity, std::uint64_t* counter)
      : data_{data}, capacity_{capacity}, counter_{counter} {}

  /// Stores `value` at `place`. Does nothing beyond the capacity, which `wait` reports.
  WARDEN_DEVICE void store(std::uint64_t place, T const& value) const {
    if (place < capacity_) data_[place] = value;
  }
  /// Returns the counter of places taken, to which allocators add.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t* counter() const { return counter_; }
  /// Returns the number of elements that fit.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t capacity() const { return capacity_; }
  /// Returns the first element, in device memory.
  [[nodiscard]] WARDEN_HOST_DEVICE T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t* counter_ = nullptr;
};

WARDEN_NAMESPACE_END
