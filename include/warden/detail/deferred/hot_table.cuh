// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the sections of a block on the records that it meets most often, in shared memory.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/bulk/block_table.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A table with one partial for each of its cells. A record has one cell, by a hash, and takes it
/// if it comes to it twice in a row. So hot records take most cells, and keep them.
///
/// A partial takes `Width` places of the log. A cell is taken only if as many sections have been
/// combined, in this cell or in others, as the partials of all cells take places.
template <class Partial, unsigned Width, unsigned Threads>
class hot_table {
  using cells = block_table<Partial>;

 public:
  /// Number of cells: those that take 64 bytes of each thread.
  static constexpr unsigned size = static_cast<unsigned>(
      std::bit_floor(std::size_t{64} * Threads / (sizeof(partial_words<Partial>) + 8)));
  /// Most records, because a tag has a bit more than a record's number.
  static constexpr std::uint64_t most_records = std::uint64_t{1} << 31;
  /// Returns the shared memory of a block. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// Uses the block's shared memory.
  WARDEN_DEVICE explicit hot_table(std::byte* storage) : hot_table{storage, layout{}} {}

  /// Empties all cells. Collective over the block.
  WARDEN_DEVICE void start() {
    for (unsigned c = simt::thread_rank(); c < size; c += Threads) tags_[c] = no_tag;
    cells_.start();
  }
  /// Combines the section of each lane that is `valid` and whose record has a cell. `make()`
  /// returns its partial. Returns true for these lanes. Collective over the warp.
  template <class Make>
  WARDEN_DEVICE bool take(std::uint32_t record, bool valid, Make const& make) {
    unsigned const cell = record * 2654435769u >> shift;
    std::uint32_t const tag = simt::shared_load(tags_[cell]);
    bool hit = valid && tag == record;
    bool const wants = valid && tag == (record | candidate);
    // The record comes again before it takes the cell.
    if (valid && !hit && !wants && (tag & candidate) != 0)
      simt::shared_compare_exchange(tags_[cell], tag, record | candidate);
    unsigned taken = 0;
    if (simt::any(simt::full_warp, wants)) {
      bool const now_has = claim(record, cell, wants, taken);
      hit = hit || now_has;
    }
    unsigned const hits = simt::ballot(simt::full_warp, hit);
    if (hits == 0) return false;
    auto const combined = static_cast<unsigned>(simt::count_bits(hits));
    sections_ += combined;
    spare_ += combined - taken * Width;
    partial_words<Partial> words;
    if (hit) words = partial_words<Partial>{make()};
    cells_.add(hit ? cell : ~simt::lane_id(), words, hit);
    return hit;
  }
  /// Returns the number of sections that this warp has combined.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t sections() const { return sections_; }

  // For table_batch.

  /// Makes the table ready for `sum`. Collective over the block.
  WARDEN_DEVICE void close() const { cells_.close(); }
  /// True if a cell has a partial.
  [[nodiscard]] WARDEN_DEVICE bool has(unsigned cell) const { return cells_.has(cell); }
  /// Returns the partial of a cell.
  WARDEN_DEVICE partial_sum<Partial> sum(unsigned cell) const { return cells_.sum(cell); }
  /// Returns the record of a cell that has a partial.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record(unsigned cell) const { return tags_[cell]; }

 private:
  /// Mark of a tag whose record has come once, and does not have the cell.
  static constexpr std::uint32_t candidate = 1u << 31;
  static constexpr std::uint32_t no_tag = ~0u;
  /// Bits of a hash that are not those of a cell.
  static constexpr unsigned shift = 33 - std::bit_width(size);

  WARDEN_HOST_DEVICE static constexpr bulk_shape shape() { return {size, Threads, 16}; }
  struct layout {
    WARDEN_HOST_DEVICE constexpr layout()
        : tags{carver.take<std::uint32_t>(size, 16)},
          cells{carver.take<std::byte>(block_table<Partial>::shared_bytes(shape()), 16)} {}
    arena_carver carver{};
    arena_piece<std::uint32_t> tags;
    arena_piece<std::byte> cells;
  };
  WARDEN_DEVICE hot_table(std::byte* storage, layout const& at)
      : tags_{at.tags.in(storage)}, cells_{shape(), at.cells.in(storage).data()} {}

  /// Takes cells for the lanes that want theirs. Counts in `taken` the cells that the warp took.
  /// Returns true for lanes whose record then has the cell. Collective over the warp.
  WARDEN_DEVICE bool claim(std::uint32_t record, unsigned cell, bool wants, unsigned& taken) {
    unsigned const lane = simt::lane_id();
    unsigned const equal = simt::match_any(simt::full_warp, wants ? record : ~lane);
    auto const count = static_cast<unsigned>(simt::count_bits(equal));
    bool const is_first = wants && (equal & ((1u << lane) - 1)) == 0;
    // Those with too few sections of their own for the partial's places use what others have freed.
    bool const lacks = is_first && count < Width;
    unsigned const lacking = simt::ballot(simt::full_warp, lacks);
    auto const before = static_cast<unsigned>(simt::count_bits(lacking & ((1u << lane) - 1)));
    bool const may = is_first && (!lacks || (before + 1) * (Width - 1) <= spare_);
    bool has = false, takes = false;
    if (may) {
      std::uint32_t const old =
          simt::shared_compare_exchange(tags_[cell], record | candidate, record);
      takes = old == (record | candidate);
      has = takes || old == record;
    }
    taken = static_cast<unsigned>(simt::count_bits(simt::ballot(simt::full_warp, takes)));
    unsigned const with = simt::ballot(simt::full_warp, has);
    return wants && (with & equal) != 0;
  }

  simt::shared_span<std::uint32_t> tags_;  ///< [cell] its record, with or without `candidate`
  cells cells_;
  std::uint32_t sections_ = 0;  ///< sections that the warp has combined
  std::uint32_t spare_ = 0;     ///< those beyond the places of the partials of its cells
};

}  // namespace detail
WARDEN_NAMESPACE_END
