// SPDX-License-Identifier: Apache-2.0
// Functions that rewritten CUDA source calls in place of `<<<...>>>` and `__shared__`.
#pragma once

#include <warden/simt/sim_device.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>

namespace warden::check {

using site = std::source_location;

/// One launch as the host asks for it.
struct launch_request {
  dimensions grid, block;
  std::size_t shared_bytes;
  CUstream_st* stream;
  bool cooperative;
  site where;
};

/// Enqueues a launch that calls `body` for each thread. Returns the cudaError_t.
int enqueue(launch_request const& request, std::function<void()> body);

/// A launch and a callable that calls the kernel.
template <class Call>
struct kernel_launch {
  launch_request request;
  Call call;

  /// Copies the arguments.
  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    return enqueue(request, [call = call, copies = std::tuple<Arguments...>{arguments...}] {
      std::apply(call, copies);
    });
  }
};

struct configured_launch {
  launch_request request;

  template <class Call>
  kernel_launch<Call> kernel(Call call) const {
    return {request, call};
  }
};

/// `<<<grid, block, shared_bytes, stream>>>`
inline configured_launch launch(dimensions grid, dimensions block, std::size_t shared_bytes = 0,
                                CUstream_st* stream = nullptr, site where = site::current()) {
  return {{grid, block, shared_bytes, stream, false, where}};
}

/// The block's object of a `__shared__` variable that `key` names.
inline void* static_shared(void const* key, std::size_t bytes, std::size_t alignment,
                           site where = site::current()) {
  return sim::device::static_shared(key, bytes, alignment, where);
}

/// `extern __shared__ T name[]` at namespace scope: the block's dynamic shared memory.
template <class Array>
struct dynamic_shared {
  using element = std::remove_extent_t<Array>;
  operator element*() const { return reinterpret_cast<element*>(sim::device::dynamic_shared()); }
  template <class Other>
  explicit operator Other*() const {
    return reinterpret_cast<Other*>(sim::device::dynamic_shared());
  }
};

}  // namespace warden::check
