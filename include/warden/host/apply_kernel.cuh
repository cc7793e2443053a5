// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel behind `apply_async`: it sends what lies in arrays.
#pragma once

#include <warden/block_client.cuh>
#include <warden/virtual_block.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// apply_async's kernel: section i for record ids[i], or for that and record seconds[i].
template <bool Pairs, class Section>
struct apply_kernel {
  std::uint32_t const* ids;
  std::uint32_t const* seconds;  ///< null unless `Pairs`
  Section const* sections;
  std::size_t n;

  template <class Ref>
  __device__ void operator()(virtual_block const& at, Ref const& records) const {
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
WARDEN_NAMESPACE_END
