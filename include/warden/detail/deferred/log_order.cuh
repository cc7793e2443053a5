// SPDX-License-Identifier: Apache-2.0
/// @file
/// Order of a log's batches: by launch, by block, and in the order in which the block flushed them.
///
/// Blocks number their own batches, so only the blocks are sorted, by the numbers that they wrote
/// with their first batch. A kernel has few blocks if they are all resident. One block of threads
/// sorts them in less time than the kernels of a sort by the whole device take to start.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/stable_ranks.cuh>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the kernels below.
template <class Ref>
struct order_arguments {
  run_arguments<Ref> run;
  std::uint32_t* sorted;  ///< [block that wrote] room for first rows
  std::uint32_t* begins;  ///< [first row] turn of its block's first batch
};

/// One block of threads that sorts the blocks of a log's batches by launch and rank.
template <class Ref>
class block_sorter {
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned warps = threads / simt::warp_size;
  /// A pass sorts stably by 8 bits, the lowest first.
  static constexpr unsigned bits = 8, digits = 1u << bits;
  using scan = simt::block_scan<threads, true>;
  struct layout {
    WARDEN_HOST_DEVICE constexpr layout()
        : counts{carver.take<std::uint32_t>(std::size_t{warps} * digits)},
          scanning{carver.take<typename scan::storage>(1)},
          most{carver.take<std::uint32_t>(2)} {}
    arena_carver carver{};
    arena_piece<std::uint32_t> counts;
    arena_piece<typename scan::storage> scanning;
    arena_piece<std::uint32_t> most;
  };

 public:
  /// Size of the shared memory. Units: bytes.
  static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// `storage` is shared memory of `shared_bytes()` bytes, the same for the whole block.
  WARDEN_DEVICE block_sorter(order_arguments<Ref> const& a, std::byte* storage)
      : log_{a.run.ref.log},
        report_{a.run.ref.report},
        begins_{a.begins},
        from_{log_.order.firsts},
        to_{a.sorted},
        blocks_{log_.control->blocks < log_.rows ? log_.control->blocks : log_.rows},
        counts_{layout{}.counts.in(storage)},
        scan_{layout{}.scanning.in(storage)},
        most_{layout{}.most.in(storage)} {}

  /// Sorts the blocks, and finds the turn of each block's first batch. Collective over the block.
  WARDEN_DEVICE void run() {
    // Clears all turns: a batch that was not complete when the log was closed gets none.
    for (std::uint32_t i = simt::thread_rank(); i < log_.rows_written(); i += threads)
      log_.order.rows[i] = log_.no_row;
    auto const rank = [&](std::uint32_t row) { return log_.order.blocks[row]; };
    auto const launch = [&](std::uint32_t row) { return log_.order.launches[row]; };
    range const ranks = range_of(rank), launches = range_of(launch);
    sort(rank, ranks);
    sort(launch, launches);  // mutation: order-of-launches
    add_up();
  }

 private:
  /// Range of keys.
  struct range {
    std::uint32_t least, most;
  };
  /// Returns the range of the keys of all blocks. Collective.
  template <class Key>
  WARDEN_DEVICE range range_of(Key key) const {
    simt::sync_block();
    if (simt::thread_rank() < 2) most_[simt::thread_rank()] = ~0u;
    simt::sync_block();
    range mine{~0u, 0};
    for (std::uint32_t i = simt::thread_rank(); i < blocks_; i += threads) {
      std::uint32_t const k = key(from_[i]);
      mine = {k < mine.least ? k : mine.least, k > mine.most ? k : mine.most};
    }
    mine = {simt::warp_min(mine.least), ~simt::warp_min(~mine.most)};
    if (simt::lane_id() == 0) {
      simt::shared_fetch_min(most_[0], mine.least);
      simt::shared_fetch_min(most_[1], ~mine.most);
    }
    simt::sync_block();
    return {most_[0], ~most_[1]};
  }

  /// Sorts by a key whose values lie in `keys`. Collective.
  template <class Key>
  WARDEN_DEVICE void sort(Key key, range keys) {
    if (blocks_ < 2) return;
    WARDEN_NO_UNROLL
    for (unsigned shift = 0; shift < 32 && (keys.most - keys.least) >> shift != 0; shift += bits) {
      auto const digit = [&](std::uint32_t row) {
        return (key(row) - keys.least) >> shift & (digits - 1);
      };
      count(digit);
      place(digit);
      std::uint32_t* const last = from_;
      from_ = to_;
      to_ = last;
      simt::sync_block();
    }
  }
  /// Places of a warp's blocks. They are adjacent, and follow those of the warps with lower ranks.
  struct places {
    std::uint32_t begin, end;
  };
  WARDEN_DEVICE places of_warp() const {
    std::uint32_t const each =
        (blocks_ + warps * simt::warp_size - 1) / (warps * simt::warp_size) * simt::warp_size;
    std::uint32_t const begin = simt::warp_rank() * each;
    return {begin < blocks_ ? begin : blocks_, begin + each < blocks_ ? begin + each : blocks_};
  }
  /// Finds the places of the blocks of each warp with each digit. Collective.
  template <class Digit>
  WARDEN_DEVICE void count(Digit digit) const {
    for (unsigned i = simt::thread_rank(); i < warps * digits; i += threads) counts_[i] = 0;
    simt::sync_block();
    places const mine = of_warp();
    for (std::uint32_t i = mine.begin + simt::lane_id(); i < mine.end; i += simt::warp_size)
      simt::shared_fetch_add(counts_[simt::warp_rank() * digits + digit(from_[i])], 1u);
    simt::sync_block();
    constexpr unsigned each = warps * digits / threads;
    std::uint32_t sum = 0, total;
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) sum += counts_[counter(simt::thread_rank() * each + k)];
    std::uint32_t before = scan::exclusive_sum(scan_[0], sum, total);
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      std::uint32_t& place = counts_[counter(simt::thread_rank() * each + k)];
      std::uint32_t const own = place;
      place = before;
      before += own;
    }
    simt::sync_block();
  }
  /// Returns the index of a counter: by digit, then by warp.
  WARDEN_DEVICE static unsigned counter(unsigned i) { return i % warps * digits + i / warps; }
  /// Moves the blocks to these places. Collective.
  template <class Digit>
  WARDEN_DEVICE void place(Digit digit) const {
    places const mine = of_warp();
    WARDEN_NO_UNROLL
    for (std::uint32_t first = mine.begin; first < mine.end; first += simt::warp_size) {
      std::uint32_t const i = first + simt::lane_id();
      bool const is_block = i < mine.end;
      std::uint32_t const row = is_block ? from_[i] : 0;
      std::uint32_t const d = is_block ? digit(row) : 0;
      std::uint32_t const to =
          rank_in_warp<digits>(counts_[simt::warp_rank() * digits + d], d, is_block);
      if (is_block) to_[to] = row;
    }
  }

  /// Turns the numbers of batches into turns, in the order of the blocks. Counts the batches of two
  /// blocks of equal launch and rank. Collective.
  WARDEN_DEVICE void add_up() const {
    std::uint32_t done = 0;
    for (std::uint32_t first = 0; first < blocks_; first += threads) {
      std::uint32_t const i = first + simt::thread_rank();
      bool const is_block = i < blocks_;
      std::uint32_t const row = is_block ? from_[i] : 0;
      std::uint32_t const batches = is_block ? log_.order.counts[row] : 0;
      std::uint32_t total;
      std::uint32_t const before = scan::exclusive_sum(scan_[0], batches, total);
      if (is_block) begins_[row] = done + before;
      if (is_block && i != 0 && is_same(from_[i - 1], row))
        simt::fetch_add(&report_->order_unknown, std::uint64_t{batches});
      done += total;
      simt::sync_block();
    }
  }
  WARDEN_DEVICE bool is_same(std::uint32_t a, std::uint32_t b) const {
    return log_.order.launches[a] == log_.order.launches[b] &&
           log_.order.blocks[a] == log_.order.blocks[b];
  }

  typename Ref::log_type const& log_;
  guarded_report* report_;
  std::uint32_t* begins_;
  std::uint32_t *from_, *to_;                ///< [block] its first row: sorted so far, and room
  std::uint32_t blocks_;                     ///< blocks that wrote batches
  simt::shared_span<std::uint32_t> counts_;  ///< [warp][digit] number of blocks, then their place
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<std::uint32_t> most_;  ///< least key; greatest, negated
};

/// Sorts the blocks. One block.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    sort_blocks(order_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.run.runs()) return;
  block_sorter<Ref>{a, simt::dynamic_shared()}.run();
}
/// Gives each batch its turn. Any grid.
template <class Ref>
WARDEN_KERNEL void place_batches(order_arguments<Ref> a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  auto const& log = a.run.ref.log;
  if (!a.run.runs()) return;
  std::uint32_t const rows = log.rows_written();
  for (std::uint32_t row = simt::block_rank() * simt::block_threads() + simt::thread_rank();
       row < rows; row += simt::block_count() * simt::block_threads()) {
    // Rows that no block wrote completely: a kernel was sending.
    if (log.begins[row] == log.no_row || log.order.first_of[row] >= rows) continue;
    std::uint32_t const turn = a.begins[log.order.first_of[row]] + log.order.numbers[row];
    if (turn < rows) log.order.rows[turn] = row;
  }
}

/// Memory in which a log of `Ref`, a run_ref, keeps and finds its order.
template <class Ref>
class log_order {
 public:
  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const { return arrays_.bytes(); }

  /// Makes the memory for the log's rows. Throws cuda_error.
  void make(section_log<typename Ref::message_type>& log, std::source_location where) {
    rows_ = log.rows;
    arrays_ = buffer<std::uint32_t>{std::size_t{9} * rows_, where};
    arrays_.fill_bytes(0, {}, where);
    log.order.launches = array(2);
    log.order.blocks = array(3);
    log.order.counts = array(4);
    log.order.firsts = array(5);
    log.order.first_of = array(6);
    log.order.numbers = array(7);
    log.order.rows = array(8);
  }
  /// Enqueues the search for the order, in a run. Precondition: no two searches overlap. Throws
  /// cuda_error.
  void find(run_arguments<Ref> const& run, stream_ref s, std::source_location where) const {
    order_arguments<Ref> argument{run, array(0), array(1)};
    void* arguments[] = {&argument};
    runtime::launch(sort_kernel_,
                    runtime::early_launch(1, Ref::policy::block_threads, sorter::shared_bytes()),
                    arguments, s, where);
    constexpr unsigned threads = 128;
    unsigned const blocks = std::min((rows_ + threads - 1) / threads, 1024u);
    runtime::launch(place_kernel_, runtime::early_launch(blocks, threads, 0), arguments, s, where);
  }

 private:
  using sorter = block_sorter<Ref>;
  [[nodiscard]] std::uint32_t* array(std::size_t number) const {
    return const_cast<std::uint32_t*>(arrays_.data()) + number * rows_;
  }

  std::uint32_t rows_ = 0;
  buffer<std::uint32_t> arrays_;
  runtime::kernel sort_kernel_ = simt::make_kernel(&sort_blocks<Ref>);
  runtime::kernel place_kernel_ = simt::make_kernel(&place_batches<Ref>);
};

}  // namespace detail
WARDEN_NAMESPACE_END
