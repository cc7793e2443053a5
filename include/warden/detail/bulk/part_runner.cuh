// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a bulk run on more records than a table holds: rows are sorted by part of the
/// records, and each block has a table of one part at a time.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/bulk/bulk_arguments.cuh>
#include <warden/detail/bulk/bulk_plan.cuh>
#include <warden/detail/bulk/give_up.cuh>
#include <warden/detail/bulk/part_kernels.cuh>
#include <warden/detail/bulk/part_shape.cuh>
#include <warden/detail/bulk/part_sort.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Parts of the records, and the tables of one part.
struct part_plan {
  bulk_plan tables;     ///< tables of one part
  std::uint32_t shift;  ///< log2 of the records of a part
  std::uint32_t parts;  ///< number of parts
};

/// Runs sections on the records of one guarded array, pass after pass. `Threads` is as in
/// bulk_runner. The rows of a pass take about `MostBytes` bytes.
template <class Section, class Record, class Context, unsigned Threads, std::size_t MostBytes>
class part_runner {
  using partial = partial_of<Section>;
  using arguments_type = part_arguments<Section, partial, Record, Context>;
  static constexpr std::size_t tile_rows = arguments_type::tile_rows;

 public:
  /// Returns the parts of `records` records, or nothing if there are too many for the device. The
  /// largest parts whose tables are those of warps are the fastest; otherwise the largest ones.
  static std::optional<part_plan> plan(std::uint64_t records, runtime::device_facts const& facts) {
    std::optional<part_plan> found;
    if (records == 0) return found;
    if (sort_layout<Section>{}.carver.bytes() > facts.shared_bytes_per_block) return found;
    for (std::uint32_t shift = 16; shift >= 5; --shift) {
      std::uint64_t const width = std::uint64_t{1} << shift, parts = (records + width - 1) >> shift;
      if (parts > most_parts) break;
      auto const tables = plan_part(width, facts);
      if (!tables) continue;
      bool const is_of_warps = tables->tables == bulk_tables::of_warps;
      if (!found || is_of_warps || sums_words<partial>)
        found = part_plan{*tables, shift, static_cast<std::uint32_t>(parts)};
      if (is_of_warps) break;
    }
    return found;
  }

  /// True if there is memory for `n` elements.
  [[nodiscard]] bool has_room(std::uint64_t n) const {
    return !passes_.empty() && passes_.back().tiles >= tiles_for(n);
  }
  /// Makes the memory for `n` elements. The smaller one stays, because captured graphs may need it.
  /// Throws cuda_error when memory is short.
  void reserve(part_plan const& plan, std::uint64_t n, runtime::device_facts const& facts,
               std::source_location where) {
    plan_ = plan;
    blocks_ = plan.tables.blocks_per_multiprocessor * static_cast<unsigned>(facts.multiprocessors);
    passes_.push_back({tiles_for(n), most_pieces(), plan, where});
  }
  /// Enqueues run `number`: the sections that `f(i)` returns for all i of a range. Precondition:
  /// `has_room(of.count())`.
  template <class Guarded, class Function>
  void run(Guarded& on, bulk_control* control, std::uint32_t number, index_range of,
           Function const& f, stream_ref s, std::source_location where) {
    std::uint64_t const tiles = (of.count() + tile_rows - 1) / tile_rows;
    std::uint64_t const most = passes_.back().tiles;
    std::uint64_t const passes = (tiles + most - 1) / most;
    std::uint64_t const most_rows = (tiles + passes - 1) / passes * tile_rows;
    std::uint64_t rows = 0;
    for (std::uint64_t first = of.begin; first < of.end; first += rows) {
      rows = std::min(most_rows, rows_of_pass(first - of.begin, of.end - first, on.size()));
      arguments_type a{};
      a.array = guarded_access::array<Record>(on, false);
      a.context = guarded_access::context(on);
      a.shape = plan_.tables.shape;
      a.control = control;
      a.number = number;
      a.is_first = first == of.begin;
      a.is_last = of.end - first <= rows;
      a.first = first;
      a.count = std::min(of.end - first, rows);
      a.shift = plan_.shift;
      a.parts = plan_.parts;
      a.filters = first != of.begin;
      a.tiles = static_cast<std::uint32_t>((a.count + tile_rows - 1) / tile_rows);
      // Each block gets several pieces, so that all end at about the same time.
      a.piece_rows = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(a.count / (pieces_each * blocks_) + 1, tile_rows));
      passes_.back().fill(a);
      bool is_begun = false;
      try {
        enqueue(a, is_begun, f, s, where);
      } catch (...) {
        if (is_begun || !a.is_first) give_up<partial, Record, Context>(a, of.end - first, s, where);
        throw;
      }
    }
  }

  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (pass const& p : passes_) sum += p.bytes();
    return sum;
  }

 private:
  /// Pieces of each resident block.
  static constexpr unsigned pieces_each = 4;

  /// Memory of a pass.
  struct pass {
    pass(std::uint32_t of_tiles, std::size_t most_pieces, part_plan const& plan,
         std::source_location where)
        : tiles{of_tiles},
          sections{of_tiles * tile_rows, where},
          locals{of_tiles * tile_rows, where},
          offsets{(plan.parts + std::size_t{1}) * of_tiles, where},
          pieces{most_pieces, where},
          pieces_of{plan.parts, where},
          partials{most_pieces * plan.tables.shape.records, where},
          present{most_pieces * plan.tables.shape.records, where} {}

    void fill(arguments_type& a) const {
      a.blocks = static_cast<unsigned>(pieces.size());
      a.partials = partials.data();
      a.present = present.data();
      a.sections = sections.data();
      a.locals = locals.data();
      a.offsets = offsets.data();
      a.pieces = pieces.data();
      a.pieces_of = pieces_of.data();
    }
    [[nodiscard]] std::size_t bytes() const {
      return sections.bytes() + locals.bytes() + offsets.bytes() + pieces.bytes() +
             pieces_of.bytes() + partials.bytes() + present.bytes();
    }

    std::uint32_t tiles;            ///< most tiles
    buffer<Section> sections;       ///< see part_arguments
    buffer<std::uint16_t> locals;   ///< see part_arguments
    buffer<std::uint16_t> offsets;  ///< see part_arguments
    buffer<part_piece> pieces;      ///< see part_arguments
    buffer<part_pieces> pieces_of;  ///< see part_arguments
    buffer<partial> partials;       ///< [piece][record of a part]
    buffer<unsigned char> present;  ///< [piece][record of a part]
  };

  /// Returns the tables of a part of `records` records, if it fits a block.
  static std::optional<bulk_plan> plan_part(std::uint64_t records,
                                            runtime::device_facts const& facts) {
    if constexpr (sums_words<partial>) {
      return plan_word_table<partial>(records, Threads, facts, 2);
    } else {
      return plan_bulk<partial>(records, Threads, facts);
    }
  }

  /// Returns the rows of the next pass, after `before` rows; `left` rows are left. If sections have
  /// is_noop, passes grow, so that each one leaves out the sections that the passes before it made
  /// no-ops.
  static std::uint64_t rows_of_pass(std::uint64_t before, std::uint64_t left,
                                    std::uint64_t records) {
    if constexpr (arguments_type::has_noops) {
      std::uint64_t const wanted = before == 0 ? std::max(records, left / 64) : 3 * before;
      std::uint64_t const rows = (wanted + tile_rows - 1) / tile_rows * tile_rows;
      if (left >= 4 * rows) return rows;
    }
    return left;
  }
  /// Returns the tiles of a pass over `n` elements. A pass has a cost per record, so it may have
  /// `rows_each` rows per record, whatever `MostBytes` is.
  [[nodiscard]] std::uint32_t tiles_for(std::uint64_t n) const {
    constexpr std::uint64_t rows_each = 32;
    constexpr std::size_t tile_bytes = tile_rows * (sizeof(Section) + sizeof(std::uint16_t));
    std::uint64_t const records = std::uint64_t{plan_.parts} << plan_.shift;
    constexpr std::uint64_t most_rows = std::uint64_t{1} << 30;  // rows of a pass have 32 bits
    std::uint64_t const most = std::min<std::uint64_t>(
        std::max<std::uint64_t>({MostBytes / tile_bytes, records * rows_each / tile_rows, 1}),
        most_rows / tile_rows);
    return static_cast<std::uint32_t>(
        std::min(std::bit_ceil((n + tile_rows - 1) / tile_rows), most));
  }
  [[nodiscard]] std::size_t most_pieces() const {
    return std::size_t{pieces_each} * blocks_ + plan_.parts;
  }

  /// Enqueues the kernels of a pass. Sets `is_begun` once the first one is enqueued.
  template <class Function>
  void enqueue(arguments_type& a, bool& is_begun, Function const& f, stream_ref s,
               std::source_location where) const {
    Function function = f;
    void* arguments[] = {&a, &function};
    runtime::launch_shape const tiles{a.tiles, sort_threads, sort_layout<Section>{}.carver.bytes(),
                                      false};
    auto const sort = simt::make_kernel(&sort_rows<arguments_type, Section, Function>);
    runtime::allow_shared_bytes(sort, tiles.shared_bytes, where);
    runtime::launch(sort, tiles, arguments, s, where);
    is_begun = true;
    using scan = simt::block_scan_by_warps<sort_threads>;
    runtime::launch(simt::make_kernel(&plan_parts<arguments_type>),
                    runtime::early_launch(a.parts, sort_threads,
                                          sizeof(typename scan::storage) + sizeof(std::uint64_t)),
                    arguments, s, where);
    auto const combine = [&] {
      if constexpr (sums_words<partial>) {
        return simt::make_kernel(&combine_pieces<word_table, partial, Section, arguments_type>);
      } else {
        return plan_.tables.tables == bulk_tables::of_warps
                   ? simt::make_kernel(
                         &combine_pieces<warp_tables, partial, Section, arguments_type>)
                   : simt::make_kernel(
                         &combine_pieces<block_table, partial, Section, arguments_type>);
      }
    }();
    runtime::allow_shared_bytes(combine, plan_.tables.shared_bytes, where);
    runtime::launch(combine,
                    runtime::early_launch(a.blocks, a.shape.threads, plan_.tables.shared_bytes),
                    arguments, s, where);
    constexpr unsigned threads = 256;
    runtime::launch(simt::make_kernel(&apply_parts<partial, arguments_type>),
                    runtime::early_launch(
                        static_cast<unsigned>((a.array.size + threads - 1) / threads), threads, 0),
                    arguments, s, where);
  }
  part_plan plan_{};
  unsigned blocks_ = 0;       ///< resident blocks that combine
  std::vector<pass> passes_;  ///< memory; the last one is the largest
};

}  // namespace detail
WARDEN_NAMESPACE_END
