// SPDX-License-Identifier: Apache-2.0
/// @file
/// Logs whose sections send sections: a fused launch runs such a log.
#pragma once

#include <warden/deferred.cuh>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/launch_plan.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/fused.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

namespace detail {

/// Kernel of the fused launch: sends the sections that the log has accepted to the owners.
template <class Ref, class... Sections>
struct replay_kernel {
  run_arguments<Ref> run;

  /// True if the log belongs to this run.
  WARDEN_DEVICE bool runs() const { return run.runs(); }

  template <class To>
  WARDEN_DEVICE void operator()(virtual_block const& at, To const& records) const {
    auto const& log = run.ref.log;
    if (at.block_index() == 0 && at.thread_rank() == 0) log.control->trace.begin(log_phase::run);
    block_client<To> client{records, at};
    std::uint32_t const threads = at.block_dim();
    std::uint32_t const chunks = (log.shard_size + threads - 1) / threads;  ///< chunks of a shard
    for (std::uint32_t c = at.block_index(); c < chunks * (log.last_shard + 1);
         c += at.grid_dim()) {
      std::uint32_t const shard = c & log.last_shard, room = log.size_of(shard);
      std::uint32_t const mine = c / (log.last_shard + 1) * threads + at.thread_rank();
      auto const& taken = log.shards[shard];
      bool const is_message = mine < room && (mine < taken.batches || mine >= room - taken.flat);
      if (!simt::sync_block_or(is_message)) continue;
      send(client, log.pool[log.begin_of(shard) + (mine < room ? mine : 0)], is_message);
    }
    client.flush();
  }

 private:
  /// Sends the section that `m` carries, type by type. Collective: all threads of the block.
  template <class Client, class Message>
  WARDEN_DEVICE void send(Client& client, Message& m, bool is_message) const {
    // False if a kernel that is still sending has taken the place.
    bool const is_whole = is_message && m.words[0] != Ref::log_type::unwritten;
    if (is_message && !is_whole) simt::fetch_add(&run.ref.report->not_whole, std::uint64_t{1});
    // A thread without a message may see another thread's message, which that thread changes.
    Message sent{};
    if (is_message) sent = m;
    if (is_whole) m.words[0] = Ref::log_type::unwritten;  // mutation: replay-twice
    (client.send(sent.local(), Ref::format::template unpack<Sections>(sent),
                 is_whole && sent.tag() == position_among<Sections, Sections...>),
     ...);
  }
};
template <class Ref, class... Sections>
inline constexpr bool is_part_of_run<replay_kernel<Ref, Sections...>> = true;

/// Work between a log's close and its opening: one launch, with the guarded array's own channels.
template <class Policy, class Record, class... Sections>
class log_replayer {
  using run_type = run_ref<Policy, Record, Sections...>;

 public:
  /// Replays the logs of `of`.
  explicit log_replayer(guarded_state<Policy, Record, Sections...> const& of) : guarded_{of} {}

  /// Makes the map to 64 partitions, so that the threads of a block count messages at
  /// different words. Nothing is run by partition.
  partition_map plan_partitions(run_type& run, deferred_options const&, std::size_t,
                                std::source_location) {
    // Makes the fused state now, so that runs only enqueue.
    static_cast<void>(guarded_access::fused(guarded_));
    run.health = &launch()->health;
    return run.owners = log_plan<run_type>::partitions(run.size, 64);
  }
  /// Makes the state of a run: marks all places as unwritten; nothing is sorted. Enqueued in the
  /// default stream. Throws cuda_error.
  void make(run_type& run, std::source_location where) {
    runtime::fill_async(run.log.pool, 0xff, run.log.size * sizeof(*run.log.pool), {}, where);
  }
  /// Enqueues the launch. Throws as launch_fused does; nothing is enqueued then.
  void enqueue(run_arguments<run_type> run, run_stage&, stream_ref s, std::source_location where) {
    using kernel = replay_kernel<run_type, Sections...>;
    using guarded = guarded_state<Policy, Record, Sections...>;
    launch_plan<kernel, guarded>{virtual_blocks_for<typename guarded::ref>(run.ref.log.size),
                                 Policy::block_threads,
                                 {s, where},
                                 guarded_}
        .enqueue({run}, guarded_);
  }
  /// Returns the control block whose counters the launch uses.
  [[nodiscard]] launch_control* launch() const {
    return guarded_access::shared(guarded_)->control->data();
  }
  /// Returns the device memory of the replayer. Units: bytes.
  [[nodiscard]] static std::size_t bytes() { return 0; }

 private:
  guarded_state<Policy, Record, Sections...> guarded_;
};

}  // namespace detail

WARDEN_NAMESPACE_END
