// SPDX-License-Identifier: Apache-2.0
/// @file
/// A kernel with one trivially copyable argument, made launchable on either device.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/annotations.cuh>

#include <functional>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Whether a kernel's registers are bounded by WARDEN_BOUNDS.
#if defined(__CUDACC__)
inline constexpr bool has_registers = true;
#else
inline constexpr bool has_registers = false;
#endif

/// Wraps `kernel` for warden::runtime::launch.
template <class Argument>
runtime::kernel make_kernel(void (*kernel)(Argument)) {
  static_assert(std::is_trivially_copyable_v<Argument>);
#if defined(__CUDACC__)
  return {reinterpret_cast<void const*>(kernel), {}};
#else
  return {nullptr, [kernel](void const* argument) -> std::function<void()> {
            return [kernel, copy = *static_cast<Argument const*>(argument)] { kernel(copy); };
          }};
#endif
}

/// An ordinary launch: no block may wait for another one. Only enqueues; throws cuda_error.
template <class Argument>
void launch(void (*kernel)(Argument), unsigned blocks, unsigned threads, std::size_t shared_bytes,
            std::type_identity_t<Argument> argument, stream_ref s) {
  runtime::launch(make_kernel(kernel), {blocks, threads, shared_bytes, false}, &argument, s);
}

}  // namespace simt
WARDEN_NAMESPACE_END
