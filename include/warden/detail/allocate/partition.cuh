// SPDX-License-Identifier: Apache-2.0
/// @file
/// Partition by owner: places elements of one owner next to each other. Uses CUB's radix sort and a
/// checked output.
#pragma once

#include <warden/detail/allocate/allocation_access.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block of the kernels.
inline constexpr unsigned owner_partition_threads = 256;

/// Writes each element's owner as its key. Elements without a valid owner come last.
template <class Owner>
WARDEN_KERNEL void key_by_owner(std::uint32_t n, Owner owner, std::uint32_t owners,
                                std::uint32_t* keys, std::uint32_t* order,
                                allocation_control* control) {
  simt::assume_one_dimension();
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= n) return;
  std::uint32_t const element_owner = owner(std::uint64_t{i});
  if (element_owner >= owners) control->note_owner(i, element_owner);
  keys[i] = element_owner < owners ? element_owner : owners;
  order[i] = i;
}

/// Stores sorted element j at its place, and finds the begin of owner j in the sorted keys.
template <class T, class Element>
WARDEN_KERNEL void place_by_owner(std::uint32_t n, Element element, std::uint32_t owners,
                                  std::uint32_t const* keys, std::uint32_t const* order,
                                  output_ref<T> out, std::uint64_t* begins) {
  simt::assume_one_dimension();
  std::uint32_t const j = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint64_t const first = *out.counter();
  if (j < n && keys[j] < owners) out.store(first + j, element(std::uint64_t{order[j]}));
  if (j > owners) return;
  std::uint32_t begin = 0;
  for (std::uint32_t left = n; left != 0;) {
    std::uint32_t const half = left / 2;
    bool const is_before = keys[begin + half] < j;
    begin += is_before ? half + 1 : 0;
    left = is_before ? left - half - 1 : half;
  }
  begins[j] = first + begin;
}

/// Sets the counter after all elements are placed.
template <class Word>
WARDEN_KERNEL void count_to(Word* counter, Word const* end) {
  simt::assume_one_dimension();
  if (simt::thread_rank() == 0) *counter = *end;
}

}  // namespace detail

/// Writes the elements `element(i)`, i = 0 to n - 1, to `out`, owner by owner. The owner of element
/// i is `owner(i)`, an unsigned integer below `owners`; elements of one owner keep their order.
/// Both functions are called on the device with an std::uint64_t, once for each i. The places of
/// owner o are those from `begins[o]` to `begins[o + 1]`; `begins` is in device memory, `owners +
/// 1` words. Uses CUB's radix sort of the elements' numbers.
///
/// Enqueued. An output that never had this number of elements allocates memory first, about 16
/// bytes for each. Throws limit_error for more than 2^31 - 1 elements or owners, and cuda_error.
/// The output's `wait` reports elements that do not fit, and owners that are not below `owners`,
/// whose elements are left out.
template <class Element, class Owner, class T>
void partition_async(std::uint64_t n, Element element, Owner owner, std::uint64_t owners,
                     output<T>& out, std::uint64_t* begins, located_stream in = {}) {
  using owned = std::remove_cvref_t<decltype(owner(n))>;
  static_assert(std::is_unsigned_v<owned> && sizeof(owned) <= 4,
                "warden: owner(i) is an unsigned integer of at most 32 bits");
  constexpr std::uint64_t most = 2147483647;
  if (n > most || owners > most) {
    throw_limit_error("partition: % elements of % owners; the limit is % each", {n, owners, most},
                      in.where);
  }
  auto const elements = static_cast<std::uint32_t>(n);
  auto const keys = static_cast<std::uint32_t>(owners);
  // One more key, for elements without a valid owner.
  auto const bits = static_cast<unsigned>(std::bit_width(std::max(keys, 1u)));
  auto& memory = detail::allocation_access::begin(out, 0, in);
  std::size_t const sort_bytes = runtime::sort_bytes(elements, bits, in.where);
  // Each array is aligned as CUDA's own allocations.
  std::size_t const array_bytes = (n * sizeof(std::uint32_t) / 256 + 1) * 256;
  std::byte* const scratch = memory.scratch(4 * array_bytes + sort_bytes, in.stream, in.where);
  auto const array = [&](unsigned i) {
    return reinterpret_cast<std::uint32_t*>(scratch + i * array_bytes);
  };
  auto const blocks = [](std::uint64_t threads) {
    return static_cast<unsigned>((threads - 1) / detail::owner_partition_threads + 1);
  };
  if (n != 0) {
    launch(&detail::key_by_owner<Owner>, blocks(n), detail::owner_partition_threads, in, elements,
           owner, keys, array(0), array(1), memory.control());
    runtime::sort_pairs({array(0), array(1), array(2), array(3), elements}, bits,
                        scratch + 4 * array_bytes, sort_bytes, in.stream, in.where);
  }
  launch(&detail::place_by_owner<T, Element>, blocks(std::max(n, owners + 1)),
         detail::owner_partition_threads, in, elements, element, keys, array(2), array(3),
         out.ref(), begins);
  launch(&detail::count_to<std::uint64_t>, 1, simt::warp_size, in, memory.counter(),
         begins + owners);
}

WARDEN_NAMESPACE_END
