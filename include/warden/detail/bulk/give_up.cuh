// SPDX-License-Identifier: Apache-2.0
/// @file
/// Frees the records of a bulk run whose kernels could not all be enqueued.
#pragma once

#include <warden/detail/bulk/bulk_arguments.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Frees the records, and reports `n` sections that did not run. One thread.
template <class Partial, class Record, class Context>
WARDEN_KERNEL void give_up_rows(bulk_arguments<Partial, Record, Context> a, std::uint64_t n) {
  if (!a.has_records()) return;
  simt::fetch_add(&a.array.report->given_up, n);
  a.control->blocks_done = a.control->run = 0;
  simt::fence_device();  // release, as in finish_block
  a.array.free();
}
/// Enqueues that kernel.
template <class Partial, class Record, class Context>
void give_up(bulk_arguments<Partial, Record, Context> a, std::uint64_t n, stream_ref s,
             std::source_location where) {
  void* arguments[] = {&a, &n};
  runtime::launch(simt::make_kernel(&give_up_rows<Partial, Record, Context>), {1, 1, 0, false},
                  arguments, s, where);
}

}  // namespace detail
WARDEN_NAMESPACE_END
