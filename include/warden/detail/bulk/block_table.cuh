// SPDX-License-Identifier: Apache-2.0
/// @file
/// One table of partials for a block, with a lock for each record: for thousands of records.
///
/// A record that repeats within a warp is a hot one. It gets a place in the warp's own small table,
/// if that is free, and keeps it. So warps do not wait for each other at hot records.
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

/// The table of a block, and its warps' own tables.
template <class Partial>
class block_table {
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
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(bulk_shape const& shape) {
    return layout{shape}.carver.bytes();
  }

  /// Uses the block's shared memory.
  WARDEN_DEVICE block_table(bulk_shape const& shape, std::byte* storage)
      : block_table{shape, storage, layout{shape}} {}

  /// Empties all tables. Collective over the block.
  WARDEN_DEVICE void start() const {
    for (unsigned r = simt::thread_rank(); r < shape_.records; r += shape_.threads)
      locks_[r] = empty;
    for (unsigned k = simt::thread_rank(); k < tags_.size(); k += shape_.threads) tags_[k] = no_tag;
    simt::sync_block();
  }
  /// Adds the partial of each lane with an `is_valid` record. Collective over the warp: other lanes
  /// pass a record of their own.
  WARDEN_DEVICE void add(std::uint32_t record, partial_words<Partial> words, bool is_valid) const {
    equal_lanes const role = combine_equal(record, words);
    bool const adds = is_valid && role.is_first;
    add_locked(record, words, adds && !add_to_own(record, words, adds, role.repeats));
    // Orders the accesses to the warp's own table before those of other lanes in the next call.
    simt::sync_warp(simt::full_warp);
  }
  /// Adds the warps' own tables to the block's, for `sum`. Collective over the block.
  WARDEN_DEVICE void close() const {
    for (unsigned first = 0; first < shape_.places; first += simt::warp_size) {
      unsigned const place = first + simt::lane_id();
      bool const has_place = place < shape_.places;
      unsigned const own = simt::warp_rank() * shape_.places + (has_place ? place : 0);
      std::uint32_t const tag = simt::shared_load(tags_[own]);
      add_locked(tag, own_.get(own), has_place && tag != no_tag);
    }
    simt::sync_block();
  }
  /// Returns the record of a cell.
  [[nodiscard]] WARDEN_DEVICE static std::uint32_t record(std::uint32_t cell) { return cell; }
  /// True if the block has a partial of a record, after `close`.
  [[nodiscard]] WARDEN_DEVICE bool has(std::uint32_t record) const {
    return locks_[record] == filled;
  }
  /// Returns the block's partial of a record, after `close`.
  WARDEN_DEVICE partial_sum<Partial> sum(std::uint32_t record) const {
    partial_sum<Partial> all;
    if (has(record)) all.add(cells_.get(record));
    return all;
  }
  /// Writes the block's partials. Collective over the block.
  WARDEN_DEVICE void finish(block_partials<Partial> const& to) const {
    close();
    for (unsigned r = simt::thread_rank(); r < shape_.records; r += shape_.threads)
      to.put(r, sum(r));
  }

 private:
  /// Values of a lock: free without a partial, held, and free with one.
  static constexpr std::uint32_t empty = 0, held = 1, filled = 2;
  static constexpr std::uint32_t no_tag = ~0u;
  /// Tries without any lock before a warp waits with pauses.
  static constexpr unsigned tries_before_wait = 8;

  struct layout {
    WARDEN_HOST_DEVICE constexpr explicit layout(bulk_shape const& shape)
        : places{std::size_t{shape.warps()} * shape.places},
          words{partial_cells<Partial>::take(carver, shape.records)},
          own{partial_cells<Partial>::take(carver, places)},
          locks{carver.take<std::uint32_t>(shape.records)},
          tags{carver.take<std::uint32_t>(places)} {}
    std::size_t places;
    arena_carver carver{};
    typename partial_cells<Partial>::piece words, own;
    arena_piece<std::uint32_t> locks, tags;
  };
  WARDEN_DEVICE block_table(bulk_shape const& shape, std::byte* storage, layout const& at)
      : shape_{shape},
        cells_{at.words.in(storage), shape.records},
        own_{at.own.in(storage), static_cast<unsigned>(at.places)},
        locks_{at.locks.in(storage)},
        tags_{at.tags.in(storage)} {}

  /// Adds to the warp's own table, for each lane that `adds`. Returns false if the record has no
  /// place there.
  WARDEN_DEVICE bool add_to_own(std::uint32_t record, partial_words<Partial> words, bool adds,
                                bool repeats) const {
    if (!adds || shape_.places == 0) return false;
    unsigned const place = (record ^ record >> 6) & (shape_.places - 1);
    unsigned const own = simt::warp_rank() * shape_.places + place;
    std::uint32_t const tag = simt::shared_load(tags_[own]);
    if (tag == record) {
      combine_into(words, own_.get(own));
    } else if (!repeats || tag != no_tag ||
               simt::shared_compare_exchange(tags_[own], no_tag, record) != no_tag) {
      return false;
    }
    own_.set(own, words);
    return true;
  }
  /// Adds to the block's table under the records' locks, for each lane that `adds`. Collective over
  /// the warp. Precondition: no two of these lanes have the same record.
  WARDEN_DEVICE void add_locked(std::uint32_t record, partial_words<Partial> words,
                                bool adds) const {
    for (unsigned tries = 1; simt::any(simt::full_warp, adds); ++tries) {
      // A lane frees its lock before the warp's next vote, so no lane waits while it holds one.
      if (adds) {
        std::uint32_t const old = simt::shared_exchange(locks_[record], held);
        if (old != held) {
          // Acquire: pairs with the release below of the lane that stored `old`.
          simt::fence_block();  // mutation: bulk-acquire
          if (old == filled) {
            simt::demand_visible(cells_.place(record));
            combine_into(words, cells_.get(record));
          }
          cells_.set(record, words);
          simt::note_written(cells_.place(record));
          // Release: the next holder of the lock sees the cell.
          simt::fence_block();  // mutation: bulk-release
          simt::shared_store(locks_[record], filled);
          adds = false;
        } else {
          simt::note_lock_retry();
        }
      }
      if (adds && tries % tries_before_wait == 0) {
        simt::wait_until([&] { return simt::shared_load(locks_[record]) != held; },
                         [] { return true; }, [&](auto watch) { watch(&locks_[record]); });
      }
    }
  }

  bulk_shape shape_;
  partial_cells<Partial> cells_;            ///< [record]
  partial_cells<Partial> own_;              ///< [warp][place]
  simt::shared_span<std::uint32_t> locks_;  ///< [record]
  simt::shared_span<std::uint32_t> tags_;   ///< [warp][place] record, or `no_tag`
};

}  // namespace detail
WARDEN_NAMESPACE_END
