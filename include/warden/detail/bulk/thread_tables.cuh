// SPDX-License-Identifier: Apache-2.0
/// @file
/// A table of partials for each thread of a block: for tens of records. Threads do not meet, so
/// each combines by itself, whatever the records are.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/combine_equal.cuh>
#include <warden/detail/bulk/partial_cells.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The tables of a block's threads.
template <class Partial>
class thread_tables {
 public:
  /// Type of the partials.
  using partial_type = Partial;
  /// Largest number of records: bits of a word.
  static constexpr std::uint32_t most_records = 64;
  /// Largest number of threads of a block.
  static constexpr unsigned most_threads = 256;
  /// Returns the number of elements of `bytes` that a thread loads at once. Few threads fit, so
  /// each has many loads in flight.
  WARDEN_HOST_DEVICE static constexpr unsigned rows_at_once(std::size_t bytes) {
    return bytes <= 16 ? 16 : bytes <= 32 ? 8 : 4;
  }

  /// Returns the shared memory of a block. Units: bytes.
  static std::size_t shared_bytes(bulk_shape const& shape) { return layout{shape}.carver.bytes(); }

  /// Uses the block's shared memory.
  WARDEN_DEVICE thread_tables(bulk_shape const& shape, std::byte* storage)
      : thread_tables{shape, storage, layout{shape}} {}

  /// Empties all tables.
  WARDEN_DEVICE void start() const {}
  /// Number of partials that a thread adds at once.
  static constexpr unsigned together = is_wide<Partial> ? 2 : 4;
  /// Adds the partials of the records that are valid to this thread's table. All cells are loaded
  /// before the first partial is combined, so that the loads overlap.
  WARDEN_DEVICE void add(std::uint32_t const (&records)[together],
                         partial_words<Partial> (&words)[together],
                         bool const (&are_valid)[together]) {
    unsigned cells[together];
    partial_words<Partial> old[together];
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      cells[k] = (are_valid[k] ? records[k] : 0) * shape_.threads + simt::thread_rank();
      old[k] = cells_.get(cells[k]);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (!are_valid[k]) continue;
      WARDEN_UNROLL
      for (unsigned before = 0; before < k; ++before) {
        if (are_valid[before] && cells[before] == cells[k])
          old[k] = words[before];  // mutation: bulk-forward
      }
      if ((mine_ >> records[k] & 1u) != 0) combine_into(words[k], old[k]);
      mine_ |= std::uint64_t{1} << records[k];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (are_valid[k]) cells_.set(cells[k], words[k]);
    }
  }
  /// Writes the block's partials: those of its threads, combined. Collective over the block.
  WARDEN_DEVICE void finish(block_partials<Partial> const& to) const {
    present_[simt::thread_rank()] = mine_;
    simt::sync_block();
    for (std::uint32_t r = simt::warp_rank(); r < shape_.records; r += shape_.warps()) {
      bool is_present = false;
      partial_words<Partial> sum;
      for (unsigned t = simt::lane_id(); t < shape_.threads; t += simt::warp_size) {
        if ((present_[t] >> r & 1u) == 0) continue;
        partial_words<Partial> const other = cells_.get(r * shape_.threads + t);
        if (is_present) {
          combine_into(sum, other);
        } else {
          sum = other;
        }
        is_present = true;
      }
      bool const is_any = simt::any(simt::full_warp, is_present);
      equal_lanes const role = combine_equal(is_present ? r : ~simt::lane_id(), sum);
      if (is_present && role.is_first) to.partials[r] = sum.value();
      if (simt::lane_id() == 0) to.present[r] = is_any ? 1 : 0;
    }
  }

 private:
  struct layout {
    bulk_shape shape;
    std::size_t cells = std::size_t{shape.threads} * shape.records;
    arena_carver carver{};
    typename partial_cells<Partial>::piece words = partial_cells<Partial>::take(carver, cells);
    arena_piece<std::uint64_t> present = carver.take<std::uint64_t>(shape.threads);
  };
  WARDEN_DEVICE thread_tables(bulk_shape const& shape, std::byte* storage, layout const& at)
      : shape_{shape},
        cells_{at.words.in(storage), static_cast<unsigned>(at.cells)},
        present_{at.present.in(storage)} {}

  bulk_shape shape_;
  partial_cells<Partial> cells_;              ///< [record][thread]
  simt::shared_span<std::uint64_t> present_;  ///< [thread] records with a partial, at the end
  std::uint64_t mine_ = 0;                    ///< bit r: this thread's table has record r
};

}  // namespace detail
WARDEN_NAMESPACE_END
