// SPDX-License-Identifier: Apache-2.0
// Inputs, launches and checks that all workloads share.
#pragma once

#include "microbench/support/device.cuh"
#include "microbench/support/workload.cuh"
#include "microbench/workloads/points.hpp"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace workloads {

namespace simt = warden::simt;

/// Launches a kernel with as many blocks as are resident together.
template <class Argument>
void launch_resident(void (*kernel)(Argument), unsigned threads, std::size_t shared_bytes,
                     std::type_identity_t<Argument> const& argument) {
  auto const blocks = static_cast<unsigned>(
      warden::runtime::resident_blocks(simt::make_kernel(kernel), threads, shared_bytes));
  simt::launch(kernel, blocks, threads, shared_bytes, argument, {});
}
/// Launches a kernel that draws or checks.
template <class Argument>
void launch_helper(void (*kernel)(Argument), std::type_identity_t<Argument> const& argument) {
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(kernel, blocks, threads, 0, argument, {});
}
/// Threads of a block of the arms, fewer on the simulated device.
inline unsigned arm_threads(unsigned on_gpu) {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  return simulated ? 64 : on_gpu;
}

/// Returns the ids of a point's rows.
inline warden::buffer<std::uint32_t> draw_ids(size const& s) {
  warden::buffer<std::uint32_t> ids{s.rows};
  bench::workload::named(s.workload, s.keys, "").draw(ids.data(), s.rows, 1);
  return ids;
}

/// Calls a kernel that counts wrong results, and returns true if there are none.
template <class Argument>
bool finds_none_wrong(void (*kernel)(Argument), std::type_identity_t<Argument> argument) {
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  argument.wrong = wrong.data();
  launch_helper(kernel, argument);
  return wrong.to_host()[0] == 0;
}

}  // namespace workloads
