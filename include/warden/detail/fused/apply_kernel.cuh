// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel of `apply_async` in a fused launch: sends the sections that a function returns.
#pragma once

#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/load_then_send.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Kernel of `apply_async` in a fused launch. Sends what `function(i)` returns for all i < n.
template <class Function>
struct apply_kernel {
  Function function;
  std::size_t n;

  template <class Ref>
  __device__ void operator()(virtual_block const& at, Ref const& records) const {
    using value = decltype(function(n));
    block_client<Ref> client{records, at};
    load_then_send<loaded_at_once(loaded_bytes<value>)>(
        at, records, n, function, [&](std::uint64_t, value const& v, bool valid) {
          send_returned(v, valid, [&](auto const&... what) { client.send(what...); });
        });
    client.flush();
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
