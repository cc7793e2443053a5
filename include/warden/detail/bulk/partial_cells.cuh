// SPDX-License-Identifier: Apache-2.0
/// @file
/// Partials in shared memory, word by word.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Partials of a block in shared memory. Adjacent cells have adjacent words, so that lanes that
/// access different cells meet at few banks.
template <class Partial>
class partial_cells {
  using word = typename partial_words<Partial>::word;
  static constexpr unsigned words = partial_words<Partial>::count;

 public:
  /// Type of the memory.
  using piece = arena_piece<word>;
  /// Takes the memory of `cells` cells.
  WARDEN_HOST_DEVICE static constexpr piece take(arena_carver& carver, std::size_t cells) {
    return carver.take<word>(cells * words);
  }

  /// Uses the memory of `cells` cells.
  WARDEN_DEVICE partial_cells(simt::shared_span<word> memory, unsigned cells)
      : memory_{memory}, cells_{cells} {}

  /// Returns the words of a cell, which are of no partial before the first `set`.
  [[nodiscard]] WARDEN_DEVICE partial_words<Partial> get(unsigned cell) const {
    partial_words<Partial> p;
    WARDEN_UNROLL
    for (unsigned w = 0; w < words; ++w) p.at[w] = memory_[w * cells_ + cell];
    return p;
  }
  /// Writes a cell.
  WARDEN_DEVICE void set(unsigned cell, partial_words<Partial> const& p) const {
    WARDEN_UNROLL
    for (unsigned w = 0; w < words; ++w) memory_[w * cells_ + cell] = p.at[w];
  }
  /// Returns the address of a cell's first word, which stands for the cell.
  [[nodiscard]] WARDEN_DEVICE void const* place(unsigned cell) const { return &memory_[cell]; }

 private:
  simt::shared_span<word> memory_;
  unsigned cells_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
