// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compaction: the elements that are kept, in their order. CUB's, into a checked output.
#pragma once

#include <warden/detail/allocate/allocation_access.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/error.hpp>
#include <warden/launch_kernel.cuh>
#include <warden/simt/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Asks for elements by a number without a sign, as all of the library do.
template <class Element>
struct element_at {
  Element element;
  // Named: the host, too, asks for the type.
  WARDEN_DEVICE std::invoke_result_t<Element const&, std::uint64_t> operator()(
      std::int64_t i) const {
    return element(static_cast<std::uint64_t>(i));
  }
};
/// Stores the j-th element that is kept behind those that were there.
template <class T>
struct store_kept {
  output_ref<T> out;
  WARDEN_DEVICE void operator()(std::int64_t j, T const& element) const {
    out.store(*out.counter() + static_cast<std::uint64_t>(j), element);
  }
};

/// After the last element was stored.
template <class Word>
WARDEN_KERNEL void count_places(Word* counter, Word const* more) {
  if (simt::thread_rank() == 0) *counter += *more;
}

}  // namespace detail

/// Writes to `out`, in their order, those of the elements `element(i)`, i = 0 to n - 1, for which
/// `keep(element)`: the former called on the device with an std::uint64_t, once or more for the
/// same. By CUB's DeviceSelect. Enqueued; an output that never saw as many allocates memory first.
/// Throws limit_error and cuda_error; what does not fit, `wait` of the output tells.
template <class Element, class Keep, class T>
void compact_async(std::uint64_t n, Element element, Keep keep, output<T>& out,
                   located_stream in = {}) {
  if (n == 0) return;
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (n > most) {
    throw limit_error{
        "compact: " + std::to_string(n) + " elements; the limit is " + std::to_string(most),
        in.where};
  }
  auto& memory = detail::allocation_access::begin(out, 0, in);
  simt::selection<detail::element_at<Element>, Keep, detail::store_kept<T>> selection{
      static_cast<std::int64_t>(n), {element}, keep, {out.ref()}, nullptr};
  constexpr std::size_t aligned = 256;
  std::size_t const bytes = simt::select_bytes(selection, in);
  std::byte* const scratch = memory.scratch(aligned + bytes, in.stream, in.where);
  selection.count = reinterpret_cast<std::uint64_t*>(scratch);
  simt::select_async(selection, scratch + aligned, bytes, in);
  launch(&detail::count_places<std::uint64_t>, 1, simt::warp_size, in, memory.counter(),
         selection.count);
}

WARDEN_NAMESPACE_END
