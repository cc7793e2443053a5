// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sends many elements on many records: each block combines the sections on the records that it
/// meets most often in a table in shared memory, and logs the other sections.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/bulk/bulk_plan.cuh>
#include <warden/detail/bulk/bulk_rows.cuh>
#include <warden/detail/deferred/batch_writer.cuh>
#include <warden/detail/deferred/hot_table.cuh>
#include <warden/detail/deferred/send_by_tables.cuh>
#include <warden/detail/deferred/table_batch.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sender of a block of `Threads` threads to a log of `Ref`, in dynamic shared memory. Messages of
/// a warp are staged next to each other, because only some of its lanes send.
template <class Ref, unsigned Threads>
class hot_sender {
  using formats = typename Ref::formats;
  using partial = typename formats::partial;
  using batch = table_batch<Ref>;
  using table = hot_table<partial, batch::width, Threads>;
  template <unsigned PerThread>
  using writer_of = batch_writer<typename Ref::message_type, Threads, PerThread>;
  static constexpr unsigned warps = Threads / simt::warp_size;

  /// Shared memory of a block, at most: a multiprocessor of 228 KB, of which each block takes 1 KB,
  /// then has 1,024 threads. Units: bytes.
  static constexpr std::size_t most_bytes = Threads * std::size_t{220};
  static constexpr std::size_t table_bytes = aligned_to_arena(table::shared_bytes());
  static constexpr std::size_t fill_bytes = aligned_to_arena(2 * warps * sizeof(std::uint32_t));
  static constexpr unsigned per_thread =
      per_thread_within<writer_of, 12, most_bytes - table_bytes - fill_bytes>();
  using writer = writer_of<per_thread>;

 public:
  /// Shared memory of a block. Units: bytes.
  static constexpr std::size_t shared_bytes = table_bytes + fill_bytes + writer::shared_bytes();
  /// Most records.
  static constexpr std::uint64_t most_records = table::most_records;

  /// Uses the block's shared memory. Collective over the block.
  WARDEN_DEVICE hot_sender(Ref const& ref, std::byte* storage)
      : ref_{ref},
        storage_{storage},
        table_{storage},
        fills_{reinterpret_cast<std::uint32_t*>(storage + table_bytes), 2 * warps},
        writer_{ref.log, storage + table_bytes + fill_bytes} {}

  /// Sends what `f(i)` returns for the block's share of a range. Collective over the grid.
  template <class Function>
  WARDEN_DEVICE void send(index_range of, Function const& f) {
    using section = typename send_traits<std::remove_cvref_t<decltype(f(of.end))>>::section;
    constexpr unsigned at_once = sizeof(section) <= 8 ? 4 : sizeof(section) <= 16 ? 2 : 1;
    auto const check = [&](std::uint64_t id, std::uint64_t row) {
      return ref_.report->check(id, ref_.size, row);
    };
    table_.start();
    simt::sync_block();
    std::uint64_t const share =
        ((of.count() + Threads - 1) / Threads + simt::block_count() - 1) / simt::block_count();
    std::uint64_t first = of.begin + simt::block_rank() * share * Threads;
    std::uint64_t const after = first + share * Threads;
    std::uint64_t const end = after < of.end ? after : of.end;
    loaded_rows<section, at_once> next, now;
    if (first < end) next.load_all(first + simt::thread_rank(), Threads, end, f, check);
    while (first < end) {
      now.take(next);
      std::uint64_t const row = first + simt::thread_rank();
      first += at_once * Threads;
      if (first < end) next.load_all(first + simt::thread_rank(), Threads, end, f, check);
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        make_room();
        bool const valid = now.has(k) && check(now.id(k), row + k * Threads);
        std::uint32_t const id = valid ? now.id(k) : 0;
        bool taken = false;
        if (uses_table_)
          taken = table_.take(id, valid, [&] { return made_partial<partial>(now.section(k)); });
        stage(valid && !taken, [&] { return formats::pack(ref_.number(id), now.section(k)); });
      }
    }
    flush();
    table_.close();
    // The writer's messages are in the log, so its memory is free.
    static_assert(batch::shared_bytes(table::size) <= writer::shared_bytes());
    batch last{ref_, table::size, storage_ + table_bytes + fill_bytes};
    last.write(table_, simt::lane_id() == 0 ? table_.sections() : 0);
  }

 private:
  /// Batches without the table after one in which it combined few sections.
  static constexpr unsigned batches_between = 63;

  /// Stages the message that `message` returns if this lane `sends`. Collective over the warp.
  template <class Message>
  WARDEN_DEVICE void stage(bool sends, Message const& message) {
    unsigned const senders = simt::ballot(simt::full_warp, sends);
    if (sends) {
      auto const below =
          static_cast<unsigned>(simt::count_bits(senders & ((1u << simt::lane_id()) - 1)));
      writer_.stage_at(slot(staged_ + below), message());
    }
    staged_ += static_cast<unsigned>(simt::count_bits(senders));
  }
  /// Returns slot `k` of this warp.
  WARDEN_DEVICE static unsigned slot(unsigned k) {
    return k / simt::warp_size * Threads + simt::warp_rank() * simt::warp_size +
           k % simt::warp_size;
  }
  /// Makes room for one more message of each lane. Collective over the block.
  WARDEN_DEVICE void make_room() {
    if (room_ == 0 && uses_table_) room_ = rows_that_fit();
    if (room_ == 0) {
      flush();
      room_ = per_thread;
    }
    --room_;
    ++rows_;
  }
  /// Returns the number of messages of each lane for which all warps have slots. Collective over
  /// the block.
  WARDEN_DEVICE unsigned rows_that_fit() {
    // Two turns: a warp may be ahead of one that still reads.
    turn_of_fills_ ^= warps;
    if (simt::lane_id() == 0) fills_[turn_of_fills_ + simt::warp_rank()] = staged_;
    simt::sync_block();
    unsigned const fill = simt::lane_id() < warps ? fills_[turn_of_fills_ + simt::lane_id()] : 0;
    unsigned const most = ~simt::warp_min(~fill);
    return per_thread - (most + simt::warp_size - 1) / simt::warp_size;
  }
  /// Logs the staged messages. Uses the table for the next batch if a warp has combined 1/8 of its
  /// sections since the last flush, or if the table has not been used for long. Collective over the
  /// block.
  WARDEN_DEVICE void flush() {
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      unsigned const own = k * simt::warp_size + simt::lane_id();
      if (own >= staged_) writer_.stage_nothing_at(slot(own));
    }
    std::uint32_t const refused = writer_.flush(per_thread, turn_);
    if (refused != 0 && simt::thread_rank() == 0) ref_.refuse(refused);
    turn_ += simt::block_count();
    staged_ = 0;
    if (uses_table_) {
      std::uint32_t const combined = table_.sections() - combined_before_;
      combined_before_ = table_.sections();
      uses_table_ = simt::sync_block_or(8 * combined >= rows_ * simt::warp_size);
      batches_without_ = 0;
    } else {
      uses_table_ = ++batches_without_ == batches_between;
    }
    rows_ = 0;
  }

  Ref const& ref_;
  std::byte* storage_;
  table table_;
  simt::shared_span<std::uint32_t> fills_;  ///< [turn][warp] staged messages
  writer writer_;
  bool uses_table_ = true;
  unsigned room_ = per_thread;               ///< messages of each lane that certainly have slots
  unsigned staged_ = 0;                      ///< messages of this warp
  unsigned rows_ = 0;                        ///< elements of each lane since the last flush
  unsigned batches_without_ = 0;             ///< batches since the table was used
  unsigned turn_of_fills_ = 0;               ///< see rows_that_fit
  std::uint32_t combined_before_ = 0;        ///< sections combined before the last flush
  std::uint32_t turn_ = simt::block_rank();  ///< first shard to try
};

/// Sends the elements of a range by hot_senders. Does nothing if the function may send nothing for
/// an element.
template <unsigned Threads, class Ref, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1024 / Threads)
    send_hot(Ref ref, Function function, index_range elements) {
  if constexpr (sends_each<Function>) {
    simt::assume_one_dimension();
    hot_sender<Ref, Threads> sender{ref, simt::dynamic_shared()};
    sender.send(elements, function);
  }
}

/// True if hot_senders may send to a log of `Ref`. A message of 8 bytes is sent and run in the time
/// that the table takes for a section.
template <class Ref>
inline constexpr bool sends_hot = combines_by_record<Ref> && sizeof(typename Ref::message_type) > 8;

/// Enqueues the kernel for the elements of a range, if there are enough, and if blocks of `Threads`
/// threads with their tables fill the device. Returns false if it has enqueued nothing. A kernel
/// that sends in the usual way must follow in any case, because this one does nothing if the
/// function may send nothing.
template <unsigned Threads, class Ref, class Function>
bool try_send_hot(Ref const& ref, Function const& f, index_range of,
                  runtime::device_facts const& facts, stream_ref s, std::source_location where) {
  using sender = hot_sender<Ref, Threads>;
  if (ref.size > sender::most_records) return false;
  if (resident_by_memory(sender::shared_bytes, Threads, facts) < 1024 / Threads) return false;
  auto const kernel = simt::make_kernel(&send_hot<Threads, Ref, Function>);
  runtime::allow_shared_bytes(kernel, sender::shared_bytes, where);
  auto const blocks =
      static_cast<unsigned>(runtime::resident_blocks(kernel, Threads, sender::shared_bytes, where));
  if (of.count() / blocks < std::uint64_t{batches_per_table} * ref.log.least_batch) return false;
  Ref to = ref;
  Function function = f;
  void* arguments[] = {&to, &function, &of};
  runtime::launch(kernel, {blocks, Threads, sender::shared_bytes, false}, arguments, s, where);
  return true;
}

}  // namespace detail
WARDEN_NAMESPACE_END
