// SPDX-License-Identifier: Apache-2.0
/// @file
/// The chunks that begin among a warp's positions of a sequence that is sorted by record.
#pragma once

#include <warden/detail/deterministic/combining_tree.cuh>
#include <warden/detail/deterministic/warp_search.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One chunk, and its place in the tree of its record.
struct chunk {
  std::uint32_t begin;         ///< position of its first section
  std::uint32_t end;           ///< position after its last section
  std::uint32_t record_begin;  ///< position of its record's first section
  std::uint32_t record_end;    ///< position after its record's last section

  /// True if the record has no other chunk.
  [[nodiscard]] WARDEN_DEVICE bool is_whole() const {
    return begin == record_begin && end == record_end;
  }
};

/// Shared memory of a warp that finds chunks among `Positions` positions at a time, or fewer.
template <unsigned Positions>
struct chunk_storage {
  static constexpr unsigned positions = Positions, size = positions + simt::warp_size;
  std::uint32_t begins[size];         ///< first position of each chunk
  std::uint32_t record_begins[size];  ///< first position of its record's sections
};

/// Finds the chunks that begin among at most `Positions` positions of a warp.
template <class Sorted, unsigned Positions>
class chunk_list {
  using storage = chunk_storage<Positions>;
  static constexpr unsigned lanes = simt::warp_size;
  /// Rows of `lanes` positions that hold all chunks, and the begin of the next one.
  static constexpr unsigned rows = Positions / lanes + 1;
  static_assert(Positions % lanes == 0);
  /// A chunk that begins at the warp's last position ends at most this much later.
  static_assert(chunk_sections <= lanes);

 public:
  /// Finds the chunks from position `first` to `end` - 1. Precondition: `first` is below `end` and
  /// the number of sections. Collective over the warp.
  WARDEN_DEVICE chunk_list(Sorted const& sorted, std::uint32_t first, std::uint32_t end,
                           storage& shared)
      : shared_{shared} {
    auto const* const keys = sorted.keys;
    std::uint32_t const n = sorted.n;
    if (end > n) end = n;
    std::uint32_t record_begin = sorted.record_begin(first);
    // All at once, because the loop waits for each row.
    std::uint32_t own[rows];
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      std::uint32_t const p = first + r * lanes + simt::lane_id();
      own[r] = p < n ? keys[p] : 0;
    }
    std::uint32_t last = first == 0 ? 0 : keys[first - 1];  // key of the position before a row
    unsigned listed = 0;
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      if (listed != 0 && ends(listed, end)) break;
      std::uint32_t const row = first + r * lanes, p = row + simt::lane_id();
      std::uint32_t const before =
          simt::shuffle(simt::full_warp, own[r], (simt::lane_id() + lanes - 1) % lanes);
      bool const is_first = p >= n || p == 0 || own[r] != (simt::lane_id() == 0 ? last : before);
      last = simt::shuffle(simt::full_warp, own[r], lanes - 1);
      unsigned const firsts = simt::ballot(simt::full_warp, is_first);
      unsigned const upto = firsts & (~0u >> (lanes - 1 - simt::lane_id()));
      std::uint32_t const own_begin =
          upto != 0 ? row + static_cast<unsigned>(simt::last_bit(upto)) : record_begin;
      if (firsts != 0) record_begin = row + static_cast<unsigned>(simt::last_bit(firsts));
      bool const begins = (p - own_begin) % chunk_sections == 0;  // mutation: tree-chunk
      unsigned const all = simt::ballot(simt::full_warp, begins);
      unsigned const place =
          listed + static_cast<unsigned>(simt::count_bits(all & ((1u << simt::lane_id()) - 1)));
      if (begins) {
        shared.begins[place] = p;
        shared.record_begins[place] = own_begin;
      }
      listed += static_cast<unsigned>(simt::count_bits(all));
      simt::sync_warp(simt::full_warp);
    }
    // Leaves the first chunk that begins later as the end of the last one.
    count_ = first_true(0, listed - 1, [&](std::uint32_t c) { return shared.begins[c] >= end; });
    if (count_ == 0) return;
    // If the record of the last chunk has a further one, its end is to be found.
    last_record_end_ = shared.begins[count_];
    if (shared.record_begins[count_] != last_record_end_)
      last_record_end_ = sorted.record_end(last_record_end_);
  }

  /// Returns the number of chunks; 0 if one that begins earlier covers all positions.
  [[nodiscard]] WARDEN_DEVICE unsigned count() const { return count_; }
  /// Returns chunk `c`.
  WARDEN_DEVICE chunk operator[](unsigned c) const {
    std::uint32_t const record_begin = shared_.record_begins[c];
    unsigned next = c + 1;
    chunk const found{shared_.begins[c], shared_.begins[next], record_begin, 0};
    while (next < count_ && shared_.record_begins[next] == record_begin) ++next;
    return {found.begin, found.end, record_begin,
            next < count_ ? shared_.begins[next] : last_record_end_};
  }

 private:
  /// True if the last of `listed` chunks begins at `end` or later.
  [[nodiscard]] WARDEN_DEVICE bool ends(unsigned listed, std::uint32_t end) const {
    return shared_.begins[listed - 1] >= end;
  }

  storage& shared_;
  unsigned count_;
  std::uint32_t last_record_end_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
