// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sends the operations that a function makes from numbers, for the calls on arrays.
#pragma once

#include "apps/hash_table/log.cuh"

#include <warden/simt/launch.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace hash_table::detail {

/// Sections `make(first)` to `make(first + n - 1)`, at most 2^30.
template <class Ref, class Make>
struct to_send {
  Ref ref;
  Make make;
  std::uint32_t first, n, share;

  using section = std::remove_cvref_t<decltype(std::declval<Make const&>()(0u))>;
  /// Number of sections that a thread makes before it sends the first; fewer if they take more
  /// registers.
  static constexpr unsigned at_once = sizeof(section) <= 8 ? 4 : sizeof(section) <= 16 ? 2 : 1;
};

/// Client with batches that are as large as possible.
template <class Ref, unsigned Threads>
using sending_block =
    operations_block<Ref, Threads,
                     warden::dynamic_storage_bytes<typename Ref::inner_type, Threads>>;

/// Sends all sections. Three blocks of 512 threads fit a multiprocessor. If sections run in order,
/// each block sends `share` consecutive operations; otherwise all blocks stride through the
/// operations together.
template <class Ref, class Make, unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, Threads == 512 ? 3 : 1)
    send_operations(to_send<Ref, Make> a) {
  simt::assume_one_dimension();
  using client = sending_block<Ref, Threads>;
  constexpr bool in_order = Ref::inner_type::in_order;
  constexpr std::uint32_t tile = a.at_once * Threads;
  client block{a.ref, *reinterpret_cast<typename client::storage*>(simt::dynamic_shared())};
  std::uint32_t const begin = simt::block_rank() * (in_order ? a.share : tile);
  std::uint32_t const end = in_order && begin + a.share < a.n ? begin + a.share : a.n;
  for (std::uint32_t base = begin; base < end;
       base += in_order ? tile : simt::block_count() * tile) {
    std::uint32_t const mine = base + simt::thread_rank();
    typename decltype(a)::section made[a.at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < a.at_once; ++k) {
      std::uint32_t const i = mine + k * Threads;
      made[k] = a.make(a.first + (i < end ? i : base));
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < a.at_once; ++k) block.send(made[k], mine + k * Threads < end);
  }
  block.flush();
}

/// Makes the sections of `Make`, each converted to its partial.
template <class Make>
struct partials {
  Make make;
  using partial =
      warden::partial_of<std::remove_cvref_t<decltype(std::declval<Make const&>()(0u))>>;
  __device__ partial operator()(std::uint32_t i) const {
    return warden::made_partial<partial>(make(i));
  }
};

/// Threads of the blocks that send.
template <class Policy>
inline constexpr unsigned send_threads = std::min(512u, 2 * Policy::block_threads);

/// Enqueues the kernel with all blocks that are resident together, because a block combines its
/// repeated keys.
template <unsigned Threads, class Ref, class Make>
void send_by(Ref const& ref, Make const& make, std::uint32_t first, std::uint32_t n,
             warden::located_stream s) {
  constexpr std::size_t shared_bytes = sizeof(typename sending_block<Ref, Threads>::storage);
  // Every device has 64 KB of shared memory for a block. If a block cannot have more, it has half
  // the threads.
  if constexpr (shared_bytes > std::size_t{64} << 10) {
    auto const facts = warden::runtime::facts(warden::runtime::current_device(s.where), s.where);
    if (shared_bytes > facts.shared_bytes_per_block)
      return send_by<Threads / 2>(ref, make, first, n, s);
  }
  auto const kernel = simt::make_kernel(&send_operations<Ref, Make, Threads>);
  auto const resident = static_cast<std::uint32_t>(
      warden::runtime::resident_blocks(kernel, Threads, shared_bytes, s.where));
  std::uint32_t const share = (n - 1) / std::min(resident, (n - 1) / Threads + 1) + 1;
  to_send<Ref, Make> argument{ref, make, first, n, share};
  void* arguments[] = {&argument};
  warden::runtime::launch(kernel, {(n - 1) / share + 1, Threads, shared_bytes, false}, arguments,
                          s.stream, s.where);
}
template <class Policy, class Ref, class Make>
void send_async(Ref const& ref, Make const& make, std::uint32_t first, std::uint32_t n,
                warden::located_stream s) {
  send_by<send_threads<Policy>>(ref, make, first, n, s);
}

/// Largest number of operations in `apply_bytes` of the policy.
template <class Policy, class Ref>
inline constexpr std::size_t most_sent = std::bit_floor(std::clamp<std::size_t>(
    Policy::apply_bytes / sizeof(typename Ref::inner_type::message_type), 1, 1u << 30));

}  // namespace hash_table::detail
