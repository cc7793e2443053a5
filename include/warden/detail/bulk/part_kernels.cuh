// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines rows that are sorted by part: a block has a table of one part's records at a time.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/bulk/part_shape.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combines the rows of one piece per block.
template <template <class> class Table, class Partial, class Section, class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(Table<Partial>::most_threads, 1) combine_pieces(Arguments a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.has_records() || simt::block_rank() >= a.control->pieces) return;
  part_piece const piece = a.pieces[simt::block_rank()];
  Table<Partial> table{a.shape, simt::dynamic_shared()};
  table.start();
  union place {
    WARDEN_DEVICE place() {}
    Section loaded;
  };
  constexpr unsigned at_once = Table<Partial>::rows_at_once(sizeof(Section));
  unsigned const lane = simt::lane_id();
  auto const* const begins = a.offsets + std::size_t{piece.part} * a.tiles;
  // A hot part has pieces of few tiles with many rows each: then several warps share the tiles. The
  // last piece of a part can have none.
  unsigned const groups = (piece.end_tile - piece.first_tile + tiles_together - 1) / tiles_together;
  unsigned const share = groups != 0 && groups < a.shape.warps() ? a.shape.warps() / groups : 1;
  unsigned const step = at_once * simt::warp_size * share;
  for (unsigned group = simt::warp_rank() / share; group < groups;
       group += a.shape.warps() / share) {
    std::uint32_t const first = piece.first_tile + group * tiles_together;
    std::uint32_t const tile = first + lane;
    std::uint32_t begin = 0, count = 0;
    if (lane < tiles_together && tile < piece.end_tile) {
      begin = begins[tile];
      count = begins[a.tiles + tile] - begin;
    }
    std::uint32_t const before = warp_sum_before(count);
    std::uint32_t const rows = simt::shuffle(simt::full_warp, before, tiles_together);
    // Place of row j is j + the `shift` of the last tile that begins at or before j.
    std::uint32_t const shift = tile * Arguments::tile_rows + begin - before;
    for (std::uint32_t base = simt::warp_rank() % share * at_once * simt::warp_size; base < rows;
         base += step) {
      place sections[at_once];
      std::uint32_t locals[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const row = base + k * simt::warp_size + lane;
        unsigned last = 0;
        WARDEN_UNROLL
        for (unsigned half = tiles_together / 2; half != 0; half /= 2) {
          if (simt::shuffle(simt::full_warp, before, last + half) <= row) last += half;
        }
        std::uint32_t const from = row + simt::shuffle(simt::full_warp, shift, last);
        if (row < rows) {
          locals[k] = a.locals[from];
          new (&sections[k].loaded) Section(a.sections[from]);
        }
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        bool const is_valid = base + k * simt::warp_size + lane < rows;
        partial_words<Partial> words;
        if (is_valid) words = partial_words<Partial>{made_partial<Partial>(sections[k].loaded)};
        table.add(is_valid ? locals[k] : ~lane, words, is_valid);
      }
    }
  }
  table.finish(a.of_block(simt::block_rank()));
}

/// Combines the partials of all pieces, and runs one section for each record that has any. A thread
/// per record.
template <class Partial, class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(256, 1) apply_parts(Arguments a) {
  simt::wait_for_previous_kernel();
  simt::assume_one_dimension();
  if (!a.has_records()) return;
  std::uint64_t const record =
      std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
  if (record < a.array.size) {
    part_pieces const pieces = a.pieces_of[record >> a.shift];
    auto const local = static_cast<std::uint32_t>(record) & ((1u << a.shift) - 1);
    partial_sum<Partial> sum;
    // A hot part has many pieces: several loads must be in flight. Without a condition at each
    // load, none of them waits for another one.
    constexpr unsigned at_once = sizeof(Partial) <= 32 ? 8 : 4;
    for (std::uint32_t first = 0; first < pieces.count; first += at_once) {
      unsigned char present[at_once];
      partial_words<Partial> words[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const piece = first + k < pieces.count ? first + k : first;
        auto const of = a.of_block(pieces.first + piece);
        present[k] = of.present[local];
        words[k] = partial_words<Partial>::load(of.partials[local]);
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (first + k < pieces.count && present[k] != 0) sum.add(words[k]);
      }
    }
    a.apply(record, sum);
  }
  a.finish_block();
}

}  // namespace detail
WARDEN_NAMESPACE_END
