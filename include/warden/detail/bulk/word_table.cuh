// SPDX-License-Identifier: Apache-2.0
/// @file
/// One table for a block, whose partials are sums of integers. Atomics add words of 32 bits to it.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if a partial consists of integers that are added. It has `words`, the number of its words
/// of 32 bits, `to_words` and `of_words`. `carries_into(w)` is true if word w belongs to the same
/// integer as the word before it. A partial of zeros has no effect. Many narrow integers, each in a
/// word, would take more than twice the memory of the partial, so fewer records would fit.
template <class Partial>
concept sums_words = Partial::words * 4 <= 2 * sizeof(Partial) &&
                     requires(Partial const& partial, std::uint32_t (&words)[Partial::words]) {
  partial.to_words(words);
  Partial::of_words(words);
  Partial::carries_into(0u);
};

/// Table of a block. Shared memory adds 32 bits in one instruction, and 64 bits in a loop. So each
/// word is added on its own, and its carry is added to the next word of its integer. Exactly one
/// thread sees each wrap of a word, the one that caused it. So at the end the words hold the sum.
template <class Partial>
class word_table {
 public:
  /// Type of the partials.
  using partial_type = Partial;
  /// Largest number of threads of a block.
  static constexpr unsigned most_threads = 1024;
  /// Number of partials that a thread adds at once.
  static constexpr unsigned together = 1;
  /// Returns the number of elements of `bytes` that a thread loads at once.
  WARDEN_HOST_DEVICE static constexpr unsigned rows_at_once(std::size_t bytes) {
    return bytes <= 16 ? 4 : bytes <= 32 ? 2 : 1;
  }

  /// Returns the shared memory of a block. Units: bytes.
  static std::size_t shared_bytes(bulk_shape const& shape) { return layout{shape}.carver.bytes(); }

  /// Uses the block's shared memory.
  WARDEN_DEVICE word_table(bulk_shape const& shape, std::byte* storage)
      : shape_{shape}, words_{layout{shape}.cells.in(storage)} {}

  /// Empties the table. Collective over the block.
  WARDEN_DEVICE void start() const {
    for (unsigned k = simt::thread_rank(); k < words_.size(); k += shape_.threads) words_[k] = 0;
    simt::sync_block();
  }
  /// Adds a partial, if its record is valid.
  WARDEN_DEVICE void add(std::uint32_t record, partial_words<Partial> const& partial,
                         bool is_valid) const {
    if (!is_valid) return;
    std::uint32_t more[Partial::words];
    partial.value().to_words(more);
    // Different copies are in different banks.
    unsigned const copy = simt::lane_id() & (shape_.places - 1);
    std::uint32_t carry = 0;
    WARDEN_UNROLL
    for (unsigned w = 0; w < Partial::words; ++w) {
      if (!Partial::carries_into(w)) carry = 0;
      std::uint32_t const sum = more[w] + carry;
      // Nothing to add. If a word of ones gets a carry, the carry remains for the next word.
      if (Partial::carries_into(w) && sum == 0) continue;  // mutation: bulk-ones
      std::uint32_t const old = simt::shared_fetch_add(words_[cell(w, record, copy)], sum);
      carry = old + sum < sum ? 1 : 0;  // mutation: bulk-carry
    }
  }
  /// Writes the block's partials. Collective over the block.
  WARDEN_DEVICE void finish(block_partials<Partial> const& to) const {
    simt::sync_block();  // mutation: bulk-added
    for (std::uint32_t r = simt::thread_rank(); r < shape_.records; r += shape_.threads) {
      partial_sum<Partial> all;
      for (unsigned c = 0; c < shape_.places; ++c) {
        unsigned const copy = (simt::lane_id() + c) & (shape_.places - 1);
        std::uint32_t found[Partial::words], any = 0;
        WARDEN_UNROLL
        for (unsigned w = 0; w < Partial::words; ++w) any |= found[w] = words_[cell(w, r, copy)];
        if (any != 0) all.add(partial_words<Partial>{Partial::of_words(found)});
      }
      to.put(r, all);
    }
  }

 private:
  struct layout {
    WARDEN_HOST_DEVICE constexpr explicit layout(bulk_shape const& shape)
        : cells{carver.take<std::uint32_t>(std::size_t{Partial::words} * shape.records *
                                           shape.places)} {}
    arena_carver carver{};
    arena_piece<std::uint32_t> cells;
  };
  WARDEN_DEVICE unsigned cell(unsigned word, std::uint32_t record, unsigned copy) const {
    return (word * shape_.records + record) * shape_.places + copy;
  }

  bulk_shape shape_;
  simt::shared_span<std::uint32_t> words_;  ///< [word][record][copy]
};

}  // namespace detail
WARDEN_NAMESPACE_END
