// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel of `apply_async` in a fused launch: sends the sections that a function returns.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/load_then_send.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Kernel of `apply_async` in a fused launch. Sends what `function(i)` returns for all i of a
/// range.
template <class Function>
struct apply_kernel {
  Function function;
  index_range of;

  template <class Ref>
  __device__ void operator()(virtual_block const& at, Ref const& records) const {
    using value = decltype(function(of.end));
    block_client<Ref> client{records, at};
    load_then_send<loaded_at_once(loaded_bytes<value>)>(
        at, records, of.count(), [&](std::uint64_t i) { return function(of.begin + i); },
        [&](std::uint64_t i, value const& v, bool valid) {
          send_returned(v, valid, [&](auto const&... what) {
            note_row(records, of.begin + i, what...);
            client.send(what...);
          });
        });
    client.flush();
  }

 private:
  /// Notes the row of a section whose id `send` will count.
  template <class Ref, class Section>
  WARDEN_DEVICE static void note_row(Ref const& records, std::uint64_t row, std::uint64_t id,
                                     Section const&, bool valid) {
    if (valid && id >= records.size) records.report->note_bad_row(row);
  }
  template <class Ref, class Section>
  WARDEN_DEVICE static void note_row(Ref const& records, std::uint64_t row, std::uint64_t first,
                                     std::uint64_t second, Section const& section, bool valid) {
    note_row(records, row, first < second ? second : first, section, valid);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
