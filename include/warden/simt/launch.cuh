// SPDX-License-Identifier: Apache-2.0
/// @file
/// Launches of kernels with trivially copyable arguments, on either device.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/annotations.cuh>
#include <warden/simt/dimensions.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// True if WARDEN_BOUNDS bounds a kernel's registers.
#if defined(WARDEN_GPU)
inline constexpr bool has_registers = true;
#else
inline constexpr bool has_registers = false;
#endif

#if !defined(WARDEN_GPU)
namespace detail {
/// A kernel of the simulated device with copies of its arguments, each given by an address.
template <class... Parameters>
class kernel_with_copies final : public runtime::bound_kernel {
 public:
  kernel_with_copies(void (*kernel)(Parameters...), void const* const* arguments)
      : kernel_with_copies{kernel, arguments, std::index_sequence_for<Parameters...>{}} {}
  void operator()() const override { std::apply(kernel_, copies_); }

 private:
  template <std::size_t... I>
  kernel_with_copies(void (*kernel)(Parameters...), void const* const* arguments,
                     std::index_sequence<I...>)
      : kernel_{kernel}, copies_{*static_cast<Parameters const*>(arguments[I])...} {}

  void (*kernel_)(Parameters...);
  std::tuple<Parameters...> copies_;
};
}  // namespace detail
#endif

/// Returns `kernel` as warden::runtime::launch takes it.
template <class... Parameters>
runtime::kernel make_kernel(void (*kernel)(Parameters...)) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "warden: a kernel's parameters are trivially copyable, and none is a reference");
#if defined(WARDEN_GPU)
  return {reinterpret_cast<void const*>(kernel)};
#else
  return {reinterpret_cast<void const*>(kernel),
          [](void const* function,
             void const* const* arguments) -> std::unique_ptr<runtime::bound_kernel const> {
            return std::make_unique<detail::kernel_with_copies<Parameters...> >(
                reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(function)), arguments);
          }};
#endif
}

/// Enqueues an ordinary launch. Precondition: no block waits for another one. Throws cuda_error.
template <class Argument>
void launch(void (*kernel)(Argument), unsigned blocks, unsigned threads, std::size_t shared_bytes,
            std::type_identity_t<Argument> argument, stream_ref s,
            std::source_location where = std::source_location::current()) {
  void* arguments[] = {&argument};
  runtime::launch(make_kernel(kernel), {blocks, threads, shared_bytes, false}, arguments, s, where);
}

}  // namespace simt

/// Launch configuration, as in CUDA's `<<<grid, block, shared_bytes>>>`.
struct launch_size {
  dimensions grid;               ///< blocks
  dimensions block;              ///< threads of a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  unsigned cluster = 1;          ///< blocks of a cluster
};

/// Launches `kernel<<<size.grid, size.block, size.shared_bytes, in>>>(arguments...)`. Converts the
/// arguments to the kernel's parameters and copies them; only enqueues. Throws limit_error, with
/// the caller's line, for a size that no device can launch and for more shared memory than this
/// device has. Throws cuda_error for everything else that the device refuses.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), launch_size const& size, located_stream in,
            std::type_identity_t<Parameters>... arguments) {
  runtime::launch_shape const shape{size.grid, size.block, size.shared_bytes, false, size.cluster};
  runtime::check_launch(shape, in.where);
  auto const made = simt::make_kernel(kernel);
  if (size.shared_bytes != 0) runtime::allow_shared_bytes(made, size.shared_bytes, in.where);
  // One entry more, for kernels without parameters.
  void* addresses[] = {&arguments..., nullptr};
  runtime::launch(made, shape, addresses, in.stream, in.where);
}
/// Launches without dynamic shared memory: `warden::launch(kernel, blocks, 256, stream,
/// arguments...)`.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dimensions grid, dimensions block, located_stream in,
            std::type_identity_t<Parameters>... arguments) {
  launch(kernel, launch_size{grid, block}, in, arguments...);
}

WARDEN_NAMESPACE_END
