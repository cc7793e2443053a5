// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a deferred run, enqueued one after another in one stream. Each is launched early:
/// it becomes resident while the one before it ends.
#pragma once

#include <warden/detail/deferred/batch_writer.cuh>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of all of these kernels.
template <class Ref>
struct run_arguments {
  typename Ref::partials ref;
  std::uint32_t number;                 ///< number of the run, among those of the log
  std::uint32_t least = 0, most = ~0u;  ///< numbers of sections with which the kernel has work
  /// Log that the last block of the last kernel with work opens: also of a split log the log that
  /// was closed. Empty if no block does.
  typename Ref::log_type opened{};
  /// True if a run that is put off empties the log, because no caller can run it again.
  bool drops = false;

  /// True if the log belongs to this run, and the kernel has work.
  WARDEN_DEVICE bool runs() const {
    log_control const& now = *ref.log.control;
    // Relaxed: a run that was put off reads it while the last block of another one resets it.
    return simt::load_relaxed(&now.running) == number && now.sections >= least &&
           now.sections <= most;
  }
  /// Notes that a phase begins, if this is the thread of the first block that traces.
  WARDEN_DEVICE void begin(log_phase phase) const {
    if (simt::block_rank() == 0 && is_tracer()) ref.log.control->trace.begin(phase);
  }
};

/// Part of a run that is enqueued between its log's close and its opening.
enum class run_stage : unsigned char {
  closed,  ///< nothing
  sorted,  ///< flat messages are sorted into batches
  begun,   ///< sections may run, or may have left for other ranks
  ended,   ///< everything
};

/// True if blocks combine the sections that they send to a log of `Ref`.
template <class Ref>
inline constexpr bool combines_batches = requires {
  requires Ref::combines_segments;
};

/// Zeroes the counters. Collective over the block.
WARDEN_DEVICE void zero(launch_counters& counters) {
  auto* const words = reinterpret_cast<std::uint32_t*>(&counters);
  for (std::size_t w = simt::thread_rank(); w < sizeof(counters) / sizeof(*words);
       w += simt::block_threads())
    simt::store_relaxed(&words[w], 0u);
}

/// Writer that sorts flat messages.
template <class Ref>
struct flat_writers {
  /// Writer with `PerThread` messages for each thread.
  template <unsigned PerThread>
  using writer = batch_writer<typename Ref::message_type, Ref::policy::block_threads, PerThread>;
  /// Writer with the largest number that fits.
  using type = writer<per_thread_that_fits<writer, 64 / sizeof(typename Ref::message_type)>()>;
};
template <class Ref>
using flat_writer = typename flat_writers<Ref>::type;

/// Empties all shards and rows of a closed log. A barrier, and then reset_counters, open it.
/// Precondition: all accesses to it have ended, and the caller has acquired them. Collective over
/// the block.
template <class Ref>
WARDEN_DEVICE void clear_places(typename Ref::log_type const& log) {
  for (std::uint32_t r = simt::thread_rank(); r <= log.last_shard; r += simt::block_threads()) {
    log.shards[r].sorted = 0;
    simt::store_relaxed(&log.shards[r].taken, std::uint64_t{0});  // mutation: log-open
  }
  // Clears the begins of all rows: in the next cycle a kernel may take a row too late to fill it,
  // and the row must not name a batch of this cycle.
  std::uint32_t const rows = log.rows_written();
  for (std::uint32_t r = simt::thread_rank(); r < rows; r += simt::block_threads())
    log.begins[r] = Ref::log_type::no_row;
}
/// Resets the counters of a log whose places are clear. One thread.
template <class Ref>
WARDEN_DEVICE void reset_counters(typename Ref::log_type const& log) {
  log.control->rows = log.control->wide_rows = 0;
  simt::store_relaxed(&log.control->running, 0u);
  if constexpr (Ref::in_order) log.control->blocks = 0;  // mutation: order-of-cycles
  if constexpr (combines_batches<Ref>) simt::store_relaxed(&log.control->freed, std::uint64_t{0});
  simt::store_relaxed(&log.control->cycle, log.control->cycle + 1);
}
/// Empties a log that no run has closed. Precondition as for clear_places. Collective over the
/// block.
template <class Ref>
WARDEN_DEVICE void drop(typename Ref::log_type const& log) {
  for (std::uint32_t r = simt::thread_rank(); r <= log.last_shard; r += simt::block_threads())
    log.close(r);  // the same thread opens it
  clear_places<Ref>(log);
  simt::sync_block();
  if (simt::thread_rank() == 0) reset_counters<Ref>(log);
}

/// Closes the log: from here on it accepts nothing. If the records are in use, or the guarded array
/// has a failure to report, the run is put off instead. Returns false then. One block. `launch` is
/// null if no launch replays the log.
template <class Ref>
WARDEN_DEVICE bool close(run_arguments<Ref> const& a, launch_control* launch) {
  auto const& log = a.ref.log;
  run_trace trace{};
  if (is_tracer()) trace.begin(log_phase::close);
  bool const put_off = simt::thread_rank() == 0 && !a.ref.take_records();
  // Only after the records are taken: another run of the log may be at work before.
  if (simt::thread_rank() == 0 && !put_off) log.control->sections = log.control->most_flat = 0;
  if (simt::sync_block_or(put_off)) {
    if (a.drops) drop<Ref>(log);
    return false;
  }
  if (is_tracer()) {
    trace.batches = log.rows_written();
    if constexpr (combines_batches<Ref>) trace.freed = simt::load_relaxed(&log.control->freed);
  }
  // Likewise: the counters may belong to a launch that is still at work.
  if (launch != nullptr) zero(launch->counters);  // mutation: replay-counters
  std::uint32_t sections = 0, flat = 0;
  for (std::uint32_t r = simt::thread_rank(); r <= log.last_shard; r += simt::block_threads()) {
    log.close(r);
    sections += log.shards[r].flat + log.shards[r].batches;
    std::uint32_t const unsorted = log.unsorted(r).count;
    flat = flat < unsorted ? unsorted : flat;
  }
  if (is_tracer()) {
    trace.begin(log_phase::sort);
    log.control->trace = trace;
  }
  sections = simt::warp_sum(sections);
  flat = ~simt::warp_min(~flat);
  if (simt::lane_id() == 0) {
    simt::fetch_add(&log.control->sections, sections);
    simt::fetch_max(&log.control->most_flat, flat);  // mutation: most-flat
  }
  if (simt::thread_rank() != 0) return true;
  log.control->next_partition = log.control->next_of_wide = 0;  // mutation: wide-partitions
  log.control->rows_passed = log.control->blocks_ended = 0;
  simt::store_relaxed(&log.control->running, a.number);
  return true;
}

/// Closes the log. One block.
template <class Ref>
WARDEN_KERNEL void close_log(run_arguments<Ref> a, launch_control* launch) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  close(a, launch);
}

/// Sorts the flat messages into batches, one tile at a time and in place. If it also `closes` the
/// log, the log has one tile, and the grid one block. Otherwise any grid.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    sort_flat(run_arguments<Ref> a, bool closes) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  using writer = flat_writer<Ref>;
  constexpr unsigned threads = Ref::policy::block_threads, per_thread = writer::slots / threads;
  auto const& log = a.ref.log;
  if (closes ? !close(a, nullptr) : !a.runs()) return;
  // Has a barrier, after which the block reads the counts of the close.
  writer const tile{log, simt::dynamic_shared()};
  std::uint32_t const tiles =
      closes ? 1 : (log.control->most_flat + writer::slots - 1) / writer::slots;
  for (std::uint32_t i = simt::block_rank(); i < tiles * (log.last_shard + 1);
       i += simt::block_count()) {
    std::uint32_t const shard = i & log.last_shard;
    log_places const unsorted = log.unsorted(shard);
    std::uint32_t const first = i / (log.last_shard + 1) * writer::slots;
    if (first >= unsorted.count) continue;
    std::uint32_t const left = unsorted.count - first;
    std::uint32_t const begin = unsorted.begin + first;
    WARDEN_UNROLL
    for (unsigned r = 0; r < per_thread; ++r) {
      std::uint32_t const mine = r * threads + simt::thread_rank();
      if (mine < left) {
        tile.stage(r, log.pool[begin + mine]);
      } else {
        tile.stage_nothing(r);
      }
    }
    if (tile.write(per_thread, begin) || simt::thread_rank() != 0) continue;
    std::uint32_t const lost = left < writer::slots ? left : writer::slots;
    simt::fetch_add(&a.ref.report->not_whole, std::uint64_t{lost});
  }
}

/// Opens `log` again, empty, and frees the records of `ref`. Precondition: all blocks of the run
/// have ended their accesses to both, and the caller has acquired them. Collective over the block.
template <class Ref>
WARDEN_DEVICE void empty_log(Ref const& ref, typename Ref::log_type const& log) {
  std::uint64_t const opened = is_tracer() ? simt::nanoseconds() : 0;
  clear_places<Ref>(log);
  if (is_tracer()) log.control->trace.finish(opened, simt::nanoseconds());
  simt::sync_block();
  if (simt::thread_rank() != 0) return;
  reset_counters<Ref>(log);
  // Release: the run or launch that takes the records next finds the log open.
  simt::fence_device();
  ref.free_records(true);
}

/// Opens the log if this block is the last one of the kernel. Collective over the block.
template <class Ref>
WARDEN_DEVICE void open_by_last_block(run_arguments<Ref> const& a) {
  if (a.opened.control == nullptr) return;
  simt::sync_block();  // the sections of the block have run
  bool is_last = false;
  if (simt::thread_rank() == 0) {
    std::uint32_t& ended = a.opened.control->blocks_ended;
    // Release: each block's first thread fences after its block's accesses to log and records, and
    // before it counts its block. Acquire: the thread that counts the last block fences before its
    // block empties the log.
    simt::fence_device();                                              // mutation: end-release
    is_last = simt::fetch_add(&ended, 1u) + 1 == simt::block_count();  // mutation: last-block
    simt::fence_device();                                              // mutation: end-acquire
  }
  if (simt::sync_block_or(is_last)) empty_log(a.ref, a.opened);
}

/// Blocks that a multiprocessor must hold at once. If groups of lanes run sections, each group has
/// one record's loads in flight, so more blocks hide more latency. Long parts of rows would spill:
/// 768 threads make 1.06 times as many steps of rows in parts of 32 bytes per second as 1,024.
template <class Ref>
inline constexpr unsigned least_run_blocks = Ref::group_size == 1
                                                 ? 1
                                                 : std::max(1u, (Ref::row_bytes > 16 ? 768 : 1024) /
                                                                    Ref::policy::block_threads);

/// Runs all sections except wide partials. At most as many blocks as are resident together.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, least_run_blocks<Ref>)
    run_log(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();  // mutation: early-run
  simt::assume_one_dimension();
  if (!a.runs()) return;
  a.begin(log_phase::run);
  if (simt::block_rank() == 0 && is_tracer())
    a.ref.log.control->trace.partitions = a.ref.owners.partitions();
  typename Ref::executor::template deferred_server<Ref>{a.ref, simt::dynamic_shared()}.run();
  if constexpr (std::is_same_v<Ref, typename Ref::partials>) open_by_last_block(a);
}

/// Runs the wide partials. A separate kernel, because each width takes all registers of a thread.
/// Runs after run_log, with at most as many blocks.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, least_run_blocks<Ref>)
    run_partials(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.runs()) return;
  if (a.ref.log.control->wide_rows != 0) {
    a.begin(log_phase::partials);
    using partials = typename Ref::partials;
    typename Ref::executor::template deferred_server<partials>{a.ref, simt::dynamic_shared()}.run();
  }
  open_by_last_block(a);
}

/// Opens the log again with all its sections, because the kernels that were to run them were never
/// enqueued. `are_sorted` is true if the sort of the flat messages was enqueued. One block.
template <class Ref>
WARDEN_KERNEL void reopen_log(run_arguments<Ref> a, bool are_sorted) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  auto const& log = a.ref.log;
  if (!a.runs()) return;
  for (std::uint32_t r = simt::thread_rank(); r <= log.last_shard; r += simt::block_threads())
    log.reopen(r, are_sorted);
  simt::sync_block();
  if (simt::thread_rank() != 0) return;
  simt::store_relaxed(&log.control->running, 0u);
  simt::fence_device();  // release, as in open_log
  a.ref.free_records(false);
}

/// Counts the messages of a log whose run failed after it had begun. open_log comes next. One
/// block.
template <class Ref>
WARDEN_KERNEL void give_up_log(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  auto const& log = a.ref.log;
  if (!a.runs()) return;
  for (std::uint32_t r = simt::thread_rank(); r <= log.last_shard; r += simt::block_threads()) {
    std::uint64_t const held = std::uint64_t{log.shards[r].flat} + log.shards[r].batches;
    if (held != 0) simt::fetch_add(&a.ref.report->given_up, held);
  }
}

/// Empties a log that no run is to run again, after a launch of a run or of its senders failed, and
/// counts `lost` messages that may not have run. One block.
template <class Ref>
WARDEN_KERNEL void abandon_log(run_arguments<Ref> a, std::uint64_t lost) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  drop<Ref>(a.ref.log);
  if (lost != 0 && simt::thread_rank() == 0) simt::fetch_add(&a.ref.report->given_up, lost);
}

/// Opens the log again, empty, after kernels whose last block does not. One block.
template <class Ref>
WARDEN_KERNEL void open_log(run_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (a.runs()) empty_log(a.ref, a.ref.log);
}

}  // namespace detail
WARDEN_NAMESPACE_END
