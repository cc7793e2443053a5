// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a bulk run: chooses the tables, makes the memory and enqueues the kernels.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/combining.cuh>
#include <warden/detail/bulk/block_table.cuh>
#include <warden/detail/bulk/bulk_kernels.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/thread_tables.cuh>
#include <warden/detail/bulk/warp_tables.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tables of a bulk run.
enum class bulk_tables : unsigned char {
  of_threads,  ///< thread_tables
  of_warps,    ///< warp_tables
  of_blocks,   ///< block_table
};
/// Tables that were chosen, and their sizes.
struct bulk_plan {
  bulk_tables tables;
  bulk_shape shape;
  std::size_t shared_bytes;            ///< shared memory of a block. Units: bytes
  unsigned blocks_per_multiprocessor;  ///< resident blocks of a multiprocessor
};

/// Returns the tables for `records` records on such a device, in blocks of up to `threads` threads,
/// or nothing if a block has no room for a table of all records.
template <class Partial>
std::optional<bulk_plan> plan_bulk(std::uint64_t records, unsigned threads,
                                   runtime::device_facts const& facts) {
  std::size_t const block_bytes = facts.shared_bytes_per_block;
  if (records == 0 || records > block_bytes) return {};
  auto const resident = [&](std::size_t bytes, unsigned of_threads) {
    if (bytes > block_bytes) return 0u;
    return static_cast<unsigned>(std::min<std::size_t>(
        facts.shared_bytes_per_multiprocessor / (bytes + facts.reserved_shared_bytes_per_block),
        static_cast<unsigned>(facts.threads_per_multiprocessor) / of_threads));
  };
  bulk_shape shape{static_cast<std::uint32_t>(records), threads, 0};
  // A quarter of the threads does not load fast enough.
  if (records <= thread_tables<Partial>::most_records) {
    for (unsigned few = std::min(threads / 2, thread_tables<Partial>::most_threads);
         few > threads / 4 && few >= simt::warp_size; few -= simt::warp_size) {
      shape.threads = few;
      std::size_t const bytes = thread_tables<Partial>::shared_bytes(shape);
      if (resident(bytes, few) != 0) return bulk_plan{bulk_tables::of_threads, shape, bytes, 1};
    }
    shape.threads = threads;
  }
  // Warps hide the latency of their tables: twice the threads must be resident.
  std::size_t const of_warps = warp_tables<Partial>::shared_bytes(shape);
  if (unsigned const blocks = resident(of_warps, threads); blocks >= 2)
    return bulk_plan{bulk_tables::of_warps, shape, of_warps, std::min(blocks, 2u)};
  // The more places a warp has of its own, the less do warps wait at hot records. With 2 blocks a
  // table has half of the contenders.
  for (unsigned places = 64; places >= 16; places /= 2) {
    for (unsigned blocks = 2; blocks != 0; --blocks) {
      shape.places = places;
      shape.threads = threads * 2 / blocks;
      std::size_t const bytes = block_table<Partial>::shared_bytes(shape);
      if (resident(bytes, shape.threads) >= blocks)
        return bulk_plan{bulk_tables::of_blocks, shape, bytes, blocks};
    }
  }
  return {};
}

/// Runs sections on the records of one guarded array without a log. `Threads` is the number of
/// threads of a small block; others have twice as many.
template <class Section, class Record, class Context, unsigned Threads>
class bulk_runner {
  using partial = partial_of<Section>;
  using arguments_type = bulk_arguments<partial, Record, Context>;
  static_assert(Threads <= 512);

 public:
  /// True if the runner can run sections on that many records of the device `facts`.
  static bool fits(std::uint64_t records, runtime::device_facts const& facts) {
    return plan_bulk<partial>(records, Threads, facts).has_value();
  }

  /// Makes the memory for runs on the records of `of`. Throws limit_error while the stream `s` is
  /// being captured, and cuda_error when memory is short.
  template <class Guarded>
  void reserve(Guarded& of, std::size_t n, runtime::device_facts const& facts, stream_ref s,
               std::source_location where) {
    if (control_.size() != 0) return;
    if (runtime::capturing(s, where)) {
      throw limit_error{
          "apply_async: the stream is being captured into a graph, and its memory is not made yet: "
          "call reserve(" +
              std::to_string(n) + ") before",
          where};
    }
    plan_ = *plan_bulk<partial>(of.size(), Threads, facts);
    most_blocks_ = plan_.blocks_per_multiprocessor * static_cast<unsigned>(facts.multiprocessors);
    std::size_t const cells = std::size_t{most_blocks_} * plan_.shape.records;
    partials_ = buffer<partial>{cells, where};
    present_ = buffer<unsigned char>{cells, where};
    control_ = buffer<bulk_control>{1, where};
    control_.fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
    guarded_access::shared(of)->begin_logs(where);
  }
  /// Enqueues the sections that `f(i)` returns for all i < n. Precondition: `reserve` was called
  /// for this guarded array.
  template <class Guarded, class Function>
  void run(Guarded& of, std::uint64_t n, Function const& f, stream_ref s,
           std::source_location where) {
    static_assert(std::is_trivially_copyable_v<Function>,
                  "warden: the function of send_async and apply_async is copied to the device: it "
                  "holds pointers and values, and no host objects");
    switch (plan_.tables) {
      case bulk_tables::of_threads:
        return run_by<thread_tables>(of, n, f, s, where);
      case bulk_tables::of_warps:
        return run_by<warp_tables>(of, n, f, s, where);
      case bulk_tables::of_blocks:
        return run_by<block_table>(of, n, f, s, where);
    }
  }

  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return partials_.bytes() + present_.bytes() + control_.bytes();
  }

 private:
  template <template <class> class Table, class Guarded, class Function>
  void run_by(Guarded& of, std::uint64_t n, Function const& f, stream_ref s,
              std::source_location where) {
    bulk_shape const& shape = plan_.shape;
    auto const combine =
        simt::make_kernel(&combine_rows<Table, partial, Record, Context, Function>);
    auto const blocks = static_cast<unsigned>(
        std::min<std::uint64_t>((n + shape.threads - 1) / shape.threads, most_blocks_));
    arguments_type a{guarded_access::array<Record>(of, false),
                     guarded_access::context(of),
                     shape,
                     blocks,
                     partials_.data(),
                     present_.data(),
                     control_.data()};
    Function function = f;
    void* first[] = {&a, &function, &n};
    runtime::allow_shared_bytes(combine, plan_.shared_bytes, where);
    runtime::launch(combine, {blocks, shape.threads, plan_.shared_bytes, false}, first, s, where);
    void* second[] = {&a};
    constexpr std::size_t bytes = apply_threads * (sizeof(partial_words<partial>) + 1);
    unsigned const of_records = (shape.records + simt::warp_size - 1) / simt::warp_size;
    try {
      runtime::launch(simt::make_kernel(&apply_partials<partial, Record, Context>),
                      runtime::early_launch(of_records, apply_threads, bytes), second, s, where);
    } catch (...) {
      void* lost[] = {&a, &n};
      auto const give_up = simt::make_kernel(&give_up_rows<partial, Record, Context>);
      runtime::launch(give_up, {1, 1, 0, false}, lost, s, where);
      guarded_access::shared(of)->enqueued(s, where);
      throw;
    }
    guarded_access::shared(of)->enqueued(s, where);
  }

  bulk_plan plan_{};
  unsigned most_blocks_ = 0;
  buffer<partial> partials_;       ///< [block][record]
  buffer<unsigned char> present_;  ///< [block][record]
  buffer<bulk_control> control_;   ///< state of the run; empty before `reserve`
};

}  // namespace detail
WARDEN_NAMESPACE_END
