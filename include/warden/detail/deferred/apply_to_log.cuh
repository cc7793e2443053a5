// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel of `apply_async` that fills a log with the sections of an array.
#pragma once

#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the kernel. It sends section i for record ids[i], and with `Pairs` for record
/// seconds[i], too.
template <bool Pairs, class Ref, class Section, unsigned Threads>
struct apply_to_log {
  Ref ref;
  std::uint32_t const* ids;
  std::uint32_t const* seconds;  ///< null unless `Pairs`
  Section const* sections;
  std::size_t n;

  /// The block's client.
  using client = deferred_block<Ref, Threads>;
  /// Arguments of one send.
  struct element {
    std::uint32_t id, second;
    Section section;
  };
  /// Sections of a block. They are adjacent, so sections that run in block order run in the order
  /// of the array.
  static constexpr std::size_t chunk = std::size_t{4} * client::per_thread * Threads;
  /// Returns the number of blocks for n sections; 0 for 0.
  static unsigned blocks(std::size_t n) { return static_cast<unsigned>((n + chunk - 1) / chunk); }
};
/// Fills the log. Launch with `blocks(n)` blocks, and the client's storage as dynamic shared
/// memory.
template <bool Pairs, class Ref, class Section, unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1)
    log_sections(apply_to_log<Pairs, Ref, Section, Threads> a) {
  simt::assume_one_dimension();
  using apply = decltype(a);
  using client = typename apply::client;
  using element = typename apply::element;
  client block{a.ref, *reinterpret_cast<typename client::storage*>(simt::dynamic_shared())};
  std::uint64_t const begin = simt::block_rank() * std::uint64_t{apply::chunk};
  std::uint64_t const end = begin + apply::chunk < a.n ? begin + apply::chunk : a.n;
  load_then_send<loaded_at_once(sizeof(element)), false>(
      begin, Threads, end, simt::thread_rank(),
      [&](std::uint64_t i) {
        return element{a.ids[i], Pairs ? a.seconds[i] : 0, a.sections[i]};
      },
      [&](std::uint64_t, element const& e, bool valid) {
        if constexpr (Pairs) {
          block.send(e.id, e.second, e.section, valid);
        } else {
          block.send(e.id, e.section, valid);
        }
      });
  block.flush();
}

}  // namespace detail
WARDEN_NAMESPACE_END
