// SPDX-License-Identifier: Apache-2.0
/// @file
/// Split of a log: if the records need more partitions than a flush can fan out to, a run sorts the
/// messages of each partition once more, by finer ones.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deferred/batch_writer.cuh>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/ordered_reader.cuh>
#include <warden/detail/deferred/segment_reader.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/architecture.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Counters of a split. They are zero before and after it.
struct split_counters {
  std::uint32_t next_partition;  ///< next partition to split
  std::uint32_t rows;            ///< rows taken
  std::uint32_t places;          ///< places taken
  std::uint32_t blocks_done;     ///< blocks that found no partition left
};

/// Arguments of the kernel.
template <class Ref>
struct split_arguments {
  run_arguments<Ref> run;
  typename Ref::log_type to;  ///< the finer log
  split_counters* counters;
};

/// Messages of a thread in one window of a split, which takes 64 KB.
template <class Ref>
inline constexpr unsigned split_per_thread = std::clamp<unsigned>(
    static_cast<unsigned>((std::size_t{64} << 10) /
                          (Ref::policy::block_threads * sizeof(typename Ref::message_type))),
    1,
    std::min(8u, batch_writer<typename Ref::message_type, Ref::policy::block_threads, 1,
                              Ref::in_order>::most_per_thread));

/// One block's part of a split: it reads a partition window by window, with `PerThread` messages
/// for each thread, and writes each window as a batch of the finer log.
template <class Ref, unsigned PerThread>
class log_splitter {
  using message_type = typename Ref::message_type;
  static constexpr unsigned threads = Ref::policy::block_threads;
  using scan = simt::block_scan<threads>;
  using reader = std::conditional_t<Ref::in_order, ordered_reader<message_type, threads>,
                                    segment_reader<message_type>>;

 public:
  /// Messages of a thread in one window.
  static constexpr unsigned per_thread = PerThread;

  /// Size of the shared memory, aligned to 16 bytes. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }
  /// Returns the largest number of rows of a split of `log`.
  static constexpr std::size_t most_rows(typename Ref::log_type const& log) {
    std::size_t const partitions = log.partitions.partitions();
    if constexpr (Ref::in_order) {
      return log.size / (per_thread * threads) + partitions * groups_of(log.rows);
    } else {
      // A window has a message of each lane of some warp, except the last one of its partition.
      return log.size / (per_thread * simt::warp_size) + partitions;
    }
  }

  /// `storage` is shared memory of `shared_bytes()` bytes, the same for the whole block.
  WARDEN_DEVICE log_splitter(split_arguments<Ref> const& a, std::byte* storage)
      : a_{a},
        log_{a.run.ref.log},
        window_{a.to, layout{}.writing.in(storage).data()},
        reading_{layout{}.reading.in(storage)},
        scan_{layout{}.scanning.in(storage)},
        shared_{layout{}.shared.in(storage)} {}

  /// Splits partitions until none is left. Collective over the block.
  WARDEN_DEVICE void run() const {
    while (true) {
      if (simt::thread_rank() == 0)
        shared_[0] = {simt::fetch_add(&a_.counters->next_partition, 1u), log_.rows_written(), 0, 0};
      simt::sync_block();
      found const next = shared_[0];
      simt::sync_block();
      if (next.partition >= log_.partitions.partitions()) break;
      split(next.partition, {0, next.rows});
    }
    if (simt::thread_rank() != 0) return;
    // The last block to find none resets the counters, which all others have used. Release: each
    // block's first thread fences after its atomics on them and before it counts its block.
    // Acquire: the thread that counts the last block fences before it stores to them.
    simt::fence_device();
    if (simt::fetch_add(&a_.counters->blocks_done, 1u) + 1 != simt::block_count()) return;
    simt::fence_device();
    *a_.counters = {0, 0, 0, 0};
  }

 private:
  using writer = batch_writer<message_type, threads, per_thread, Ref::in_order>;
  /// Values that one thread reads for all.
  struct found {
    std::uint32_t partition;     ///< next partition
    std::uint32_t rows;          ///< rows of the log; then the first row of the finer log
    std::uint32_t place;         ///< first place in the finer log
    std::uint32_t most_windows;  ///< largest number of windows of any warp, negated
  };
  struct layout {
    WARDEN_HOST_DEVICE constexpr layout()
        : writing{carver.take<std::byte>(writer::shared_bytes(), 16)},
          reading{carver.take<typename reader::storage>(1)},
          scanning{carver.take<typename scan::storage>(1)},
          shared{carver.take<found>(1)} {}
    arena_carver carver{};
    arena_piece<std::byte> writing;
    arena_piece<typename reader::storage> reading;
    arena_piece<typename scan::storage> scanning;
    arena_piece<found> shared;
  };
  /// Size of a partition.
  struct extent {
    std::uint32_t messages, windows;
  };

  /// Returns the number of row groups. An ordered_reader has separate windows for each.
  WARDEN_HOST_DEVICE static constexpr std::size_t groups_of(std::size_t rows) {
    return rows / reader::entries + 1;
  }

  WARDEN_DEVICE void split(std::uint32_t partition, log_rows rows) const {
    extent const all = measure(partition, rows);
    if (simt::thread_rank() == 0) {
      shared_[0].rows = simt::fetch_add(&a_.counters->rows, all.windows);
      shared_[0].place = simt::fetch_add(&a_.counters->places, all.messages);
    }
    simt::sync_block();
    found const mine = shared_[0];
    simt::sync_block();
    // Rows that a kernel is still writing may count messages twice. The finer log has only the
    // places and rows that the log needs.
    extent const fits{that_fit(mine.place, all.messages, a_.to.size),
                      that_fit(mine.rows, all.windows, a_.to.rows)};
    reader messages{log_, partition, rows, reading_[0]};
    std::uint32_t done = 0, w = 0;
    while (done < fits.messages && w < fits.windows) {
      message_type m[per_thread];
      unsigned const arrived = messages.receive(m);
      WARDEN_UNROLL
      for (unsigned k = 0; k < per_thread; ++k) {
        // In order the warps' messages follow one another, warp by warp.
        unsigned const slot =
            Ref::in_order ? (simt::warp_rank() * per_thread + k) * simt::warp_size + simt::lane_id()
                          : k * threads + simt::thread_rank();
        if (arrived >> k & 1u) {
          window_.stage_at(slot, m[k]);
        } else {
          window_.stage_nothing_at(slot);
        }
      }
      std::uint32_t const left = fits.messages - done;
      std::uint32_t const count =
          window_.write(per_thread, {mine.place + done, left}, mine.rows + w);
      // A kernel that is sending has written a row in between; there is no place for it.
      if (count > left) break;
      done += count;  // mutation: split-places
      ++w;
    }
    if (simt::thread_rank() != 0) return;
    a_.to.rows_of[partition] = {mine.rows, mine.rows + w};  // mutation: split-rows
    if (done != all.messages)
      simt::fetch_add(&a_.run.ref.report->not_whole, std::uint64_t{all.messages - done});
  }

  /// Returns the largest part of `count`, from number `begin` on, that is below `size`.
  WARDEN_DEVICE static std::uint32_t that_fit(std::uint32_t begin, std::uint32_t count,
                                              std::uint32_t size) {
    std::uint32_t const left = begin < size ? size - begin : 0;
    return count < left ? count : left;
  }

  /// Returns the messages of a partition, and an upper bound of its windows. Collective.
  WARDEN_DEVICE extent measure(std::uint32_t partition, log_rows rows) const {
    std::uint32_t messages;
    if constexpr (Ref::in_order) {
      std::uint32_t mine = 0;
      for (std::uint32_t row = simt::thread_rank(); row < rows.end; row += threads)
        mine += log_.segment(partition, row).count;
      scan::exclusive_sum(scan_[0], mine, messages);
      auto const groups = static_cast<std::uint32_t>(groups_of(rows.end));
      return {messages, messages / (per_thread * threads) + groups};
    } else {
      auto const of_warp = reader::measure(log_, partition, rows);
      scan::exclusive_sum(scan_[0], of_warp.messages, messages);
      // The warp with the most messages for each lane ends last.
      if (simt::thread_rank() == 0) simt::shared_store(shared_[0].most_windows, ~0u);
      simt::sync_block();
      if (simt::lane_id() == 0)
        simt::shared_fetch_min(
            shared_[0].most_windows,
            ~((of_warp.per_thread + per_thread - 1) / per_thread));  // mutation: split-windows
      simt::sync_block();
      return {messages, ~simt::shared_load(shared_[0].most_windows)};
    }
  }

  split_arguments<Ref> const& a_;
  typename Ref::log_type const& log_;
  writer window_;
  simt::shared_span<typename reader::storage> reading_;
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<found> shared_;
};

/// Splits the log. At most as many blocks as are resident together: with two on a multiprocessor
/// they spill.
template <class Ref, unsigned PerThread>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1) split_log(split_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.run.runs()) return;
  a.run.begin(log_phase::split);
  log_splitter<Ref, PerThread>{a, simt::dynamic_shared()}.run();
}

/// The kernel that splits logs by windows of `PerThread` messages for each thread, as the host sees
/// it.
template <class Ref>
struct split_launch {
  /// The kernel.
  runtime::kernel kernel;
  /// Shared memory of its blocks. Units: bytes.
  std::size_t shared_bytes;
  /// Returns the largest number of rows of a split of a log.
  std::size_t (*most_rows)(typename Ref::log_type const& log);

  /// Returns the launch with windows of `PerThread` messages for each thread.
  template <unsigned PerThread>
  static split_launch make() {
    using splitter = log_splitter<Ref, PerThread>;
    return {simt::make_kernel(&split_log<Ref, PerThread>), splitter::shared_bytes(),
            &splitter::most_rows};
  }
  /// Returns the launch for a device whose blocks have `most` bytes: with the largest windows,
  /// unless only smaller ones fit.
  static split_launch fitting(std::size_t most) {
    constexpr std::size_t least = simt::least_block_bytes;
    if constexpr (log_splitter<Ref, split_per_thread<Ref>>::shared_bytes() > least) {
      if (log_splitter<Ref, split_per_thread<Ref>>::shared_bytes() > most)
        return make<per_thread_that_fits<splitter_of, split_per_thread<Ref>, least>()>();
    }
    return make<split_per_thread<Ref>>();
  }

 private:
  template <unsigned PerThread>
  using splitter_of = log_splitter<Ref, PerThread>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
