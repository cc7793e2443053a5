// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work of a block in a deferred run: takes one partition after another and runs its sections, by
/// the workers that also run sections from a channel.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deferred/ordered_reader.cuh>
#include <warden/detail/deferred/progress_throttle.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/deferred/segment_reader.cuh>
#include <warden/detail/execute/hot_segment.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/window_worker.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs one partition of a log after another. If messages have two widths, it runs those of `Ref`'s
/// width. Every thread of the block constructs one `Worker<Ref>` for each partition.
template <class Ref, template <class> class Worker>
class partition_server {
  using message_type = typename Ref::message_type;
  using worker_type = Worker<Ref>;
  static_assert(worker_type::per_thread <= 32,
                "warden: a window of a log has at most 32 messages for each thread");
  static_assert(
      partition_worker<worker_type, Ref>,
      "warden: the worker of a partition_server lacks a member: see the concept partition_worker");
  /// True if the worker counts sections, and looks for a hot record.
  static constexpr bool traces = requires(worker_type const& w) { w.hottest(); };
  using reader = std::conditional_t<
      Ref::in_order, ordered_reader<message_type, Ref::policy::block_threads>,
      segment_reader<message_type, typename Ref::sent_message, Ref::formats::two_widths, !traces>>;

 public:
  /// Bytes of shared memory for `locals` records of a partition, with windows halved `halvings`
  /// times.
  static constexpr std::size_t shared_bytes(std::size_t locals, unsigned halvings) {
    return layout{worker_type::shared_bytes(locals, Ref::halved(worker_type::per_thread, halvings))}
        .carver.bytes();
  }

  /// `storage` is shared memory of `shared_bytes(ref.locals, ref.window_halvings)` bytes, the same
  /// for the whole block.
  WARDEN_DEVICE partition_server(Ref const& ref, std::byte* storage)
      : ref_{ref},
        for_worker_{layout{}.worker.in(storage).data()},
        reading_{layout{}.reading.in(storage)},
        shared_{layout{}.shared.in(storage)} {}

  /// Runs partitions until none is left. Collective over the block.
  WARDEN_DEVICE void run() const {
    // Each block begins with the partition of its number. A counter deals out the others.
    std::uint32_t const all = ref_.owners.partitions(), blocks = simt::block_count();
    for (std::uint32_t turn = 0; turn == 0 || blocks < all; ++turn) {
      if (simt::thread_rank() == 0) {
        std::uint32_t const next =
            turn == 0 ? simt::block_rank() : blocks + simt::fetch_add(ref_.next_partition(), 1u);
        bool const is_last = next >= all;
        // One thread reads it for all, because a kernel that is sending may take rows at the same
        // time.
        shared_[0] = {next, is_last ? log_rows{0, 0} : ref_.log.rows_with(next)};
        if (turn == 0) reading_[0].messages = 0;
      }
      simt::sync_block();
      found const next = shared_[0];
      simt::sync_block();
      if (next.partition >= all) return;
      run_partition(next.partition, next.rows, turn);
    }
  }

 private:
  /// Values that one thread reads for all.
  struct found {
    std::uint32_t partition;  ///< next partition
    log_rows rows;            ///< rows that may have messages of it
  };
  struct layout {
    std::size_t worker_bytes = 0;
    arena_carver carver{};
    arena_piece<typename reader::storage> reading = carver.take<typename reader::storage>(1);
    arena_piece<found> shared = carver.take<found>(1);
    // Last: its size is known at run time only.
    arena_piece<std::byte> worker = carver.take<std::byte>(worker_bytes, arena_alignment);
  };

  WARDEN_DEVICE void run_partition(std::uint32_t partition, log_rows rows,
                                   std::uint32_t turn) const {
    // If sections may write to other memory than their records. In order the blocks do not drift as
    // far apart.
    constexpr bool throttles =
        !worker_type::by_warps && !Ref::in_order && !std::is_empty_v<typename Ref::context>;
    reader messages{ref_.log, ref_.log.column_of(partition), rows, reading_[0]};
    // Partitions of a log that is split have different rows.
    [[maybe_unused]] bool const is_throttled = throttles &&
                                               simt::thread_rank() == simt::block_threads() - 1 &&
                                               ref_.log.rows_of == nullptr;
    [[maybe_unused]] progress_throttle throttle{&ref_.log.control->rows_passed, rows.end,
                                                ref_.owners.partitions(), turn};
    // Records without sections are not loaded.
    if (!simt::sync_block_or(messages.has_more())) {
      if constexpr (throttles) {
        if (is_throttled) throttle.finish(rows.end);
      }
      trace(partition, {});
      return;
    }
    worker_type worker{ref_, partition, for_worker_};
    unsigned const per_thread = worker_type::by_warps
                                    ? worker_type::per_thread
                                    : ref_.window_per_thread(worker_type::per_thread);
    worker.start();
    simt::sync_block();
    // Receives messages of this partition, with their local numbers.
    auto const receive = [&](auto& m, unsigned used) {
      unsigned arrived = messages.receive(m, used), incomplete = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < std::extent_v<std::remove_reference_t<decltype(m)>>; ++k) {
        if ((arrived >> k & 1u) == 0) continue;
        std::uint32_t const id = ref_.own(m[k].local());
        bool const is_own = id < ref_.size && ref_.owners.partition_of(id) == partition;
        if (!is_own) incomplete |= 1u << k;
        m[k] = m[k].with_local(ref_.owners.local_of(id));
      }
      if (incomplete != 0) {
        // Messages that no thread wrote completely: a kernel was sending.
        arrived &= ~incomplete;
        simt::fetch_add(&ref_.report->not_whole, std::uint64_t(simt::count_bits(incomplete)));
      }
      return arrived;
    };
    [[maybe_unused]] bool is_hot = false;
    // One window after another: loads for the next window in flight take registers, which costs
    // more than the wait.
    for (bool more = true; more;) {
      message_type m[worker_type::per_thread];
      unsigned arrived;
      [[maybe_unused]] bool stays_hot = false;
      if constexpr (worker_type::runs_hot) {
        if (is_hot) {
          arrived = worker.run_hot(
              m, receive, [&] { return messages.has_more(); }, stays_hot);
        } else {
          arrived = receive(m, per_thread);
        }
      } else {
        arrived = receive(m, per_thread);
      }
      worker.take(m, arrived);
      more = messages.has_more();
      // If warps need not meet, none waits for the slowest of each window.
      if constexpr (!worker_type::by_warps) more = simt::sync_block_or(more);
      if constexpr (worker_type::runs_hot) is_hot = stays_hot || worker.is_hot();
      worker.execute(m, arrived);
      if constexpr (throttles) {
        if (is_throttled && more) throttle.pass(messages.rows_passed());
      }
    }
    if constexpr (throttles) {
      if (is_throttled) throttle.finish(rows.end);
    }
    worker.finish();
    simt::sync_block();
    if (!is_tracer()) return;
    partition_trace found{};
    if constexpr (traces) {
      hot_segment const hot = worker.hottest();
      found.sections = hot.all;
      found.hot_record = ref_.owners.id({partition, hot.local});
      found.hot_sections = hot.sections;
      // In a window that does not vote no record has more than half of the sections.
      found.most = (hot.all + hot.sections + 1) / 2;
    } else {
      found.sections = found.most = reading_[0].messages;
      reading_[0].messages = 0;  // for the next partition
    }
    found.records = record_store<Ref>::on_chip ? kept_in::chip : kept_in::memory;
    trace(partition, found);
  }

  /// Writes the trace of a partition. Messages of both widths add up.
  WARDEN_DEVICE void trace(std::uint32_t partition, partition_trace const& found) const {
    if (ref_.traces == nullptr || !is_tracer()) return;
    if constexpr (std::is_same_v<message_type, typename Ref::sent_message>) {
      ref_.traces[partition] = found;
    } else {
      ref_.traces[partition].add(found);
    }
  }

  Ref const& ref_;
  std::byte* for_worker_;
  simt::shared_span<typename reader::storage> reading_;
  simt::shared_span<found> shared_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
