// SPDX-License-Identifier: Apache-2.0
/// @file
/// A table of partials for each warp of a block: for hundreds of records. No other warp accesses
/// it, so it needs no locks, and equal records cost nothing.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/combine_equal.cuh>
#include <warden/detail/bulk/partial_cells.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The tables of a block's warps.
template <class Partial>
class warp_tables {
 public:
  /// Type of the partials.
  using partial_type = Partial;
  /// Largest number of threads of a block.
  static constexpr unsigned most_threads = most_table_threads<Partial>;
  /// Number of partials that a thread adds at once.
  static constexpr unsigned together = 1;
  /// Returns the number of elements of `bytes` that a thread loads at once.
  WARDEN_HOST_DEVICE static constexpr unsigned rows_at_once(std::size_t bytes) {
    return bytes <= 16 ? 4 : bytes <= 32 ? 2 : 1;
  }

  /// Returns the shared memory of a block. Units: bytes.
  static std::size_t shared_bytes(bulk_shape const& shape) { return layout{shape}.carver.bytes(); }

  /// Uses the block's shared memory.
  WARDEN_DEVICE warp_tables(bulk_shape const& shape, std::byte* storage)
      : warp_tables{shape, storage, layout{shape}} {}

  /// Empties all tables. Collective over the block.
  WARDEN_DEVICE void start() const {
    for (unsigned c = simt::thread_rank(); c < present_.size(); c += shape_.threads)
      present_[c] = 0;
    simt::sync_block();
  }
  /// Adds the partial of each lane with an `is_valid` record to its warp's table. Collective over
  /// the warp: other lanes pass a record of their own.
  WARDEN_DEVICE void add(std::uint32_t record, partial_words<Partial> words, bool is_valid) const {
    equal_lanes const role = combine_equal(record, words);
    if (is_valid && role.is_first) {
      unsigned const cell = simt::warp_rank() * shape_.records + record;
      // Loaded in any case: the load then need not wait for that of `present_`.
      partial_words<Partial> const old = cells_.get(cell);
      if (present_[cell] != 0) {
        combine_into(words, old);
      } else {
        present_[cell] = 1;
      }
      cells_.set(cell, words);
    }
    // Orders these accesses before those of other lanes in the next call.
    simt::sync_warp(simt::full_warp);
  }
  /// Makes the tables ready for `sum`. Collective over the block.
  WARDEN_DEVICE void close() const { simt::sync_block(); }
  /// Returns the record of a cell.
  [[nodiscard]] WARDEN_DEVICE static std::uint32_t record(std::uint32_t cell) { return cell; }
  /// True if any warp has a partial of a record.
  [[nodiscard]] WARDEN_DEVICE bool has(std::uint32_t record) const {
    bool any = false;
    for (unsigned cell = record; cell < present_.size(); cell += shape_.records)
      any = any || present_[cell] != 0;
    return any;
  }
  /// Returns the block's partial of a record: those of its warps, combined.
  WARDEN_DEVICE partial_sum<Partial> sum(std::uint32_t record) const {
    partial_sum<Partial> all;
    for (unsigned cell = record; cell < present_.size(); cell += shape_.records) {
      if (present_[cell] != 0) all.add(cells_.get(cell));
    }
    return all;
  }
  /// Writes the block's partials. Collective over the block.
  WARDEN_DEVICE void finish(block_partials<Partial> const& to) const {
    close();
    for (std::uint32_t r = simt::thread_rank(); r < shape_.records; r += shape_.threads)
      to.put(r, sum(r));
  }

 private:
  struct layout {
    bulk_shape shape;
    std::size_t cells = std::size_t{shape.warps()} * shape.records;
    arena_carver carver{};
    typename partial_cells<Partial>::piece words = partial_cells<Partial>::take(carver, cells);
    arena_piece<unsigned char> present = carver.take<unsigned char>(cells);
  };
  WARDEN_DEVICE warp_tables(bulk_shape const& shape, std::byte* storage, layout const& at)
      : shape_{shape},
        cells_{at.words.in(storage), static_cast<unsigned>(at.cells)},
        present_{at.present.in(storage)} {}

  bulk_shape shape_;
  partial_cells<Partial> cells_;              ///< [warp][record]
  simt::shared_span<unsigned char> present_;  ///< [warp][record]
};

}  // namespace detail
WARDEN_NAMESPACE_END
