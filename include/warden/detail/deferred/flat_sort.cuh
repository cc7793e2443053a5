// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel that sorts a closed log's flat messages into batches, with as many blocks as it
/// needs.
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
  /// Plans the launch for a log as it is planned: no more blocks than there are tiles. Throws
  /// cuda_error.
  void plan(typename Ref::log_type const& log, std::source_location where) {
    std::size_t const shards = log.last_shard + std::size_t{1};
    std::size_t const tiles =
        (log.shard_size + flat_writer<Ref>::slots - 1) / flat_writer<Ref>::slots * shards;
    auto const resident =
        static_cast<std::size_t>(runtime::resident_blocks(kernel_, threads, shared_bytes, where));
    blocks_ = static_cast<unsigned>(std::min(resident, tiles));
  }
  /// Enqueues the kernel. Throws cuda_error.
  void enqueue(run_arguments<Ref> run, stream_ref s, std::source_location where) const {
    void* arguments[] = {&run};
    runtime::launch(kernel_, {blocks_, threads, shared_bytes, false}, arguments, s, where);
  }

 private:
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr std::size_t shared_bytes = flat_writer<Ref>::shared_bytes();

  unsigned blocks_ = 0;
  // Asked for shared memory when the log is made, and launched later: the address of a kernel may
  // be another one in another translation unit.
  runtime::kernel kernel_ = simt::make_kernel(&sort_flat<Ref>);
};

}  // namespace detail
WARDEN_NAMESPACE_END
