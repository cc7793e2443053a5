// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory of a run with order::deterministic, and the kernels that it enqueues.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deterministic/ascending_run.cuh>
#include <warden/detail/deterministic/bucket_kernels.cuh>
#include <warden/detail/deterministic/bulk_sections.cuh>
#include <warden/detail/deterministic/ids_order.cuh>
#include <warden/detail/deterministic/record_partition.cuh>
#include <warden/detail/deterministic/tree_kernels.cuh>
#include <warden/detail/deterministic/tree_partial.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Records of a guarded array for its runs.
template <class Record, class Context>
struct tree_records {
  Record* records;         ///< [size]
  std::uint64_t size;      ///< number of records
  Context context;         ///< context of the sections
  guarded_report* report;  ///< report of the guarded array
};

/// Memory for runs of up to a number of sections. Serves one run at a time.
template <class Section>
class tree_memory {
  using partial = tree_partial<Section>;
  static constexpr unsigned lanes = group_size_of<Section>;
  using parents = tree_parents<partial, lanes>;

 public:
  /// Makes memory for at most `sections` sections on `records` records. Blocks the host. Throws
  /// cuda_error.
  tree_memory(std::uint32_t sections, std::uint32_t records, std::source_location where)
      : most_{sections},
        multiprocessors_{static_cast<unsigned>(
            runtime::facts(runtime::current_device(where), where).multiprocessors)},
        partitions_{fits_partition(records, where)},
        bits_{static_cast<unsigned>(
            std::bit_width(partitions_ ? std::max(records, 1u) - 1 : std::max(records, 1u)))},
        sections_{std::size_t{4} * sections, where},
        temporary_{partitions_ ? partition_words(sections) * sizeof(std::uint32_t)
                               : runtime::sort_bytes(sections, bits_, where),
                   where},
        pieces_{partitions_ ? partition_memory::most_pieces(sections) : 0, where},
        partials_{2 * parents::places(sections) * lanes * sizeof(partial), where},
        children_{parents::places(sections), where},
        descends_{2, where} {
    children_.fill_bytes(0, {}, where);
    descends_.fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
  }

  /// Returns the number of sections of a run, at most.
  [[nodiscard]] std::uint32_t most() const { return most_; }
  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return sections_.bytes() + temporary_.bytes() + pieces_.bytes() + partials_.bytes() +
           children_.bytes() + descends_.bytes();
  }

  /// True if sections of the last run may run although its call threw.
  [[nodiscard]] bool has_begun() const { return begun_; }
  /// Enqueues the sections `first` to `first` + `n` - 1 of a bulk, at most `most()`. Throws
  /// cuda_error.
  template <class Record, class Context, class Bulk>
  void run(tree_records<Record, Context> const& on, Bulk const& bulk, std::uint64_t first,
           std::uint32_t n, stream_ref s, std::source_location where) {
    begun_ = false;
    using arguments = tree_arguments<Record, Context, Section, Bulk>;
    arguments const a{bulk,
                      first,
                      n,
                      on.records,
                      on.size,
                      on.context,
                      on.report,
                      {reinterpret_cast<partial*>(partials_.data()), children_.data(),
                       static_cast<std::uint32_t>(parents::places(most_))}};
    if (partitions_) {
      run_buckets(a, s, where);
    } else {
      sort_and_run(a, s, where);
    }
  }

 private:
  /// True if the device and the ids fit a partition by one digit, and a sort by another.
  static bool fits_partition(std::uint32_t records, std::source_location where) {
    return records <= 1u << 2 * digit_bits &&
           std::max(move_layout{}.carver.bytes(), bucket_sort<lanes>::shared_bytes()) <=
               runtime::facts(runtime::current_device(where), where).shared_bytes_per_block;
  }
  static constexpr std::size_t tiles_of(std::size_t n) {
    return (n + tile_sections - 1) / tile_sections;
  }
  /// Returns the size of the arrays of a partition, but for the sections and the pieces.
  [[nodiscard]] std::size_t partition_words(std::size_t n) const {
    std::size_t const b = buckets(n);
    return b * (tiles_of(n) + 4 + digits) + 2 + digits * partition_memory::most_pieces(n);
  }
  /// Returns the number of buckets of n sections, so that most buckets are one piece. The bits of
  /// an id that do not tell its bucket are one digit.
  [[nodiscard]] std::uint32_t buckets(std::size_t n) const {
    constexpr std::size_t usual = piece_sections * 4 / 5;
    unsigned const least = bits_ - std::min(bits_, digit_bits);
    unsigned const wanted = static_cast<unsigned>(std::bit_width((n - 1) / usual));
    return 1u << std::clamp(wanted, least, std::min(bits_, digit_bits));
  }

  /// Launches kernels early.
  struct early_launches {
    stream_ref s;
    std::source_location where;

    template <class Kernel, class... Arguments>
    void operator()(Kernel kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
                    Arguments const&... arguments) const {
      void* addresses[] = {const_cast<void*>(static_cast<void const*>(&arguments))...};
      auto const made = simt::make_kernel(kernel);
      runtime::allow_shared_bytes(made, shared_bytes, where);
      runtime::launch(made, runtime::early_launch(blocks, threads, shared_bytes), addresses, s,
                      where);
    }
  };
  /// Returns the least number of sections of a run that looks at the order of its ids. In a smaller
  /// one the launches take longer than they save.
  [[nodiscard]] std::uint32_t least_ordered() const { return multiprocessors_ * 4 * tile_sections; }
  /// Returns the order of a run's ids.
  template <class Arguments>
  [[nodiscard]] ids_order order_of(Arguments const& a) {
    bool const looks = can_ascend<Arguments> && a.size != 0 && a.n >= least_ordered();
    return {looks ? descends_.data() : nullptr, sections_.data(), sections_.data() + most_};
  }
  /// Enqueues the search for a lower id.
  template <class Arguments>
  void find_order(Arguments const& a, ids_order const& order, early_launches const& enqueue) const {
    if constexpr (can_ascend<Arguments>) {
      if (order.descends == nullptr) return;
      unsigned const reading = (a.n - 1) / (descent_threads * descent_each) + 1;
      enqueue(&find_descent<Arguments>, std::min(reading, 8 * multiprocessors_), descent_threads, 0,
              a, order);
    }
  }
  /// Enqueues the run of sections whose ids ascend.
  template <class Arguments>
  void run_if_ascending(Arguments const& a, ids_order const& order,
                        early_launches const& enqueue) const {
    if constexpr (can_ascend<Arguments>) {
      if (order.descends == nullptr) return;
      using tile = ascending_tile<Arguments>;
      // Blocks take several turns, so that few have to leave if there is nothing to run.
      enqueue(&run_ascending<Arguments>, std::min(tile::tiles_of(a.n), 32 * multiprocessors_),
              ascending_threads, tile::shared_bytes(), a, order);
    }
  }

  template <class Arguments>
  void run_buckets(Arguments const& a, stream_ref s, std::source_location where) {
    auto* next = reinterpret_cast<std::uint32_t*>(temporary_.data());
    auto const take = [&](std::size_t words) {
      auto* const piece = next;
      next += words;
      return piece;
    };
    auto const tiles = static_cast<unsigned>(tiles_of(a.n));
    std::size_t const half = std::size_t{2} * most_;
    std::uint32_t const b = buckets(most_);
    partition_memory const m{bits_ - static_cast<unsigned>(std::countr_zero(b)),
                             b,
                             tiles,
                             reinterpret_cast<moved_id*>(sections_.data()),
                             take(digits * partition_memory::most_pieces(most_)),
                             take(b * tiles_of(most_)),
                             take(b),
                             take(b + 1),
                             take(b + 1),
                             pieces_.data(),
                             take(b),
                             take(std::size_t{b} * digits),
                             reinterpret_cast<moved_id*>(sections_.data() + half),
                             order_of(a)};
    early_launches const enqueue{s, where};
    constexpr unsigned warps = partition_threads / simt::warp_size;
    constexpr std::size_t scan_bytes = sizeof(simt::block_scan_by_warps<digits>::storage);
    // A block for each piece, unless there are many. Most runs have none, and the blocks leave.
    auto const pieces =
        std::min(static_cast<unsigned>(partition_memory::most_pieces(a.n)), 6 * multiprocessors_);
    find_order(a, m.order, enqueue);
    enqueue(&count_digits<Arguments>, tiles, partition_threads, digits * sizeof(std::uint32_t), a,
            m);
    enqueue(&add_up_tiles<partition_memory>, (b + warps - 1) / warps, partition_threads, 0, m);
    enqueue(&plan_pieces<partition_memory>, 1, digits, 2 * scan_bytes, m);
    enqueue(&move_sections<Arguments>, tiles, partition_threads, move_layout{}.carver.bytes(), a,
            m);
    enqueue(&count_low_digits<partition_memory>, pieces, partition_threads,
            count_layout{}.carver.bytes(), m);
    enqueue(&move_pieces<partition_memory>, pieces, partition_threads,
            piece_layout{}.carver.bytes(), m);
    // Several blocks of a multiprocessor run the large buckets, because some end later than others.
    enqueue(&run_all_buckets<Arguments>, b + 4 * multiprocessors_, partition_threads,
            std::max(bucket_sort<lanes>::shared_bytes(), warps * sizeof(large_list<lanes>)), a, m);
    begun_ = true;
    run_if_ascending(a, m.order, enqueue);
  }
  template <class Arguments>
  void sort_and_run(Arguments const& a, stream_ref s, std::source_location where) {
    constexpr unsigned threads = 256, warps = threads / simt::warp_size;
    auto const array = [&](unsigned number) {
      return sections_.data() + std::size_t{number} * most_;
    };
    auto const blocks_for = [](std::uint32_t items, unsigned each) {
      return (items - 1) / each + 1;
    };
    runtime::pair_arrays const arrays{array(0), array(1), array(2), array(3), a.n};
    ids_order order = order_of(a);
    if (order.descends != nullptr && !sort_.prepare(arrays, bits_, temporary_.data(),
                                                    temporary_.bytes(), order.descends, s, where))
      order.descends = nullptr;
    early_launches const enqueue{s, where};
    find_order(a, order, enqueue);
    enqueue(&list_sections<Arguments>, std::min(blocks_for(a.n, threads), 16 * multiprocessors_),
            threads, 0, a, order, array(0), array(1));
    if (order.descends != nullptr) {
      sort_.launch(s, where);
    } else {
      runtime::sort_pairs(arrays, bits_, temporary_.data(), temporary_.bytes(), s, where);
    }
    // Some blocks take several turns, so that fewer have to leave if there is nothing to run. With
    // half as many, runs of unsorted ids with hot records take more than 3 % longer.
    launch(&run_sorted<Arguments>,
           {std::min(blocks_for(blocks_for(a.n, sorted_list::positions), warps),
                     128 * multiprocessors_),
            threads, warps * sizeof(sorted_list)},
           {s, where}, a, order, searched_sections{{{array(2), array(3)}, a.n, 0, 0}});
    begun_ = true;
    run_if_ascending(a, order, enqueue);
  }

  std::uint32_t most_;
  unsigned multiprocessors_;
  bool partitions_;                 ///< true if sections are partitioned, not sorted by a library
  unsigned bits_;                   ///< bits of ids; of the number of records for a sort
  buffer<std::uint32_t> sections_;  ///< ids and numbers, twice
  buffer<std::byte> temporary_;     ///< arrays of the partition, or memory of the sort
  buffer<bucket_piece> pieces_;
  buffer<std::byte> partials_;
  buffer<std::uint32_t> children_;
  buffer<std::uint32_t> descends_;  ///< words of an ids_order
  runtime::gated_sort sort_;        ///< skipped if the ids ascend
  bool begun_ = false;              ///< true if the last kernel but one of a run is enqueued
};

}  // namespace detail
WARDEN_NAMESPACE_END
