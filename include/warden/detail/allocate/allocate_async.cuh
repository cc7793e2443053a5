// SPDX-License-Identifier: Apache-2.0
/// @file
/// Allocation as one call: each item has a number of elements, and a function gives each element.
#pragma once

#include <warden/detail/allocate/allocation_access.cuh>
#include <warden/detail/allocate/contracts.cuh>
#include <warden/detail/allocate/emit.cuh>
#include <warden/detail/allocate/kernels.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the tiles of `n` items, at least one. Throws limit_error.
template <class Policy>
std::uint64_t tiles_of(std::uint64_t n, located_stream const& in) {
  constexpr std::uint64_t most = std::uint64_t{Policy::tile} * 2147483647;
  if (n <= most) return (n - 1) / Policy::tile + 1;
  throw_limit_error("allocate: % items; the limit is %", {n, most}, in.where);
}
template <class Policy>
inline constexpr bool is_ordered = std::is_same_v<typename Policy::contract, ordered>;

/// Returns an empty list of long tiles, for `blocks` blocks.
template <class Policy, class T>
long_tiles long_tiles_for(output<T> const& out, allocation_memory& memory, unsigned blocks,
                          std::size_t shared_bytes, located_stream const& in) {
  constexpr std::uint64_t shortest = 2 * warp_items<Policy::items>::window;
  constexpr std::uint64_t most_at_once = warp_items<Policy::items>::reach;
  if (blocks == 0) {
    throw_limit_error(
        "allocate: a block of % threads needs % bytes of shared memory; the device has no room for "
        "one",
        {Policy::threads, shared_bytes}, in.where);
  }
  std::uint64_t const warps = std::uint64_t{blocks} * Policy::threads / simt::warp_size;
  // A quarter of each warp's share of a full output, so that one long tile more or less at the end
  // matters little.
  std::uint64_t const longest = std::clamp(out.capacity() / (4 * warps), shortest, most_at_once);
  return memory.listed(longest, out.capacity() / longest + 1, in.stream, in.where);
}

/// Enqueues the kernels that assign places to tiles.
template <class Policy, class Count, class Emit>
void place_tiles(allocation<Count, Emit> const& a, std::uint64_t tiles, allocation_memory& memory,
                 located_stream const& in) {
  using storage = allocation_storage<Policy, Emit>;
  constexpr unsigned threads = Policy::threads;
  if constexpr (std::is_same_v<typename Policy::contract, reduce_then_scan>) {
    using scan = simt::block_scan<threads, true, std::uint64_t>;
    auto const kernel = &allocate_share<Policy, Count, Emit>;
    auto const resident = static_cast<std::uint64_t>(
        runtime::resident_blocks(simt::make_kernel(kernel), threads, sizeof(storage), in.where));
    auto const shares = static_cast<unsigned>(std::min(tiles, resident));
    auto* const sums = reinterpret_cast<std::uint64_t*>(
        memory.scratch(shares * sizeof(std::uint64_t), in.stream, in.where));
    auto const scan_bytes = sizeof(typename scan::storage);
    launch(&sum_shares<Policy, Count>, {shares, threads, scan_bytes}, in, a.n, tiles, a.count,
           sums);
    launch(&place_shares<threads>, {1, threads, scan_bytes}, in, sums, shares, a.counter);
    launch(kernel, {shares, threads, sizeof(storage)}, in, a, tiles, sums);
  } else {
    launch(&allocate_tile<Policy, Count, Emit>,
           {static_cast<unsigned>(tiles), threads, sizeof(storage)}, in, a);
  }
}

}  // namespace detail

/// Writes to `out` the elements that items 0 to n - 1 emit. Item i emits `count(i)` elements, an
/// unsigned integer, and `element(i, k)` is the k-th. `Policy` defines the order of places. The
/// library stores the elements; adjacent threads store adjacent elements. `element` is not called
/// for an element that does not fit.
///
/// Both functions are called on the device, with an std::uint64_t and an std::uint32_t, once or
/// more for the same arguments, in any order, and must return the same value each time. If
/// `element` has a member `item(i)`, it is called as `element(i, k, value)` with the value that
/// `item(i)` returned: trivially copyable, a few words.
///
/// Enqueued. An output that never had this number of items allocates memory first (9 bytes for each
/// tile of the policy, with `ordered`). Throws limit_error and cuda_error. After a cuda_error
/// places of the output may be unwritten: clear it. The output's `wait` reports elements that do
/// not fit.
template <class Policy = ordered_allocation<>, class Count, class Element, class T>
void allocate_async(std::uint64_t n, Count count, Element element, output<T>& out,
                    located_stream in = {}) {
  if (n == 0) return;
  using emit = detail::emit_elements<T, Element>;
  auto const write_rest = &detail::write_long_tiles<Policy, Count, T, Element>;
  constexpr std::size_t shared_bytes = sizeof(detail::allocation_storage<Policy, emit>);
  std::uint64_t const tiles = detail::tiles_of<Policy>(n, in);
  auto& memory = detail::allocation_access::begin(out, detail::is_ordered<Policy> ? tiles : 0, in);
  auto const blocks = static_cast<unsigned>(runtime::resident_blocks(
      simt::make_kernel(write_rest), Policy::threads, shared_bytes, in.where));
  detail::long_tiles const listed =
      detail::long_tiles_for<Policy>(out, memory, blocks, shared_bytes, in);
  detail::allocation<Count, emit> const a{n,
                                          count,
                                          {out.ref(), element, listed},
                                          memory.counter(),
                                          detail::allocation_access::order(out, tiles),
                                          memory.control()};
  detail::place_tiles<Policy>(a, tiles, memory, in);
  // No tile is longer than the output.
  if (out.capacity() > listed.longest)
    launch(write_rest, {blocks, Policy::threads, shared_bytes}, in, a);
}

/// Assigns places to elements that the caller stores. `write(i, place)` is called on the device,
/// once for each item whose elements all fit, if it emits any. The elements belong to `place` and
/// the following places. Otherwise as allocate_async.
template <class Policy = ordered_allocation<>, class Count, class Write, class T>
void allocate_places_async(std::uint64_t n, Count count, Write write, output<T>& out,
                           located_stream in = {}) {
  if (n == 0) return;
  std::uint64_t const tiles = detail::tiles_of<Policy>(n, in);
  auto& memory = detail::allocation_access::begin(out, detail::is_ordered<Policy> ? tiles : 0, in);
  detail::place_tiles<Policy>(
      detail::allocation<Count, detail::emit_places<T, Write>>{
          n,
          count,
          {out.ref(), write},
          memory.counter(),
          detail::allocation_access::order(out, tiles),
          memory.control()},
      tiles, memory, in);
}

WARDEN_NAMESPACE_END
