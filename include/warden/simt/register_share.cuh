// SPDX-License-Identifier: Apache-2.0
/// @file
/// Registers that move between the warp groups of a block while a kernel runs: warps that only
/// start copies give some up, warps that compute take them. From architecture 9.0a on; elsewhere
/// the calls do nothing.
///
/// A kernel is compiled for one number of registers a thread. A warp group, 4 warps whose first one
/// has a rank that is a multiple of 4, may lower its number and then raise it again. The call
/// that raises it waits until the block's other warp groups have given up enough.
/// [PTX ISA 8.0, "Miscellaneous Instructions: setmaxnreg"]
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Warps of a warp group.
inline constexpr unsigned warps_in_group = 4;

/// Returns the registers a thread of a kernel with `WARDEN_BOUNDS(threads, blocks)` that moves
/// registers: those of a multiprocessor, divided, in steps of 8. All devices that move registers
/// have 64K.
WARDEN_HOST_DEVICE constexpr unsigned bounded_registers(unsigned threads, unsigned blocks) {
  return 65'536 / (threads * blocks) / 8 * 8;
}

namespace detail {
/// True if a thread may have `n` registers by the instruction that moves them.
WARDEN_HOST_DEVICE constexpr bool may_have_registers(unsigned n) {
  return n % 8 == 0 && n >= 24 && n <= 256;
}
}  // namespace detail

/// True if the calls below move registers, and on a simulated device with the profile of such a
/// GPU.
WARDEN_DEVICE bool moves_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
  return true;
#elif defined(WARDEN_GPU)
  return false;
#else
  return device::has_bulk_copies();
#endif
}

/// Lowers the registers of each thread of the warp group to `Registers`. All its warps call it,
/// converged. Precondition: the kernel has WARDEN_BOUNDS, and more registers.
template <unsigned Registers>
WARDEN_DEVICE void give_up_registers() {
  static_assert(detail::may_have_registers(Registers));
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#else
  sync_warp(full_warp);
#endif
}

/// Raises the registers of each thread of the warp group to `Registers`. All its warps call it,
/// converged. Waits until other warp groups of the block have given up enough. Precondition: the
/// kernel has WARDEN_BOUNDS, and at most as many registers.
template <unsigned Registers>
WARDEN_DEVICE void take_registers() {
  static_assert(detail::may_have_registers(Registers));
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#else
  sync_warp(full_warp);
#endif
}

}  // namespace simt
WARDEN_NAMESPACE_END
