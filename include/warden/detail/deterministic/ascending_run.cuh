// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel that runs sections whose ids ascend. A block holds a tile of them in shared memory. A
/// thread combines the strips that begin at its positions, and then the strips of the chunk that
/// begins there.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/warp_scan.cuh>
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
  static constexpr unsigned word_bits = simt::warp_size;  ///< positions of a word of heads
  static_assert(size % word_bits == 0 && staged % word_bits == 0);
  static constexpr unsigned head_words = staged / word_bits + 1,
                            segment_words = head_segment / word_bits;
  static_assert(size == ascending_threads / simt::warp_size * head_segment);

  struct layout {
    arena_carver carver{};
    arena_piece<partial> strips = carver.take<partial>(2 * places);
    arena_piece<std::uint32_t> words =
        carver.take<std::uint32_t>(moves_sections ? padded_words::size_for(staged) : 0);
    arena_piece<std::uint32_t> heads = carver.take<std::uint32_t>(head_words);
    arena_piece<std::uint32_t> lasts = carver.take<std::uint32_t>(head_words);
    arena_piece<std::uint32_t> ranks = carver.take<std::uint32_t>(head_words);
    arena_piece<std::uint32_t> ids = carver.take<std::uint32_t>(ascending_threads);
    arena_piece<std::uint32_t> bounds = carver.take<std::uint32_t>(1);
  };
  /// The sections of the tile, as unit_runner takes them.
  struct sections {
    ascending_tile const& tile;
    std::uint32_t first_id, before;

    [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t p) const { return tile.id_of(p); }
    [[nodiscard]] WARDEN_DEVICE std::uint32_t word(std::uint32_t p) const {
      return moves_sections ? tile.words_[p] : before + p;
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
  WARDEN_DEVICE ascending_tile(Arguments const& a, ids_order const& order, std::uint32_t tile)
      : a_{a},
        order_{order},
        begin_{tile * size},
        n_{a.n - begin_ < staged ? a.n - begin_ : staged},
        words_{layout{}.words.in(simt::dynamic_shared())},
        heads_{layout{}.heads.in(simt::dynamic_shared())},
        lasts_{layout{}.lasts.in(simt::dynamic_shared())},
        ranks_{layout{}.ranks.in(simt::dynamic_shared())},
        ids_{layout{}.ids.in(simt::dynamic_shared())},
        bounds_{layout{}.bounds.in(simt::dynamic_shared())},
        strips_{layout{}.strips.in(simt::dynamic_shared())} {}

  /// Loads the sections. Collective, with a barrier.
  WARDEN_DEVICE void load() const {
    std::uint32_t const segment = begin_ + simt::warp_rank() * head_segment + simt::lane_id();
    std::uint32_t const id = order_.head_ids[segment < a_.n ? segment : a_.n - 1];
    if constexpr (moves_sections) load_words();
    ids_[simt::thread_rank()] = id;
    // The first warp looks for the begin of the first record, and the second for the end of the
    // last one.
    if (simt::warp_rank() == 0) {
      load_heads();
    } else if (simt::warp_rank() == 1) {
      std::uint32_t const found = record_end_after();
      if (simt::lane_id() == 0) bounds_[0] = found;
    }
    simt::sync_block();
  }

  /// Runs the chunks that begin in the tile. Collective, with a barrier.
  WARDEN_DEVICE void run() const {
    unit_runner<Arguments, sections> const runner{a_, {*this, 0, begin_}};
    std::uint32_t const own = n_ < size ? n_ : size, first = simt::thread_rank() * ascending_each;
    unit joined{0, 0, 0, 0};  // the chunk of several strips that begins here
    if (first < own) {
      unsigned const heads = heads_from(first),
                     most = own - first < ascending_each ? own - first : ascending_each;
      std::uint32_t record_begin = record_begin_of(first);
      // The record's next strip begins here, unless another record begins earlier.
      unsigned const to_strip = (record_begin - first) % strip_sections;
      for (unsigned at = distance(heads, to_strip), until; at < most; at = until) {
        if ((heads >> at & 1) != 0) record_begin = first + at;
        until = at + 1 + distance(heads >> (at + 1), strip_sections - 1);
        bool const goes_on = (heads >> until & 1) == 0;
        std::uint32_t const p = first + at, next = first + until, before = p - record_begin;
        std::uint32_t const in_chunk = before % chunk_sections;
        // A chunk that begins in an earlier tile is run there.
        if (in_chunk > p) continue;
        if (in_chunk == 0 && !goes_on) {
          runner.finish({p, next, record_begin, next}, strip(runner, p, next));
        } else {
          strips_[place_of(p, before)] = strip(runner, p, next);
          if (in_chunk == 0) joined = {p, next, record_begin, next};
        }
      }
    }
    if (own < n_) add_strips_after(runner);
    simt::sync_block();  // mutation: ascending-strips
    if (joined.begin == joined.end) return;
    partial const value = chunk(joined);
    runner.finish(joined, value);
  }

 private:
  /// Returns the value of the sections from position `begin` to `end` - 1, at most a strip.
  template <class Runner>
  WARDEN_DEVICE partial strip(Runner const& runner, std::uint32_t begin, std::uint32_t end) const {
    if constexpr (!moves_sections) {
      return runner.strip(begin, end);
    } else {
      auto const leaf = [&](std::uint32_t p) {
        return made_partial<partial>(
            section_of_word<typename Arguments::section>(a_.bulk, a_.first, words_[p]));
      };
      partial sum = leaf(begin);
      for (std::uint32_t p = begin + 1; p < end; ++p) sum = partial::combine(sum, leaf(p));
      return sum;
    }
  }
  /// Combines the strips after the tile of a chunk that begins in the tile.
  template <class Runner>
  WARDEN_DEVICE void add_strips_after(Runner const& runner) const {
    if ((heads_[size / word_bits] & 1) != 0 ||
        simt::thread_rank() >= chunk_sections / strip_sections)
      return;
    std::uint32_t const record_begin = record_begin_of(size - 1), before = size - record_begin;
    std::uint32_t const in_chunk = before % chunk_sections;
    if (in_chunk == 0) return;
    std::uint32_t const to_strip = (strip_sections - before % strip_sections) % strip_sections +
                                   simt::thread_rank() * strip_sections;
    std::uint32_t const begin = size + to_strip;
    if (in_chunk + to_strip >= chunk_sections || begin >= n_ ||
        record_begin_of(begin) != record_begin)
      return;
    strips_[place_of(begin, before + to_strip)] = strip(runner, begin, end_of_strip(begin));
  }
  /// Returns the value of a chunk whose strips are stored. Sets where the chunk and its record end.
  WARDEN_DEVICE partial chunk(unit& of) const {
    of.end = next_head(of.begin, of.begin + chunk_sections);
    of.record_end = of.end;
    if (of.end == of.begin + chunk_sections && (heads_from(of.end) & 1) == 0)
      of.record_end = record_end_of(of.end);
    // Strips of a record after its first one are next to each other.
    std::uint32_t const count = (of.end - of.begin - 1) / strip_sections + 1,
                        place = of.begin / strip_sections;
    constexpr unsigned strips_of_band = band_sections / strip_sections;
    auto const band = [&](std::uint32_t first) {
      partial sum =
          strips_[first == 0 ? place_of(of.begin, of.begin - of.record_begin) : place + first];
      WARDEN_UNROLL
      for (unsigned k = 1; k < strips_of_band; ++k) {
        if (first + k < count) sum = partial::combine(sum, strips_[place + first + k]);
      }
      return sum;
    };
    partial sum = band(0);
    for (std::uint32_t first = strips_of_band; first < count; first += strips_of_band)
      sum = partial::combine(sum, band(first));
    return sum;
  }
  /// Returns the place of a strip's value. First strips of records have places of their own,
  /// because the last strip of a record and the first one of the next can begin close to each
  /// other.
  WARDEN_DEVICE static std::uint32_t place_of(std::uint32_t p, std::uint32_t before) {
    return p / strip_sections + (before == 0 ? places : 0);
  }

  /// Loads the sections as words.
  WARDEN_DEVICE void load_words() const {
    unsigned const lane = simt::lane_id(), warp = simt::warp_rank();
    // Words of heads after the tile, until that of the warp.
    std::uint32_t const after = lane <= warp ? head_word(size / word_bits + lane) : 0;
    std::uint32_t words[ascending_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < ascending_each; ++k) {
      // Places after the last one get its section, so that no load waits for a branch.
      std::uint32_t const p = k * ascending_threads + simt::thread_rank();
      words[k] = moved_word(a_.bulk, a_.first, begin_ + (p < n_ ? p : n_ - 1));
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < ascending_each; ++k)
      words_[k * ascending_threads + simt::thread_rank()] = words[k];
    // Only the last record can have a chunk that goes on.
    unsigned const with_heads = simt::ballot(simt::full_warp, after != 0);
    std::uint32_t const own = simt::shuffle(simt::full_warp, after, warp);
    bool const is_of_last =
        (with_heads & ((1u << warp) - 1)) == 0 && (own & (~0u >> (word_bits - 1 - lane))) == 0;
    std::uint32_t const p = size + simt::thread_rank();
    if (is_of_last) words_[p] = moved_word(a_.bulk, a_.first, begin_ + p);
  }
  /// Loads the heads, and finds the last one before each word. Collective over the warp.
  WARDEN_DEVICE void load_heads() const {
    constexpr unsigned rows = (head_words - 1) / simt::warp_size + 1;
    std::uint32_t words[rows];
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) words[r] = head_word(r * simt::warp_size + simt::lane_id());
    std::uint32_t last = record_begin_before();
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      unsigned const with_heads = simt::ballot(simt::full_warp, words[r] != 0);
      auto const last_until = [&](unsigned lanes) {
        unsigned const from = lanes != 0 ? static_cast<unsigned>(simt::last_bit(lanes)) : 0;
        std::uint32_t const word = simt::shuffle(simt::full_warp, words[r], from);
        return lanes == 0 ? last
                          : (r * simt::warp_size + from) * word_bits +
                                static_cast<unsigned>(simt::last_bit(word));
      };
      std::uint32_t const w = r * simt::warp_size + simt::lane_id();
      std::uint32_t const before = last_until(with_heads & ((1u << simt::lane_id()) - 1));
      std::uint32_t const heads = static_cast<std::uint32_t>(simt::count_bits(words[r]));
      std::uint32_t const rank = warp_sum_before(heads);
      std::uint32_t const segment_rank =
          simt::shuffle(simt::full_warp, rank, simt::lane_id() / segment_words * segment_words);
      if (w < head_words) {
        heads_[w] = words[r];
        lasts_[w] = before;
        ranks_[w] = rank - segment_rank;
      }
      last = last_until(with_heads);
    }
  }
  /// Returns a word of the heads of the run, from the begin of the tile on.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t head_word(std::uint32_t word) const {
    std::uint32_t const p = word * word_bits, left = a_.n - begin_;
    if (p >= staged + word_bits || p >= left) return ~0u;
    std::uint32_t const heads = order_.heads[begin_ / word_bits + word];
    return left - p < word_bits ? heads | ~0u << (left - p) : heads;
  }
  /// Returns the heads from a position on, of at least 16 positions: bit k is set if a record
  /// begins at position p + k, or there is none.
  [[nodiscard]] WARDEN_DEVICE unsigned heads_from(std::uint32_t p) const {
    std::uint32_t const word = p / word_bits;
    std::uint64_t const both = heads_[word] | std::uint64_t{heads_[word + 1]} << word_bits;
    return static_cast<unsigned>(both >> p % word_bits);
  }
  /// Returns the number of the lowest set bit, at most `most`.
  WARDEN_DEVICE static unsigned distance(unsigned heads, unsigned most) {
    return static_cast<unsigned>(simt::first_bit(heads | 1u << most));
  }
  /// Returns the position after the strip that begins at a position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t end_of_strip(std::uint32_t p) const {
    return p + 1 + distance(heads_from(p) >> 1, strip_sections - 1);
  }

  /// Returns the begin of the record of the position before the tile. Distances from it are right,
  /// because positions wrap around. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin_before() const {
    if (begin_ == 0) return 0;
    // Most records have few sections.
    static_assert(size >= simt::warp_size * word_bits);
    std::uint32_t const word = begin_ / word_bits - 1 - simt::lane_id();
    std::uint32_t const heads = order_.heads[word];
    unsigned const with_heads = simt::ballot(simt::full_warp, heads != 0);
    if (with_heads != 0) {
      unsigned const from = static_cast<unsigned>(simt::first_bit(with_heads));
      std::uint32_t const own =
          word * word_bits + static_cast<unsigned>(simt::last_bit(heads)) - begin_;
      return simt::shuffle(simt::full_warp, own, from);  // mutation: ascending-begin
    }
    std::uint32_t const low = begin_ - simt::warp_size * word_bits;
    auto const is_of_record = [&, key = a_.listed_id(low)](std::uint32_t at) {
      return a_.listed_id(at) == key;
    };
    return first_true(0, low, is_of_record) - begin_;
  }
  /// Returns the position after the record of the last position, if that record has sections in the
  /// tile. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end_after() const {
    std::uint32_t const end = begin_ + n_;
    if (end == a_.n) return n_;
    std::uint32_t const own_last = a_.listed_id(begin_ + size - 1), key = a_.listed_id(end - 1);
    if (own_last != key) return n_;
    auto const is_after = [&](std::uint32_t at) { return at >= a_.n || a_.listed_id(at) != key; };
    return first_true(end, a_.n, is_after) - begin_;  // mutation: ascending-end
  }
  /// Returns the id of the record of a position in the tile.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id_of(std::uint32_t p) const {
    std::uint32_t const word = p / word_bits, bit = 1u << p % word_bits;
    if ((heads_[word] & bit) == 0) return a_.listed_id(begin_ + p);
    std::uint32_t const rank =
        ranks_[word] + static_cast<std::uint32_t>(simt::count_bits(heads_[word] & (bit - 1)));
    std::uint32_t const segment = p / head_segment;
    return rank < simt::warp_size ? ids_[segment * simt::warp_size + rank]
                                  : order_.head_ids[begin_ + segment * head_segment + rank];
  }
  /// Returns the begin of a position's record.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin_of(std::uint32_t p) const {
    std::uint32_t const word = p / word_bits;
    unsigned const upto = heads_[word] & (~0u >> (word_bits - 1 - p % word_bits));
    return upto == 0 ? lasts_[word]
                     : word * word_bits + static_cast<unsigned>(simt::last_bit(upto));
  }
  /// Returns the next head after a position, at most `most`, which is in the tile.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t next_head(std::uint32_t p, std::uint32_t most) const {
    std::uint32_t word = (p + 1) / word_bits;
    std::uint32_t heads = heads_[word] & (~0u << (p + 1) % word_bits);
    while (heads == 0 && ++word * word_bits < most) heads = heads_[word];
    if (heads == 0) return most;
    std::uint32_t const found = word * word_bits + static_cast<unsigned>(simt::first_bit(heads));
    return found < most ? found : most;
  }
  /// Returns the position after a position's record.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end_of(std::uint32_t p) const {
    std::uint32_t const end = next_head(p, n_);
    return end < n_ ? end : bounds_[0];
  }

  Arguments const& a_;
  ids_order const& order_;
  std::uint32_t begin_;  ///< position of the first section in the run
  std::uint32_t n_;      ///< staged positions
  padded_words words_;
  simt::shared_span<std::uint32_t> heads_;   ///< a bit for each position, see heads_from
  simt::shared_span<std::uint32_t> lasts_;   ///< last head before each word of heads_
  simt::shared_span<std::uint32_t> ranks_;   ///< heads before each word in its segment
  simt::shared_span<std::uint32_t> ids_;     ///< [segment][32] ids of its first heads
  simt::shared_span<std::uint32_t> bounds_;  ///< end of the last record
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
    ascending_tile<Arguments> const tile{a, order, t};
    tile.load();
    tile.run();
    simt::sync_block();
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
