// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of a run in rounds. They run between the kernels of every run that close the log and
/// open it again.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/pairs/bin_writer.cuh>
#include <warden/detail/pairs/group_rounds.cuh>
#include <warden/detail/pairs/round_list.cuh>
#include <warden/detail/pairs/rounds_ref.cuh>
#include <warden/detail/pairs/rounds_server.cuh>
#include <warden/detail/pairs/single_block_run.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Server that runs the tile pairs.
template <class Ref>
using rounds_server_of = rounds_server<Ref, detail::rounds_worker_of<Ref>>;

/// Runner of a log of few sections.
template <class Ref>
using single_block_run_of = single_block_run<Ref, detail::rounds_worker_of<Ref>>;

/// Runs all sections if they are few. Grid: one block. `Ref` has each array's records in one tile.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1) run_few(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.runs()) return;
  a.begin(log_phase::run);
  single_block_run_of<Ref>{a.ref, simt::dynamic_shared()}.run();
}

/// Blocks of a multiprocessor that fill bins: they mostly wait for memory.
template <class Ref>
inline constexpr int fill_blocks_each = Ref::policy::block_threads <= 512 ? 2 : 1;

/// Sorts messages by the tiles of both records. Grid: any.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, fill_blocks_each<Ref>)
    fill_bins(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (a.runs() && a.ref.bins.control->are_few == 0)
    bin_writer<Ref>{a.ref, simt::dynamic_shared()}.run();
}
/// Lists the tile pairs that have sections. Grid: one block.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    list_tile_pairs(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (a.runs() && a.ref.bins.control->are_few == 0)
    round_list<Ref>{a.ref, simt::dynamic_shared()}.write();
}
/// Runs all sections. Grid: any.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    run_tile_pairs(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (a.runs()) rounds_server_of<Ref>{a.ref, simt::dynamic_shared()}.run();
}

}  // namespace detail
WARDEN_NAMESPACE_END
