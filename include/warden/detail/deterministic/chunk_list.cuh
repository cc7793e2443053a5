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

/// Positions among which a warp finds chunks at a time.
inline constexpr unsigned chunk_positions = 4 * simt::warp_size;

/// Shared memory of a warp that finds chunks.
struct chunk_storage {
  static constexpr unsigned size = chunk_positions + simt::warp_size;
  std::uint32_t begins[size];         ///< first position of each chunk
  std::uint32_t record_begins[size];  ///< first position of its record's sections
};

/// Finds the chunks that begin among `chunk_positions` positions of a warp. `Key` is the type of
/// the numbers that tell records apart.
template <class Key>
class chunk_list {
  static constexpr unsigned lanes = simt::warp_size;
  /// A chunk that begins at the warp's last position ends at most this much later.
  static_assert(chunk_sections <= lanes);

 public:
  /// Finds the chunks from position `first` on. `keys` are [n] and sorted. Precondition: `first`
  /// is below `n`. Collective over the warp.
  WARDEN_DEVICE chunk_list(Key const* keys, std::uint32_t n, std::uint32_t first,
                           chunk_storage& shared)
      : shared_{shared} {
    std::uint32_t const end = n - first < chunk_positions ? n : first + chunk_positions;
    std::uint32_t record_begin = first_of_record(keys, first);
    unsigned listed = 0;
    for (std::uint32_t row = first; listed == 0 || !ends(listed, end); row += lanes) {
      std::uint32_t const p = row + simt::lane_id();
      bool const is_first = p >= n || p == 0 || keys[p] != keys[p - 1];
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
    if (shared.record_begins[count_] != last_record_end_) {
      last_record_end_ = first_true(
          last_record_end_, n,
          [&, key = keys[last_record_end_]](std::uint32_t p) { return p >= n || keys[p] != key; });
    }
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
  /// Returns the first position with the key of position `p`. Collective over the warp.
  WARDEN_DEVICE static std::uint32_t first_of_record(Key const* keys, std::uint32_t p) {
    auto const is_of_record = [&, key = keys[p]](std::uint32_t at) { return keys[at] == key; };
    // Most records have few sections.
    std::uint32_t const near = p < lanes ? 0 : p - lanes;
    return is_of_record(near) ? first_true(0, near, is_of_record)
                              : first_true(near, p, is_of_record);
  }
  /// True if the last of `listed` chunks begins at `end` or later.
  [[nodiscard]] WARDEN_DEVICE bool ends(unsigned listed, std::uint32_t end) const {
    return shared_.begins[listed - 1] >= end;
  }

  chunk_storage& shared_;
  unsigned count_;
  std::uint32_t last_record_end_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
