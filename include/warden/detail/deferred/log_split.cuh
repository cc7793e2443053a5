// SPDX-License-Identifier: Apache-2.0
/// @file
/// The finer log into which a run splits a log: its memory, and the launch between the sort and the
/// run.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/split_kernel.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The finer log of `Ref`, a run_ref. Empty until it is made.
template <class Ref>
class log_split {
 public:
  /// True if logs are split.
  [[nodiscard]] bool is_made() const { return blocks_ != 0; }
  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return pool_.bytes() + offsets_.bytes() + begins_.bytes() + rows_of_.bytes() + turns_.bytes() +
           counters_.bytes();
  }

  /// Makes the memory to split logs no larger than `coarse`, with at most as many partitions, each
  /// partition by `within`. Throws cuda_error.
  void make(typename Ref::log_type const& coarse, partition_map within,
            std::source_location where) {
    std::uint32_t const partitions = coarse.partitions.partitions();
    auto const facts = runtime::facts(runtime::current_device(where), where);
    split_ = split_launch<Ref>::fitting(facts.shared_bytes_per_block);
    log_ = {};
    log_.size = coarse.size;
    log_.partitions = within;
    log_.rows = static_cast<std::uint32_t>(split_.most_rows(coarse));
    pool_ = buffer<typename Ref::message_type>{coarse.size, where};
    offsets_ =
        buffer<std::uint16_t>{(log_.partitions.partitions() + std::size_t{1}) * log_.rows, where};
    begins_ = buffer<std::uint32_t>{log_.rows, where};
    rows_of_ = buffer<log_rows>{partitions, where};
    counters_ = buffer<split_counters>{1, where};
    counters_.fill_bytes(0, {}, where);
    log_.pool = pool_.data();
    log_.offsets = offsets_.data();
    log_.begins = begins_.data();
    log_.rows_of = rows_of_.data();
    if constexpr (Ref::in_order) {
      // The rows of a partition are written in their order.
      std::vector<std::uint32_t> turns(log_.rows);
      std::iota(turns.begin(), turns.end(), 0u);
      turns_ = buffer<std::uint32_t>{turns, where};
      log_.order.rows = turns_.data();
    }
    blocks_ = std::min(partitions, static_cast<unsigned>(runtime::resident_blocks(
                                       split_.kernel, threads, split_.shared_bytes, where)));
  }
  /// Enqueues the split of a closed and sorted log. Returns the arguments of the run in its place.
  /// Throws cuda_error.
  run_arguments<Ref> enqueue(run_arguments<Ref> run, stream_ref s, std::source_location where) {
    split_arguments<Ref> argument{run, log_, counters_.data()};
    argument.to.control = run.ref.log.control;
    argument.to.coarse_log2 =
        static_cast<std::uint32_t>(std::countr_zero(run.ref.log.partitions.partitions()));
    void* arguments[] = {&argument};
    runtime::launch(split_.kernel, runtime::early_launch(blocks_, threads, split_.shared_bytes),
                    arguments, s, where);
    run.ref.log = argument.to;
    return run;
  }

 private:
  static constexpr unsigned threads = Ref::policy::block_threads;

  unsigned blocks_ = 0;
  typename Ref::log_type log_{};
  split_launch<Ref> split_{};
  buffer<typename Ref::message_type> pool_;
  buffer<std::uint16_t> offsets_;
  buffer<std::uint32_t> begins_;
  buffer<log_rows> rows_of_;
  buffer<std::uint32_t> turns_;  ///< used if sections run in order
  buffer<split_counters> counters_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
