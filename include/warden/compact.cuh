// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compaction: copies the elements that a predicate keeps, in their order, to a checked output, by
/// CUB.
#pragma once

#include <warden/detail/allocate/allocation_access.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/error.hpp>
#include <warden/simt/device_select.cuh>
#include <warden/simt/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Adapter: CUB passes a signed index, the library's callables take an unsigned one.
template <class Element>
struct element_at {
  Element element;
  // The type is spelled out because the host compiler needs it, too.
  WARDEN_DEVICE std::invoke_result_t<Element const&, std::uint64_t> operator()(
      std::int64_t i) const {
    return element(static_cast<std::uint64_t>(i));
  }
};
/// Stores the j-th kept element after the elements that the output held before.
template <class T>
struct store_kept {
  output_ref<T> out;
  WARDEN_DEVICE void operator()(std::int64_t j, T const& element) const {
    out.store(*out.counter() + static_cast<std::uint64_t>(j), element);
  }
};

/// Adds the number of kept elements to the output's counter. Runs after the last store.
template <class Word>
WARDEN_KERNEL void count_places(Word* counter, Word const* more) {
  if (simt::thread_rank() == 0) *counter += *more;
}

}  // namespace detail

/// Writes to `out`, in their order, the elements `element(i)`, i = 0 to n - 1, for which
/// `keep(element)` is true, by CUB's DeviceSelect. `element` is called on the device with an
/// std::uint64_t, once or more for the same i. Enqueued. An output that never saw n elements
/// allocates memory first. Throws limit_error and cuda_error. The output's `wait` reports elements
/// that do not fit.
template <class Element, class Keep, class T>
void compact_async(std::uint64_t n, Element element, Keep keep, output<T>& out,
                   located_stream in = {}) {
  if (n == 0) return;
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (n > most) {
    throw_limit_error("compact: % elements; the limit is %", {n, most}, in.where);
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
