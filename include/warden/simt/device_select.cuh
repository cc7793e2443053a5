// SPDX-License-Identifier: Apache-2.0
/// @file
/// Selection by the whole device: by CUB on a GPU, by a loop of one thread on the simulated device.
#pragma once

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#if defined(WARDEN_GPU)
#  include <thrust/iterator/counting_iterator.h>
#  include <thrust/iterator/tabulate_output_iterator.h>
#  include <thrust/iterator/transform_iterator.h>
#  include <cub/device/device_select.cuh>
#endif

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Arguments of a selection: of the elements `make(i)`, i = 0 to n - 1, those are selected for
/// which `keep(element)` is true.
template <class Make, class Keep, class Put>
struct selection {
  std::int64_t n;        ///< elements
  Make make;             ///< `make(i)`
  Keep keep;             ///< `keep(element)`: true if it is selected
  Put put;               ///< `put(j, element)` for the j-th selected element, in the order of i
  std::uint64_t* count;  ///< number of selected elements, in device memory
};

#if defined(WARDEN_GPU)

namespace detail {
/// CUB's protocol: without memory it returns the size, and does nothing else.
template <class Make, class Keep, class Put>
void select(selection<Make, Keep, Put> const& a, void* memory, std::size_t& bytes,
            located_stream const& in) {
  auto const elements =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>{0}, a.make);
  cudaError_t const code =
      cub::DeviceSelect::If(memory, bytes, elements, thrust::make_tabulate_output_iterator(a.put),
                            a.count, a.n, a.keep, in.stream.handle());
  if (code == cudaSuccess) return;
  cudaGetLastError();  // not sticky: the next call must not report it again
  throw cuda_error{
      static_cast<int>(code),
      "selecting from " + std::to_string(a.n) + " elements: " + cudaGetErrorString(code), in.where};
}
}  // namespace detail

/// Returns the temporary device memory that `select_async` needs. Units: bytes. Throws cuda_error.
template <class Make, class Keep, class Put>
std::size_t select_bytes(selection<Make, Keep, Put> const& a, located_stream const& in) {
  std::size_t bytes = 0;
  detail::select(a, nullptr, bytes, in);
  return bytes;
}
/// Selects the elements. Enqueued; allocates nothing. Throws cuda_error.
template <class Make, class Keep, class Put>
void select_async(selection<Make, Keep, Put> const& a, void* memory, std::size_t bytes,
                  located_stream const& in) {
  detail::select(a, memory, bytes, in);
}

#else

namespace detail {
template <class Selection>
WARDEN_KERNEL void select_by_one_thread(Selection a) {
  if (thread_rank() != 0) return;
  std::uint64_t selected = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    auto const element = a.make(i);
    if (a.keep(element)) a.put(static_cast<std::int64_t>(selected++), element);
  }
  store_relaxed(a.count, selected);
}
}  // namespace detail

template <class Make, class Keep, class Put>
std::size_t select_bytes(selection<Make, Keep, Put> const&, located_stream const&) {
  return 1;
}
template <class Make, class Keep, class Put>
void select_async(selection<Make, Keep, Put> const& a, void*, std::size_t,
                  located_stream const& in) {
  launch(&detail::select_by_one_thread<selection<Make, Keep, Put> >, 1, warp_size, 0, a, in.stream,
         in.where);
}

#endif

}  // namespace simt
WARDEN_NAMESPACE_END
