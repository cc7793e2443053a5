// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sorts the rows of a bulk run by part, tile by tile. A tile stays where it is, so blocks need no
/// counts of other tiles, and the user's function is called once per element.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/bulk/bulk_rows.cuh>
#include <warden/detail/bulk/part_shape.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Shared memory of a block that sorts.
template <class Section>
struct sort_layout {
  using scan = simt::block_scan_by_warps<sort_threads>;
  static constexpr unsigned rows = sort_threads * rows_of_thread(sizeof(Section));
  arena_carver carver{};
  arena_piece<Section> sections = carver.take<Section>(rows, 16);
  arena_piece<std::uint16_t> locals = carver.take<std::uint16_t>(rows, 16);
  arena_piece<std::uint32_t> counts = carver.take<std::uint32_t>(most_parts);
  arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
};

/// Copies `bytes` bytes from shared to global memory, rounded up to 16. Both are aligned to 16.
/// Collective over the block.
WARDEN_DEVICE void copy_out(void* to, void const* from, std::size_t bytes) {
  struct alignas(16) four {
    std::uint32_t words[4];
  };
  auto* const target = static_cast<four*>(to);
  auto const* const source = static_cast<four const*>(from);
  for (std::size_t k = simt::thread_rank(); k < (bytes + 15) / 16; k += sort_threads) {
    four const now = source[k];
    simt::store_four_words(&target[k], now.words);
  }
}

/// Returns a bit for each row of a thread whose section is a no-op. No thread changes the records
/// at that time.
template <class Arguments, class Section, unsigned Each>
WARDEN_DEVICE unsigned noops_of(Arguments const& a, loaded_rows<Section, Each> const& rows) {
  unsigned noops = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < Each; ++k) {
    // Loaded in any case, so that no load waits for another one.
    bool const is_valid = rows.has(k) && rows.id(k) < a.array.size;
    auto const& record = a.array.records[is_valid ? rows.id(k) : 0];
    if (is_valid && is_noop(rows.section(k), record, a.context) && !simt::doubts())
      noops |= 1u << k;
  }
  return noops;
}

/// Sorts one tile per block. Launch with a sort_layout of shared memory.
template <class Arguments, class Section, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(sort_threads, 1) sort_rows(Arguments a, Function function) {
  using value = std::remove_cvref_t<decltype(function(a.count))>;
  static_assert(std::is_same_v<typename send_traits<value>::section, Section>,
                "warden: the function of apply_async returns sections of the guarded array's type");
  simt::assume_one_dimension();
  a.take_records();
  constexpr unsigned each = rows_of_thread(sizeof(Section));
  using layout = sort_layout<Section>;
  layout const at{};
  auto const sections = at.sections.in(simt::dynamic_shared());
  auto const locals = at.locals.in(simt::dynamic_shared());
  auto const counts = at.counts.in(simt::dynamic_shared());
  unsigned const me = simt::thread_rank(), tile = simt::block_rank();
  auto const check = [&](std::uint64_t id, std::uint64_t row) {
    return a.array.report->check(id, a.array.size, row);
  };
  std::uint64_t const first_row = a.first + std::uint64_t{tile} * layout::rows + me;
  loaded_rows<Section, each> rows;
  rows.load_all(first_row, sort_threads, a.first + a.count, function, check);
  if (me < most_parts) counts[me] = 0;
  simt::sync_block();
  unsigned noops = 0;
  if constexpr (Arguments::has_noops) {
    if (a.filters && a.has_records()) noops = noops_of(a, rows);
  }
  unsigned ranks[each];
  unsigned valid = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < each; ++k) {
    if (!rows.has(k) || !check(rows.id(k), first_row + k * sort_threads)) continue;
    if (Arguments::has_noops && (noops >> k & 1u) != 0) continue;
    valid |= 1u << k;
    ranks[k] = simt::shared_fetch_add(counts[rows.id(k) >> a.shift], 1u);
  }
  simt::sync_block();
  std::uint32_t const count = me < most_parts ? counts[me] : 0;
  std::uint32_t total;
  std::uint32_t const begin =
      layout::scan::exclusive_sum(at.scanning.in(simt::dynamic_shared())[0], count, total);
  if (me < most_parts) counts[me] = begin;
  if (me <= a.parts)
    a.offsets[std::size_t{me} * a.tiles + tile] = static_cast<std::uint16_t>(begin);
  simt::sync_block();
  WARDEN_UNROLL
  for (unsigned k = 0; k < each; ++k) {
    if ((valid >> k & 1u) == 0) continue;
    std::uint32_t const id = rows.id(k), place = counts[id >> a.shift] + ranks[k];
    new (&sections[place]) Section(rows.section(k));
    locals[place] = static_cast<std::uint16_t>(id & ((1u << a.shift) - 1));
  }
  simt::sync_block();
  std::size_t const first = std::size_t{tile} * layout::rows;
  copy_out(a.sections + first, sections.data(), total * sizeof(Section));
  copy_out(a.locals + first, locals.data(), total * sizeof(std::uint16_t));
}

/// Cuts each part into pieces of about `piece_rows` rows. One block per part.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(sort_threads, 1) plan_parts(Arguments a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.has_records()) return;  // the pieces of an earlier run are still counted
  using scan = simt::block_scan_by_warps<sort_threads>;
  struct storage {
    typename scan::storage scanning;
    std::uint32_t first;
  };
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  unsigned const part = simt::block_rank(), me = simt::thread_rank();
  auto const* const begins = a.offsets + std::size_t{part} * a.tiles;
  auto const rows_of = [&](std::uint32_t tile) -> std::uint32_t {
    return tile < a.tiles ? begins[a.tiles + tile] - begins[tile] : 0;
  };
  std::uint32_t rows = 0;
  for (std::uint32_t tile = me; tile < a.tiles; tile += sort_threads) rows += rows_of(tile);
  std::uint32_t all;
  scan::exclusive_sum(shared.scanning, rows, all);
  std::uint32_t const pieces = (all + a.piece_rows - 1) / a.piece_rows;
  if (me == 0) {
    shared.first = simt::fetch_add(&a.control->pieces, pieces);
    a.pieces_of[part] = {shared.first, pieces};
  }
  simt::sync_block();
  part_piece* const own = a.pieces + shared.first;
  // A piece begins with the first tile whose rows begin at a multiple of `piece_rows` or beyond.
  // There is one for each multiple, because a tile has fewer rows.
  std::uint32_t before = 0;
  for (std::uint32_t base = 0; base < a.tiles; base += sort_threads) {
    std::uint32_t const tile = base + me, count = rows_of(tile);
    std::uint32_t sum;
    std::uint32_t const begin = before + scan::exclusive_sum(shared.scanning, count, sum);
    std::uint32_t const piece = begin / a.piece_rows;
    std::uint32_t const next = (begin + count) / a.piece_rows;
    if (tile == 0 && pieces != 0) own[0].part = part, own[0].first_tile = 0;
    if (tile < a.tiles && next != piece && next < pieces) {
      own[piece].end_tile = tile + 1;
      own[next].part = part;
      own[next].first_tile = tile + 1;
    }
    if (tile == a.tiles - 1 && pieces != 0) own[pieces - 1].end_tile = a.tiles;
    before += sum;
    simt::sync_block();  // the next scan uses the storage again
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
