// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loop of a kernel that sends what lies in arrays: several elements are loaded before the
/// first is sent, which costs one wait for memory instead of one each.
#pragma once

#include <warden/simt/simt.cuh>
#include <warden/virtual_block.cuh>

#include <cstdint>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

namespace detail {

/// The numbers first + rank, first + step + rank, ... below `n`, `AtOnce` at a time. `Rolled`: one
/// copy of `send` for all of them.
template <unsigned AtOnce, bool Rolled, class Load, class Send>
WARDEN_DEVICE void load_then_send(std::uint64_t first, std::uint64_t step, std::uint64_t n,
                                  unsigned rank, Load load, Send send) {
  using value = std::remove_cvref_t<decltype(load(n))>;
  static_assert(std::is_trivially_copyable_v<value>,
                "warden: what is loaded is trivially copyable");
  // A section need not have a default constructor.
  union place {
    WARDEN_DEVICE place() {}
    value loaded;
  };
  for (; first < n; first += AtOnce * step) {
    std::uint64_t const left = n - first;
    place places[AtOnce];
    WARDEN_UNROLL
    for (unsigned k = 0; k < AtOnce; ++k) {
      std::uint64_t const offset = k * step + rank;
      new (&places[k].loaded) value(load(first + (offset < left ? offset : 0)));
    }
    if constexpr (Rolled) {
      // The elements move up, so that they stay in registers.
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        std::uint64_t const offset = k * step + rank;
        send(first + offset, places[0].loaded, offset < left);
        WARDEN_UNROLL
        for (unsigned j = 1; j < AtOnce; ++j) new (&places[j - 1].loaded) value(places[j].loaded);
      }
    } else {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        std::uint64_t const offset = k * step + rank;
        send(first + offset, places[k].loaded, offset < left);
      }
    }
  }
}

}  // namespace detail

/// Deals the numbers below `n` out to the threads of the virtual grid. Each thread calls `load(i)`
/// for `AtOnce` of its numbers, then `send(i, loaded, valid)` for each of them; `valid` is false,
/// and `loaded` another number's, where a thread has none left, so that all threads of a block call
/// `send` alike. What is loaded stays in registers: `AtOnce` times its size should leave room for
/// the rest. Collective over the block; flushes nothing. `records` is the ref that `send` sends to.
template <unsigned AtOnce, class Ref, class Load, class Send>
WARDEN_DEVICE void load_then_send(virtual_block const& at, Ref const& /*records*/, std::uint64_t n,
                                  Load load, Send send) {
  // Each send may copy a buffer out, which is so long that a copy of it for every element would not
  // fit the instruction cache.
  constexpr bool rolled = Ref::outbox::sends_full_buffers;
  detail::load_then_send<AtOnce, rolled>(std::uint64_t{at.block_index()} * at.block_dim(),
                                         at.global_size(), n, at.thread_rank(), load, send);
}

WARDEN_NAMESPACE_END
