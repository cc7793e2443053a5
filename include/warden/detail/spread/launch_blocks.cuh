// SPDX-License-Identifier: Apache-2.0
/// @file
/// Launches of kernels with blocks of a run.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the number of blocks of a kernel of `Run` that are resident together, at most `most`.
/// Throws cuda_error.
template <class Run>
unsigned resident_blocks(runtime::kernel const& kernel, std::size_t shared_bytes, unsigned most,
                         std::source_location where) {
  constexpr unsigned threads = Run::policy::block_threads;
  return std::min(
      most, static_cast<unsigned>(runtime::resident_blocks(kernel, threads, shared_bytes, where)));
}
/// Enqueues a kernel of `Run` that takes one argument. Throws cuda_error.
template <class Run, class Argument>
void launch_blocks(runtime::kernel const& kernel, unsigned blocks, std::size_t shared_bytes,
                   Argument& argument, stream_ref s, std::source_location where) {
  void* arguments[] = {&argument};
  runtime::launch(kernel, {blocks, Run::policy::block_threads, shared_bytes, false}, arguments, s,
                  where);
}

}  // namespace detail
WARDEN_NAMESPACE_END
