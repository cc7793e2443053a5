// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which batch of a log comes when: sorted by launch, by block, and as the block flushed them.
#pragma once

#include <warden/buffer.hpp>
#include <warden/channel/section_log.cuh>
#include <warden/host/deferred_kernels.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What the kernels below are given.
template <class Ref>
struct order_arguments {
  run_arguments<Ref> run;
  std::uint32_t* keys;        ///< [pair] to be sorted by
  std::uint32_t* rows;        ///< [pair] to be sorted
  std::uint32_t const* from;  ///< [pair] as they were sorted before

  /// Calls `f` with the number of every pair, if the run is at work. Any grid.
  template <class F>
  WARDEN_DEVICE void for_each(F f) const {
    if (!run.runs()) return;
    std::uint32_t const all = simt::block_count() * simt::block_threads();
    for (std::uint32_t i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
         i < run.ref.log.rows; i += all)
      f(i);
  }
};

/// The first key is the block. A block's rows are in the order of their numbers, and stay so: they
/// were given out in that order, and the sort keeps that of equal keys. Rows that nobody wrote come
/// behind the others.
template <class Ref>
WARDEN_KERNEL void key_by_block(order_arguments<Ref> a) {
  auto const& log = a.run.ref.log;
  a.for_each([&](std::uint32_t i) {
    a.rows[i] = i;
    a.keys[i] = i < log.rows_written() ? log.order.blocks[i] : ~0u;
  });
}
/// The second key, and the first in rank, is the launch.
template <class Ref>
WARDEN_KERNEL void key_by_launch(order_arguments<Ref> a) {
  auto const& log = a.run.ref.log;
  a.for_each([&](std::uint32_t i) {
    std::uint32_t const row = a.from[i];
    a.keys[i] = row < log.rows_written() ? log.order.launches[row] : ~0u;
  });
}
/// A block numbers its batches 0, 1, 2 ...: two blocks of one number are noticed.
template <class Ref>
WARDEN_KERNEL void check_numbers(order_arguments<Ref> a) {
  auto const& log = a.run.ref.log;
  a.for_each([&](std::uint32_t turn) {
    if (turn >= log.rows_written()) return;
    std::uint32_t const row = log.order.rows[turn];
    std::uint32_t expected = 0;
    if (turn != 0) {
      std::uint32_t const before = log.order.rows[turn - 1];
      if (log.order.launches[before] == log.order.launches[row] &&
          log.order.blocks[before] == log.order.blocks[row])
        expected = log.order.numbers[before] + 1;
    }
    if (log.order.numbers[row] != expected)
      simt::fetch_add(&a.run.ref.report->order_unknown, std::uint64_t{1});
  });
}

/// The memory in which a log keeps and finds its order. Of `Ref`, a run_ref.
template <class Ref>
class log_order {
 public:
  /// Bytes of device memory.
  [[nodiscard]] std::size_t bytes() const { return arrays_.bytes() + temporary_.bytes(); }

  /// Makes the memory for the log's rows. Throws cuda_error.
  void make(section_log<typename Ref::message_type>& log, std::source_location where) {
    rows_ = log.rows;
    arrays_ = buffer<std::uint32_t>{std::size_t{8} * rows_, where};
    temporary_ = buffer<std::byte>{runtime::sort_bytes(rows_, 32, where), where};
    log.order.launches = array(4);
    log.order.blocks = array(5);
    log.order.numbers = array(6);
    log.order.rows = array(7);
  }
  /// Enqueues the search for the order, in a run; two of them must not meet. Throws cuda_error.
  void find(run_arguments<Ref> const& run, stream_ref s, std::source_location where) const {
    std::uint32_t* const keys = array(0);
    std::uint32_t* const rows = array(1);
    std::uint32_t* const sorted = array(2);
    std::uint32_t* const by_block = array(3);
    auto const enqueue = [&](auto* kernel) {
      order_arguments<Ref> argument{run, keys, rows, by_block};
      void* arguments[] = {&argument};
      runtime::launch(simt::make_kernel(kernel), {blocks(), threads, 0, false}, arguments, s,
                      where);
    };
    auto const sort = [&](std::uint32_t const* from, std::uint32_t* to) {
      runtime::sort_pairs({keys, from, sorted, to, rows_}, 32, temporary_.data(),
                          temporary_.bytes(), s, where);
    };
    enqueue(&key_by_block<Ref>);
    sort(rows, by_block);
    enqueue(&key_by_launch<Ref>);  // sabotage: order-of-launches
    sort(by_block, run.ref.log.order.rows);
    enqueue(&check_numbers<Ref>);
  }

 private:
  static constexpr unsigned threads = 128;
  [[nodiscard]] unsigned blocks() const { return std::min((rows_ + threads - 1) / threads, 1024u); }
  [[nodiscard]] std::uint32_t* array(std::size_t number) const {
    return const_cast<std::uint32_t*>(arrays_.data()) + number * rows_;
  }

  std::uint32_t rows_ = 0;
  buffer<std::uint32_t> arrays_;
  buffer<std::byte> temporary_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
