// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of the kernel that sorts a log's flat messages into batches.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sorts the flat messages of the logs of `Ref`, a run_ref.
template <class Ref>
class flat_sort {
 public:
  /// Plans the launch for a planned log, with at most one block for each tile. Throws cuda_error.
  void plan(typename Ref::log_type const& log, std::source_location where) {
    std::size_t const shards = log.last_shard + std::size_t{1};
    std::size_t const tiles =
        (log.shard_size + flat_writer<Ref>::slots - 1) / flat_writer<Ref>::slots * shards;
    auto const resident =
        static_cast<std::size_t>(runtime::resident_blocks(kernel_, threads, shared_bytes, where));
    blocks_ = static_cast<unsigned>(std::min(resident, tiles));
    has_one_tile_ = tiles == 1;
  }
  /// True if the log has one tile. One kernel can then close and sort it.
  [[nodiscard]] bool has_one_tile() const { return has_one_tile_; }
  /// Enqueues the kernel, which also `closes` the log. Throws cuda_error.
  void enqueue(run_arguments<Ref> run, bool closes, stream_ref s,
               std::source_location where) const {
    void* arguments[] = {&run, &closes};
    runtime::launch(kernel_, runtime::early_launch(blocks_, threads, shared_bytes), arguments, s,
                    where);
  }

 private:
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr std::size_t shared_bytes = flat_writer<Ref>::shared_bytes();

  unsigned blocks_ = 0;
  bool has_one_tile_ = false;
  // Stored, because `plan` requests shared memory for this address and a later call launches it.
  // Another translation unit may have another address for the same kernel.
  runtime::kernel kernel_ = simt::make_kernel(&sort_flat<Ref>);
};

}  // namespace detail
WARDEN_NAMESPACE_END
