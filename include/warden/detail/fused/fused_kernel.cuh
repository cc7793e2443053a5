// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel of every fused launch: some blocks serve, the others run the user's virtual blocks.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/fused/block_role.cuh>
#include <warden/detail/fused/launch_control.cuh>
#include <warden/detail/fused/ref_pack.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the kernel.
template <class Kernel, class... Refs>
struct fused_arguments {
  Kernel kernel;
  ref_pack<Refs...> refs;
  std::uint32_t grid;                        ///< virtual blocks
  std::uint32_t servers;                     ///< server blocks of all guarded arrays
  std::uint32_t client_blocks;               ///< client blocks
  std::uint64_t servers_per_multiprocessor;  ///< times 2^32, rounded up
  std::uint32_t user_offset;                 ///< offset of the user's shared memory in the arena
  std::uint32_t user_bytes;
};

/// True if a kernel is part of a larger execution, which has marked the records and zeroed the
/// counters. The kernel's `runs()` may return false: then the kernel touches nothing.
template <class Kernel>
inline constexpr bool is_part_of_run = false;

/// Calls the user's kernel with all refs.
template <class Kernel, class... Done>
WARDEN_DEVICE void call_with_refs(Kernel const& kernel, virtual_block const& at, ref_pack<> const&,
                                  Done const&... done) {
  kernel(at, done...);
}
template <class Kernel, class First, class... Rest, class... Done>
WARDEN_DEVICE void call_with_refs(Kernel const& kernel, virtual_block const& at,
                                  ref_pack<First, Rest...> const& refs, Done const&... done) {
  call_with_refs(kernel, at, refs.rest, done..., refs.first);
}

/// Kernel of every fused launch.
template <unsigned Threads, unsigned MinimumBlocks, class Kernel, class... Refs>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, MinimumBlocks)
    fused_kernel(WARDEN_GRID_CONSTANT fused_arguments<Kernel, Refs...> const arguments) {
  simt::assume_one_dimension();
  launch_ref const& launch = arguments.refs.first.launch;
  launch_counters& counters = launch.control->counters;
  std::byte* const arena = simt::dynamic_shared();
  // The last words of the arena are for values that one thread broadcasts to its block here.
  auto const broadcast =
      arena_piece<std::uint32_t>{arguments.user_offset + arguments.user_bytes, 2}.in(arena);

  if constexpr (is_part_of_run<Kernel>) {
    // Nothing is counted before this check, because another launch may be using these counters.
    if (simt::sync_block_or(simt::thread_rank() == 0 && !arguments.kernel.runs()))
      return;  // mutation: replay-amid
  }
  if (simt::thread_rank() == 0) {
    block_role const role = claim_role(counters, arguments.servers, arguments.client_blocks,
                                       arguments.servers_per_multiprocessor);
    broadcast[0] = role.serves;
    broadcast[1] = role.number;
  }
  simt::sync_block();
  bool const serves = broadcast[0] != 0;
  std::uint32_t number = broadcast[1];
  simt::sync_block();
  // If a failure was not reported yet, nothing may run on those channels. One thread looks, because
  // two could see different values, and all threads of a block have to agree.
  if (simt::sync_block_or(simt::thread_rank() == 0 && launch.refused())) return;

  if (serves) {
    for_each_ref(arguments.refs, [&](auto const& ref) {
      std::uint32_t const servers = ref.owners.servers();
      using ref_type = std::remove_cvref_t<decltype(ref)>;
      if (number < servers) typename ref_type::server{ref, number, arena}.run();
      // Wraps beyond every count after this block has served.
      number -= servers;  // mutation: serves-twice
    });
    return;
  }

  for_each_ref(arguments.refs, [&](auto const& ref) {
    using ref_type = std::remove_cvref_t<decltype(ref)>;
    if (ref.gathers()) typename ref_type::outbox{ref, arena + ref.outbox_offset}.start();
  });
  while (true) {
    if (simt::thread_rank() == 0) {
      broadcast[0] =
          launch.poisoned() ? arguments.grid : simt::fetch_add(&counters.next_virtual_block, 1u);
    }
    simt::sync_block();
    std::uint32_t const next = broadcast[0];
    simt::sync_block();
    if (next >= arguments.grid) break;
    virtual_block const at{
        next, arguments.grid, number, &launch, arena, arguments.user_offset, arguments.user_bytes};
    call_with_refs(arguments.kernel, at, arguments.refs);
    simt::sync_block();
    // The next virtual block starts after the loop's barriers.
    if (simt::thread_rank() == 0) {
      for_each_ref(arguments.refs, [&](auto const& ref) {
        using ref_type = std::remove_cvref_t<decltype(ref)>;
        if (ref.gathers()) typename ref_type::outbox{ref, arena + ref.outbox_offset}.discard();
      });
    }
  }
  // Every thread is here and has sent all its messages. The block's reservations come before this
  // count, by the barrier and this thread's fence. Servers read the count first, then `reserved`.
  if (simt::thread_rank() == 0) {
    simt::fence_device();  // mutation: done-fence
    simt::fetch_add(&counters.client_blocks_done, 1u);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
