// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fused launch: one cooperative kernel in which some blocks serve and the others run the
/// user's virtual blocks.
#pragma once

#include <warden/client_block.cuh>
#include <warden/detail/minimum_blocks.cuh>
#include <warden/guarded.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The refs of a launch, one type each.
template <class... Refs>
struct ref_pack {};
template <class First, class... Rest>
struct ref_pack<First, Rest...> {
  First first;
  ref_pack<Rest...> rest;
};

template <class Kernel, class... Refs>
struct fused_arguments {
  Kernel kernel;
  ref_pack<Refs...> refs;
  std::uint32_t grid;                        ///< virtual blocks
  std::uint32_t servers;                     ///< server blocks of all guardeds
  std::uint32_t client_blocks;               ///< the others
  std::uint64_t servers_per_multiprocessor;  ///< times 2^32, rounded up
  std::uint32_t user_offset;                 ///< of the user's shared memory in the arena
  std::uint32_t user_bytes;
};

/// Calls `f(ref)` for each ref, in order.
template <class F>
WARDEN_DEVICE void for_each_ref(ref_pack<> const&, F&&) {}
template <class First, class... Rest, class F>
WARDEN_DEVICE void for_each_ref(ref_pack<First, Rest...> const& refs, F&& f) {
  f(refs.first);
  for_each_ref(refs.rest, f);
}

/// Calls the user's kernel with all refs.
template <class Kernel, class... Done>
WARDEN_DEVICE void call_with_refs(Kernel const& kernel, client_block const& at, ref_pack<> const&,
                                  Done const&... done) {
  kernel(at, done...);
}
template <class Kernel, class First, class... Rest, class... Done>
WARDEN_DEVICE void call_with_refs(Kernel const& kernel, client_block const& at,
                                  ref_pack<First, Rest...> const& refs, Done const&... done) {
  call_with_refs(kernel, at, refs.rest, done..., refs.first);
}

/// What a block does in this launch.
struct block_role {
  bool serves;
  std::uint32_t number;  ///< among the servers, or among the client blocks
};

/// Spreads the roles: multiprocessor m offers its first blocks as servers, as many as its share of
/// all servers. A block that finds its role's places taken takes the other one, so every place is
/// taken once whatever the multiprocessors did: the spread is for speed, never for correctness. One
/// thread.
WARDEN_DEVICE block_role claim_role(launch_counters& counters, std::uint32_t servers,
                                    std::uint32_t client_blocks,
                                    std::uint64_t servers_per_multiprocessor) {
  std::uint32_t const m = simt::sm_id();
  // Rounded up, so that the last multiprocessor's part of the running sum is all servers.
  auto const servers_below = [&](std::uint32_t n) { return n * servers_per_multiprocessor >> 32; };
  auto const share = static_cast<std::uint32_t>(servers_below(m + 1) - servers_below(m));
  std::uint32_t const ticket =
      simt::fetch_add(&counters.tickets[m % launch_counters::multiprocessors], 1u);
  if (ticket < share) {
    std::uint32_t const number = simt::fetch_add(&counters.servers_claimed, 1u);
    if (number < servers) return {true, number};
    return {false, simt::fetch_add(&counters.clients_claimed, 1u)};
  }
  std::uint32_t const number = simt::fetch_add(&counters.clients_claimed, 1u);
  if (number < client_blocks) return {false, number};
  return {true, simt::fetch_add(&counters.servers_claimed, 1u)};
}

/// The kernel of every fused launch.
template <unsigned Threads, unsigned MinimumBlocks, class Kernel, class... Refs>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, MinimumBlocks)
    fused_kernel(WARDEN_GRID_CONSTANT fused_arguments<Kernel, Refs...> const arguments) {
  launch_frame const& frame = arguments.refs.first.frame;
  launch_counters& counters = frame.control->counters;
  std::byte* const arena = simt::dynamic_shared();
  // The last words of the arena are for what one thread tells its block here.
  simt::shared_span<std::uint32_t> const told{
      reinterpret_cast<std::uint32_t*>(arena + arguments.user_offset + arguments.user_bytes), 2};

  if (simt::thread_rank() == 0) {
    block_role const role = claim_role(counters, arguments.servers, arguments.client_blocks,
                                       arguments.servers_per_multiprocessor);
    told[0] = role.serves;
    told[1] = role.number;
  }
  simt::sync_block();
  bool const serves = told[0] != 0;
  std::uint32_t number = told[1];
  simt::sync_block();
  // A failure that was not reported yet: nothing may run on those channels. One thread looks,
  // because two could see different things, and all threads of a block have to agree.
  if (simt::sync_block_or(simt::thread_rank() == 0 && frame.refused())) return;

  if (serves) {
    for_each_ref(arguments.refs, [&](auto const& ref) {
      std::uint32_t const servers = ref.owners.servers();
      using ref_type = std::remove_cvref_t<decltype(ref)>;
      if (number < servers) typename ref_type::server{ref, number, arena}.run();
      // Wraps beyond every count once this block has served.
      number -= servers;  // sabotage: serves-twice
    });
    return;
  }

  for_each_ref(arguments.refs, [&](auto const& ref) {
    using ref_type = std::remove_cvref_t<decltype(ref)>;
    typename ref_type::outbox{ref, arena + ref.outbox_offset}.start();
  });
  while (true) {
    if (simt::thread_rank() == 0) {
      told[0] =
          frame.poisoned() ? arguments.grid : simt::fetch_add(&counters.next_virtual_block, 1u);
    }
    simt::sync_block();
    std::uint32_t const virtual_block = told[0];
    simt::sync_block();
    if (virtual_block >= arguments.grid) break;
    client_block const at{virtual_block,         arguments.grid,      number, &frame, arena,
                          arguments.user_offset, arguments.user_bytes};
    call_with_refs(arguments.kernel, at, arguments.refs);
    simt::sync_block();
    // The next virtual block comes after the loop's barriers.
    if (simt::thread_rank() == 0) {
      for_each_ref(arguments.refs, [&](auto const& ref) {
        using ref_type = std::remove_cvref_t<decltype(ref)>;
        typename ref_type::outbox{ref, arena + ref.outbox_offset}.discard();
      });
    }
  }
  // Every thread is here and has sent all it will: what the block reserved comes before this count,
  // by the barrier and this thread's fence. Servers read the count first, then `reserved`.
  if (simt::thread_rank() == 0) {
    simt::fence_device();  // sabotage: done-fence
    simt::fetch_add(&counters.client_blocks_done, 1u);
  }
}

/// Begins the launch for each guarded, in order, and packs the refs.
template <class Begin>
ref_pack<> begin_all(Begin const&) {
  return {};
}
template <class Begin, class First, class... Rest>
ref_pack<typename First::ref, typename Rest::ref...> begin_all(Begin const& begin, First& first,
                                                               Rest&... rest) {
  auto ref = begin(first);
  return {ref, begin_all(begin, rest...)};
}

inline void set_frame(ref_pack<>&, launch_frame const&) {}
template <class First, class... Rest>
void set_frame(ref_pack<First, Rest...>& refs, launch_frame const& frame) {
  refs.first.frame = frame;
  set_frame(refs.rest, frame);
}

/// Bytes of the user's own shared memory: sizeof(Kernel::shared_storage), or none.
template <class Kernel>
constexpr std::size_t user_shared_bytes() {
  if constexpr (requires { typename Kernel::shared_storage; }) {
    return (sizeof(typename Kernel::shared_storage) + 15) / 16 * 16;
  } else {
    return 0;
  }
}

/// apply_async's kernel: section i for record ids[i], or for that and record seconds[i].
template <bool Pairs, class Section>
struct apply_kernel {
  std::uint32_t const* ids;
  std::uint32_t const* seconds;  ///< null unless `Pairs`
  Section const* sections;
  std::size_t n;

  template <class Ref>
  __device__ void operator()(client_block const& at, Ref const& records) const {
    block_client<Ref> client{records, at};
    std::size_t const stride = at.global_size();
    for (std::size_t first = std::size_t{at.block_index()} * at.block_dim(); first < n;
         first += stride) {
      std::size_t const i = first + at.thread_rank();
      bool const valid = i < n;
      // Reading a clamped element keeps `send` collective without a default-made section.
      std::size_t const safe = valid ? i : n - 1;
      if constexpr (Pairs) {
        client.send(ids[safe], seconds[safe], sections[safe], valid);
      } else {
        client.send(ids[safe], sections[safe], valid);
      }
    }
    client.flush();
  }
};

}  // namespace detail

/// Runs `kernel(client_block, ref...)` for the virtual blocks 0 .. grid-1, `block` threads each,
/// beside the servers of the one to four guardeds, as one cooperative launch in the stream. Only
/// enqueues: call `wait` on every guarded to learn of errors. Throws limit_error when the plan is
/// impossible: `block` is not the policy's block_threads, the guardeds live on different devices,
/// the servers and one client block are not resident together, or more shared memory is needed than
/// a block can have; cuda_error when the launch fails. Where one of the guardeds has a failure that
/// its `wait` has not reported, nothing runs, and the others report that. May be captured into a
/// graph, with guardeds that live as long as the graph.
template <class Kernel, class First, class... Rest>
void launch_fused(Kernel const& kernel, unsigned grid, unsigned block, located_stream in,
                  First& first, Rest&... rest) {
  stream_ref const s = in.stream;
  std::source_location const where = in.where;
  constexpr unsigned threads = First::policy::block_threads;
  constexpr unsigned minimum_blocks = detail::minimum_blocks<First, Rest...>();
  static_assert(((Rest::policy::block_threads == threads) && ...),
                "warden: the guardeds of one launch have policies with the same block_threads");
  static_assert(1 + sizeof...(Rest) <= launch_frame::most_guardeds,
                "warden: a launch takes 4 guardeds at most");
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "warden: a kernel object is trivially copyable");
  auto const refuse = [&](std::string const& what) {
    throw limit_error{"launch_fused: " + what, where};
  };
  if (block != threads) {
    refuse("blocks of " + std::to_string(block) + " threads, but the policy promises " +
           std::to_string(threads));
  }
  if (((rest.device() != first.device()) || ...)) refuse("the guardeds live on different devices");
  std::array<void const*, 1 + sizeof...(Rest)> addresses{&first, &rest...};
  std::sort(addresses.begin(), addresses.end());
  if (std::adjacent_find(addresses.begin(), addresses.end()) != addresses.end())
    refuse("one guarded stands twice among the arguments; each launch has it once");
  constexpr unsigned largest_grid = 0xffff0000u;  // the count of begun blocks goes beyond the grid
  if (grid > largest_grid) {
    refuse("a grid of " + std::to_string(grid) + " virtual blocks; the limit is " +
           std::to_string(largest_grid));
  }
  runtime::device_scope const scope{first.device()};

  // Shared memory: the outboxes side by side, or one server; behind them the user's, then ours.
  std::array<std::size_t, 1 + sizeof...(Rest)> offsets{};
  std::size_t outboxes = 0, largest_server = 0, position = 0;
  auto const add = [&](auto const& g) {
    offsets[position++] = outboxes;
    outboxes += (g.outbox_bytes() + 15) / 16 * 16;
    largest_server = std::max(largest_server, (g.server_bytes() + 15) / 16 * 16);
  };
  add(first);
  (add(rest), ...);
  std::size_t const user_bytes = detail::user_shared_bytes<Kernel>();
  std::size_t const user_alignment = user_bytes == 0 ? 1 : arena_alignment;
  std::size_t const user_offset =
      (std::max(outboxes, largest_server) + user_alignment - 1) / user_alignment * user_alignment;
  std::size_t const shared_bytes = user_offset + user_bytes + 2 * sizeof(std::uint32_t);
  auto const facts = runtime::facts(first.device());
  if (shared_bytes > facts.shared_bytes_per_block) {
    refuse(std::to_string(shared_bytes) + " bytes of shared memory a block; the device has " +
           std::to_string(facts.shared_bytes_per_block));
  }

  // Blocks: all that are resident together; no more clients than virtual blocks.
  unsigned const servers = (first.servers() + ... + rest.servers());
  auto const function =
      simt::make_kernel(&detail::fused_kernel<threads, minimum_blocks, Kernel, typename First::ref,
                                              typename Rest::ref...>);
  auto const resident =
      static_cast<unsigned>(runtime::resident_blocks(function, threads, shared_bytes, where));
  std::uint64_t blocks =
      std::min<std::uint64_t>(resident, std::uint64_t{servers} + std::max(grid, 1u));
  auto const check_room = [&](std::string const& after) {
    if (blocks > servers) return;
    refuse(std::to_string(servers) + " servers and a client block do not fit: " +
           std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads and " +
           std::to_string(shared_bytes) + " bytes of shared memory are resident together" + after +
           "; make the guardeds with fewer servers");
  };
  check_room("");

  std::array<std::shared_ptr<detail::launch_record const>, 1 + sizeof...(Rest)> const records{
      first.lend_launch_record(), rest.lend_launch_record()...};
  launch_frame frame{};
  frame.control = records[0]->control.data();
  frame.limit = first.limit();
  auto const begin = [&](auto& g) {
    return g.begin_launch(records, offsets[frame.member_count], frame);
  };
  auto const multiprocessors = static_cast<std::uint64_t>(facts.multiprocessors);
  std::uint64_t const servers_per_multiprocessor =
      ((std::uint64_t{servers} << 32) + multiprocessors - 1) / multiprocessors;
  detail::fused_arguments<Kernel, typename First::ref, typename Rest::ref...> arguments{
      kernel,
      detail::begin_all(begin, first, rest...),
      grid,
      servers,
      0,
      servers_per_multiprocessor,
      static_cast<std::uint32_t>(user_offset),
      static_cast<std::uint32_t>(user_bytes)};

  // What a guarded has to report stays.
  auto* const counters = &frame.control->counters;
  runtime::fill_async(counters, 0, sizeof(*counters), s, where);  // sabotage: health-kept
  for (int tries = 0;; ++tries) {
    frame.client_blocks = arguments.client_blocks = static_cast<std::uint32_t>(blocks) - servers;
    detail::set_frame(arguments.refs, frame);
    auto const result =
        runtime::launch(function, {static_cast<unsigned>(blocks), threads, shared_bytes, true},
                        &arguments, s, where);
    if (result == runtime::launch_result::launched) {
      first.end_launch(s);
      (rest.end_launch(s), ...);
      return;
    }
    // The occupancy was that of an empty device; shrink once, then say so.
    if (tries != 0) break;
    blocks = blocks > static_cast<unsigned>(facts.multiprocessors)
                 ? blocks - static_cast<unsigned>(facts.multiprocessors)
                 : 0;
    check_room(" after the device refused " + std::to_string(resident));
  }
  refuse("the device refused a cooperative launch of " + std::to_string(blocks) +
         " blocks as too large, and a larger one before");
}

template <class Policy, class Record, class... Sections>
template <class Section>
void basic_guarded<Policy, Record, Sections...>::apply_async(std::uint32_t const* ids,
                                                             Section const* sections, std::size_t n,
                                                             stream_ref s,
                                                             std::source_location where) {
  launch_fused(detail::apply_kernel<false, Section>{ids, nullptr, sections, n}, apply_grid(n),
               Policy::block_threads, {s, where}, *this);
}
template <class Policy, class Record, class... Sections>
template <class Section>
void basic_guarded<Policy, Record, Sections...>::apply_async(std::uint32_t const* firsts,
                                                             std::uint32_t const* seconds,
                                                             Section const* sections, std::size_t n,
                                                             stream_ref s,
                                                             std::source_location where) {
  launch_fused(detail::apply_kernel<true, Section>{firsts, seconds, sections, n}, apply_grid(n),
               Policy::block_threads, {s, where}, *this);
}

WARDEN_NAMESPACE_END
