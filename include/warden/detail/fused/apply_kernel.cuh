// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel of `apply_async` in a fused launch: sends sections that are stored in arrays.
#pragma once

#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/load_then_send.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Kernel of `apply_async` in a fused launch. Sends section i to record ids[i], or to records
/// ids[i] and seconds[i] if `Pairs`.
template <bool Pairs, class Section>
struct apply_kernel {
  std::uint32_t const* ids;
  std::uint32_t const* seconds;  ///< null unless `Pairs`
  Section const* sections;
  std::size_t n;

  /// Arguments of one send.
  struct element {
    std::uint32_t id, second;
    Section section;
  };
  static constexpr unsigned at_once = loaded_at_once(sizeof(element));

  template <class Ref>
  __device__ void operator()(virtual_block const& at, Ref const& records) const {
    block_client<Ref> client{records, at};
    load_then_send<at_once>(
        at, records, n,
        [&](std::uint64_t i) {
          return element{ids[i], Pairs ? seconds[i] : 0, sections[i]};
        },
        [&](std::uint64_t, element const& e, bool valid) {
          if constexpr (Pairs) {
            client.send(e.id, e.second, e.section, valid);
          } else {
            client.send(e.id, e.section, valid);
          }
        });
    client.flush();
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
