// SPDX-License-Identifier: Apache-2.0
// Device memory that knows its type and size, for host code that also runs without a GPU.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// `size` elements of device memory on the device current at construction. Moves, does not copy.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "warden::buffer holds trivially copyable elements only");

 public:
  buffer() = default;
  /// Contents are garbage. Throws cuda_error when there is not enough memory.
  explicit buffer(std::size_t size)
      : data_{size == 0 ? nullptr : static_cast<T*>(runtime::allocate(size * sizeof(T)))},
        size_{size} {}
  /// A copy of `host`; waits until it has arrived.
  explicit buffer(std::span<T const> host) : buffer(host.size()) {
    if (size_ == 0) return;
    runtime::copy_async(data_, host.data(), bytes(), {});
    stream_ref{}.synchronize();
  }
  explicit buffer(std::vector<T> const& host) : buffer(std::span<T const>{host}) {}
  ~buffer() { runtime::deallocate(data_); }
  buffer(buffer&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  /// Sets every byte; enqueued.
  void fill_bytes(unsigned char byte, stream_ref s = {}) {
    if (size_ != 0) runtime::fill_async(data_, byte, bytes(), s);
  }
  /// The contents; blocks the host until the stream has come here.
  [[nodiscard]] std::vector<T> to_host(stream_ref s = {}) const {
    std::vector<T> host(size_);
    if (size_ != 0) runtime::copy_async(host.data(), data_, bytes(), s);
    s.synchronize();
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Copies `count` elements between host and device memory, in any direction; enqueued. Host memory
/// must stay alive until the stream has come here.
template <class T>
void copy(T* to, std::type_identity_t<T> const* from, std::size_t count, stream_ref s = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (count != 0) runtime::copy_async(to, from, count * sizeof(T), s);
}

WARDEN_HOST_NAMESPACE_END
