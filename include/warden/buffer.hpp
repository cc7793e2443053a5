// SPDX-License-Identifier: Apache-2.0
/// @file
/// Typed device memory of known size, for host code that also runs without a GPU.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <limits>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Owns `size` elements of device memory on the device current at construction. Moves, does not
/// copy.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "warden::buffer holds trivially copyable elements only");

 public:
  /// Makes an empty buffer without memory.
  buffer() = default;
  /// Allocates `size` elements, uninitialized. Throws cuda_error when memory is short.
  explicit buffer(std::size_t size, std::source_location where = std::source_location::current())
      : data_{size == 0 ? nullptr : static_cast<T*>(runtime::allocate(bytes_of(size), where))},
        size_{size} {}
  /// Allocates a copy of `host`, and blocks the host until it has arrived. Throws cuda_error.
  explicit buffer(std::span<T const> host,
                  std::source_location where = std::source_location::current())
      : buffer(host.size(), where) {
    if (size_ == 0) return;
    runtime::copy_async(data_, host.data(), bytes(), {}, where);
    stream_ref{}.synchronize(where);
  }
  /// Allocates a copy of `host`, and blocks the host until it has arrived. Throws cuda_error.
  explicit buffer(std::vector<T> const& host,
                  std::source_location where = std::source_location::current())
      : buffer(std::span<T const>{host}, where) {}
  /// Frees the memory, which waits for the device.
  ~buffer() { runtime::deallocate(data_); }
  /// Leaves `other` empty.
  buffer(buffer&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  /// Swaps with `other`.
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  /// Returns the device memory, null if empty.
  [[nodiscard]] T* data() const { return data_; }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the size of the memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  /// Sets every byte. Enqueued. Throws cuda_error.
  void fill_bytes(unsigned char byte, stream_ref s = {},
                  std::source_location where = std::source_location::current()) {
    if (size_ != 0) runtime::fill_async(data_, byte, bytes(), s, where);
  }
  /// Returns a copy of the contents. Blocks the host until the stream has executed its work. Throws
  /// cuda_error.
  [[nodiscard]] std::vector<T> to_host(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    std::vector<T> host(size_);
    if (size_ != 0) runtime::copy_async(host.data(), data_, bytes(), s, where);
    s.synchronize(where);
    return host;
  }
  /// Returns the bytes of `size` elements, or the largest number if they have more: no memory has.
  static constexpr std::size_t bytes_of(std::size_t size) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    return size > most / sizeof(T) ? most : size * sizeof(T);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Copies `count` elements between host and device memory, in any direction. Enqueued.
/// Precondition: host memory stays alive until the stream has executed the copy. Throws cuda_error.
template <class T>
void copy(T* to, std::type_identity_t<T> const* from, std::size_t count, stream_ref s = {},
          std::source_location where = std::source_location::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (count != 0) runtime::copy_async(to, from, buffer<T>::bytes_of(count), s, where);
}

WARDEN_HOST_NAMESPACE_END
