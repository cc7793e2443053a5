// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel that runs sections whose ids ascend. A block holds a tile of them in shared memory. A
/// thread combines the strips that begin at its positions, and then the strips of the chunk that
/// begins there.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deterministic/ids_order.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/detail/deterministic/unit_runner.cuh>
#include <warden/detail/deterministic/warp_search.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block, and positions of each.
inline constexpr unsigned ascending_threads = 256, ascending_each = 8;

/// Words in shared memory, of which threads access every `ascending_each`-th one without bank
/// conflicts.
class padded_words {
 public:
  static constexpr unsigned size_for(unsigned n) { return n + n / simt::warp_size + 1; }
  WARDEN_DEVICE explicit padded_words(simt::shared_span<std::uint32_t> words) : words_{words} {}
  WARDEN_DEVICE std::uint32_t& operator[](std::uint32_t p) const {
    return words_[p + p / simt::warp_size];
  }

 private:
  simt::shared_span<std::uint32_t> words_;
};

/// A tile of sections whose ids ascend. Positions count from the tile's begin.
template <class Arguments>
class ascending_tile {
  using partial = typename Arguments::partial;
  static constexpr bool moves_sections = Arguments::bulk_type::moves_sections;
  /// Positions whose chunks the block runs, and those with the rest of the last chunk.
  static constexpr unsigned size = ascending_threads * ascending_each,
                            staged = size + chunk_sections;
  static constexpr unsigned places = staged / strip_sections;
  static_assert(chunk_sections <= ascending_threads && chunk_sections <= size);
  // So at most one chunk of several strips begins at a thread's positions.
  static_assert(ascending_each <= strip_sections);

  struct layout {
    arena_carver carver{};
    arena_piece<partial> strips = carver.take<partial>(2 * places);
    arena_piece<std::uint32_t> keys = carver.take<std::uint32_t>(padded_words::size_for(staged));
    arena_piece<std::uint32_t> words =
        carver.take<std::uint32_t>(moves_sections ? padded_words::size_for(staged) : 0);
    arena_piece<std::uint32_t> bounds = carver.take<std::uint32_t>(2);
  };
  /// The sections of the tile, as unit_runner takes them.
  struct sections {
    padded_words keys, words;
    std::uint32_t first_id, before;

    [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t p) const { return keys[p]; }
    [[nodiscard]] WARDEN_DEVICE std::uint32_t word(std::uint32_t p) const {
      return moves_sections ? words[p] : before + p;
    }
  };

 public:
  /// Size of the shared memory. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }
  /// Returns the number of tiles of n sections.
  WARDEN_HOST_DEVICE static constexpr std::uint32_t tiles_of(std::uint32_t n) {
    return (n - 1) / size + 1;
  }

  /// Takes the block's shared memory.
  WARDEN_DEVICE ascending_tile(Arguments const& a, std::uint32_t tile)
      : a_{a},
        begin_{tile * size},
        n_{a.n - begin_ < staged ? a.n - begin_ : staged},
        keys_{layout{}.keys.in(simt::dynamic_shared())},
        words_{layout{}.words.in(simt::dynamic_shared())},
        bounds_{layout{}.bounds.in(simt::dynamic_shared())},
        strips_{layout{}.strips.in(simt::dynamic_shared())} {}

  /// Loads the sections. Collective, with a barrier.
  WARDEN_DEVICE void load() const {
    unsigned const me = simt::thread_rank();
    std::uint32_t ids[ascending_each + 1], words[ascending_each];
    // Places after the last one get its section, so that no load waits for a branch.
    auto const number = [&](unsigned k) {
      std::uint32_t const p = k * ascending_threads + me;
      return begin_ + (p < n_ ? p : n_ - 1);
    };
    WARDEN_UNROLL
    for (unsigned k = 0; k <= ascending_each; ++k) ids[k] = a_.listed_id(number(k));
    std::uint32_t const last = a_.listed_id(begin_ + (n_ < size ? n_ : size) - 1);
    if constexpr (moves_sections) {
      WARDEN_UNROLL
      for (unsigned k = 0; k < ascending_each; ++k)
        words[k] = moved_word(a_.bulk, a_.first, number(k));
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < ascending_each; ++k) {
      keys_[k * ascending_threads + me] = ids[k];
      if constexpr (moves_sections) words_[k * ascending_threads + me] = words[k];
    }
    if (me < chunk_sections) {
      keys_[size + me] = ids[ascending_each];
      // Only the last record can have a chunk that goes on.
      if constexpr (moves_sections) {
        if (ids[ascending_each] == last)
          words_[size + me] = moved_word(a_.bulk, a_.first, number(ascending_each));
      }
    }
    if (simt::warp_rank() == 0) {
      std::uint32_t const found = record_begin_before();
      if (simt::lane_id() == 0) bounds_[0] = found;
    } else if (simt::warp_rank() == 1) {
      std::uint32_t const found = record_end_after();
      if (simt::lane_id() == 0) bounds_[1] = found;
    }
    simt::sync_block();
  }

  /// Runs the chunks that begin in the tile. Collective, with a barrier.
  WARDEN_DEVICE void run() const {
    unit_runner<Arguments, sections> const runner{a_, {keys_, words_, 0, begin_}};
    std::uint32_t const own = n_ < size ? n_ : size;
    std::uint32_t p = simt::thread_rank() * ascending_each;
    std::uint32_t const end = p + ascending_each < own ? p + ascending_each : own;
    std::uint32_t record_begin = p < own ? record_begin_of(p) : 0;
    unit joined{0, 0, 0, 0};  // the chunk of several strips that begins here
    while (p < end) {
      std::uint32_t const key = keys_[p], before = p - record_begin;
      std::uint32_t const next = end_of_node(p, strip_sections - before % strip_sections, key);
      bool const goes_on = next < n_ && keys_[next] == key;
      std::uint32_t const in_chunk = before % chunk_sections;
      // A chunk that begins in an earlier tile is run there.
      if (before % strip_sections == 0 && in_chunk <= p) {
        if (in_chunk == 0 && !goes_on) {
          runner.finish({p, next, record_begin, next}, runner.strip(p, next));
        } else {
          strips_[place_of(p, before)] = runner.strip(p, next);
          if (in_chunk == 0) joined = {p, next, record_begin, next};
        }
      }
      if (!goes_on) record_begin = next;
      p = next;
    }
    if (own < n_) add_strips_after(runner);
    simt::sync_block();  // mutation: ascending-strips
    if (joined.begin == joined.end) return;
    joined.end = end_of_node(joined.begin, chunk_sections, keys_[joined.begin]);
    bool const goes_on = joined.end < n_ && keys_[joined.end] == keys_[joined.begin];
    joined.record_end = goes_on ? record_end_of(joined.end) : joined.end;
    runner.finish(joined, chunk(joined));
  }

 private:
  /// Combines the strips after the tile of a chunk that begins in the tile.
  template <class Runner>
  WARDEN_DEVICE void add_strips_after(Runner const& runner) const {
    std::uint32_t const key = keys_[size];
    if (keys_[size - 1] != key || simt::thread_rank() >= chunk_sections / strip_sections) return;
    std::uint32_t const before = size - record_begin_of(size - 1);
    std::uint32_t const in_chunk = before % chunk_sections;
    if (in_chunk == 0) return;
    std::uint32_t const chunk_end = end_of_node(size, chunk_sections - in_chunk, key);
    std::uint32_t const to_strip = (strip_sections - before % strip_sections) % strip_sections +
                                   simt::thread_rank() * strip_sections;
    std::uint32_t const begin = size + to_strip;
    if (begin >= chunk_end) return;
    std::uint32_t const end =
        chunk_end - begin < strip_sections ? chunk_end : begin + strip_sections;
    strips_[place_of(begin, before + to_strip)] = runner.strip(begin, end);
  }
  /// Returns the value of a chunk whose strips are stored.
  WARDEN_DEVICE partial chunk(unit const& of) const {
    auto const band = [&](std::uint32_t begin) {
      std::uint32_t const end = of.end - begin < band_sections ? of.end : begin + band_sections;
      partial sum = strips_[place_of(begin, begin - of.record_begin)];
      for (std::uint32_t p = begin + strip_sections; p < end; p += strip_sections)
        sum = partial::combine(sum, strips_[place_of(p, p - of.record_begin)]);
      return sum;
    };
    partial sum = band(of.begin);
    for (std::uint32_t p = of.begin + band_sections; p < of.end; p += band_sections)
      sum = partial::combine(sum, band(p));
    return sum;
  }
  /// Returns the place of a strip's value. First strips of records have places of their own,
  /// because the last strip of a record and the first one of the next can begin close to each
  /// other.
  WARDEN_DEVICE static std::uint32_t place_of(std::uint32_t p, std::uint32_t before) {
    return p / strip_sections + (before == 0 ? places : 0);
  }

  /// Returns the begin of the first position's record, which may be in an earlier tile. Distances
  /// from it are right, because positions wrap around. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin_before() const {
    if (begin_ == 0) return 0;
    auto const is_of_record = [&, key = a_.listed_id(begin_)](std::uint32_t at) {
      return a_.listed_id(at) == key;
    };
    // Most records have few sections.
    std::uint32_t const near = begin_ - simt::warp_size;
    std::uint32_t const found = is_of_record(near) ? first_true(0, near, is_of_record)
                                                   : first_true(near, begin_, is_of_record);
    return found - begin_;  // mutation: ascending-begin
  }
  /// Returns the position after the record of the last position. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end_after() const {
    std::uint32_t const end = begin_ + n_;
    auto const is_after = [&, key = a_.listed_id(end - 1)](std::uint32_t at) {
      return at >= a_.n || a_.listed_id(at) != key;
    };
    std::uint32_t const near = a_.n - end < simt::warp_size ? a_.n : end + simt::warp_size;
    std::uint32_t const found =
        is_after(near) ? first_true(end, near, is_after) : first_true(near, a_.n, is_after);
    return found - begin_;  // mutation: ascending-end
  }
  /// Returns the begin of a position's record.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin_of(std::uint32_t p) const {
    std::uint32_t const key = keys_[p];
    std::uint32_t low = p < band_sections ? 0 : p - band_sections, high = p;
    if (keys_[low] == key) {
      high = low;
      low = 0;
    }
    while (low < high) {
      std::uint32_t const middle = (low + high) / 2;
      if (keys_[middle] == key) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low == 0 ? bounds_[0] : low;
  }
  /// Returns the position after a position's record.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end_of(std::uint32_t p) const {
    std::uint32_t const end = end_of_node(p, n_ - p, keys_[p]);
    return end == n_ ? bounds_[1] : end;
  }
  /// Returns the position after the sections with this key among `most` from position `p` on.
  /// Precondition: p has the key.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t end_of_node(std::uint32_t p, std::uint32_t most,
                                                        std::uint32_t key) const {
    std::uint32_t low = p + 1, high = n_ - p < most ? n_ : p + most;
    while (low < high) {
      std::uint32_t const middle = (low + high) / 2;
      if (keys_[middle] == key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  Arguments const& a_;
  std::uint32_t begin_;  ///< position of the first section in the run
  std::uint32_t n_;      ///< staged positions
  padded_words keys_, words_;
  simt::shared_span<std::uint32_t> bounds_;  ///< begin of the first record, end of the last one
  simt::shared_span<partial> strips_;        ///< see place_of
};

/// Blocks of a multiprocessor, for which the registers of small sections suffice.
template <class Arguments>
inline constexpr unsigned ascending_blocks = sizeof(typename Arguments::partial) <= 8 ? 6 : 2;
/// Runs sections whose ids ascend, or leaves at once. Any grid; shared memory of an ascending_tile.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(ascending_threads, ascending_blocks<Arguments>)
    run_ascending(Arguments const a, ids_order const order) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  if (!order.has_ascended()) return;
  std::uint32_t const tiles = ascending_tile<Arguments>::tiles_of(a.n);
  for (std::uint32_t t = simt::block_rank(); t < tiles; t += simt::block_count()) {
    ascending_tile<Arguments> const tile{a, t};
    tile.load();
    tile.run();
    simt::sync_block();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
