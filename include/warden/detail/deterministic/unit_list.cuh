// SPDX-License-Identifier: Apache-2.0
/// @file
/// The units that begin among a warp's positions of a sequence that is sorted by record:
/// neighbouring sections that a warp, or a group of lanes, combines.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Neighbouring sections of a record that a group or a warp combines, and their record.
struct unit {
  std::uint32_t begin;         ///< position of the first section
  std::uint32_t end;           ///< position after the last section
  std::uint32_t record_begin;  ///< position of the record's first section
  std::uint32_t record_end;    ///< position after the record's last section
};

/// Shared memory of a warp that finds units among `Positions` positions at a time, or fewer.
template <unsigned Positions>
struct unit_storage {
  static constexpr unsigned positions = Positions, size = positions + simt::warp_size;
  std::uint32_t begins[size];         ///< first position of each node
  std::uint32_t record_begins[size];  ///< first position of its record's sections
};

/// Finds the units of at most `Unit` sections that begin among at most `Positions` positions of a
/// warp, and lists their nodes of at most `Node` sections. Units and nodes are counted from the
/// first section of a record.
template <class Sorted, unsigned Positions, unsigned Unit, unsigned Node>
class unit_list {
  using storage = unit_storage<Positions>;
  static constexpr unsigned lanes = simt::warp_size, rows = Positions / lanes;
  static_assert(Positions % lanes == 0 && Unit % Node == 0 && Unit / Node <= lanes);

 public:
  /// Finds the units from position `first` to `end` - 1. Precondition: `first` is below `end` and
  /// the number of sections. Collective over the warp.
  WARDEN_DEVICE unit_list(Sorted const& sorted, std::uint32_t first, std::uint32_t end,
                          storage& shared)
      : shared_{shared} {
    if (end > sorted.n) end = sorted.n;
    std::uint32_t record_begin = sorted.record_begin(first);
    last_record_end_ = sorted.record_end(end - 1);
    // All at once, because the loop waits for each row.
    std::uint32_t own[rows];
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      std::uint32_t const p = first + r * lanes + simt::lane_id();
      own[r] = p < end ? sorted.key(p) : 0;
    }
    std::uint32_t last =
        first == 0 ? 0 : sorted.key(first - 1);  // key of the position before a row
    unsigned listed = 0;
    WARDEN_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      std::uint32_t const row = first + r * lanes, p = row + simt::lane_id();
      if (row >= end) break;
      std::uint32_t const before =
          simt::shuffle(simt::full_warp, own[r], (simt::lane_id() + lanes - 1) % lanes);
      bool const is_first = p == 0 || own[r] != (simt::lane_id() == 0 ? last : before);
      last = simt::shuffle(simt::full_warp, own[r], lanes - 1);
      unsigned const firsts = simt::ballot(simt::full_warp, is_first && p < end);
      unsigned const upto = firsts & (~0u >> (lanes - 1 - simt::lane_id()));
      std::uint32_t const own_begin =
          upto != 0 ? row + static_cast<unsigned>(simt::last_bit(upto)) : record_begin;
      if (firsts != 0) record_begin = row + static_cast<unsigned>(simt::last_bit(firsts));
      bool const begins = (p - own_begin) % Node == 0;  // mutation: tree-unit
      // Nodes of a unit that begins before are those of another warp.
      bool const is_listed = begins && p < end && unit_begin(p, own_begin) >= first;
      unsigned const all = simt::ballot(simt::full_warp, is_listed);
      unsigned const place =
          listed + static_cast<unsigned>(simt::count_bits(all & ((1u << simt::lane_id()) - 1)));
      if (is_listed) {
        shared.begins[place] = p;
        shared.record_begins[place] = own_begin;
      }
      listed += static_cast<unsigned>(simt::count_bits(all));
      simt::sync_warp(simt::full_warp);
    }
    count_ = listed;
    if (listed == 0) return;
    // The last unit may go on: each lane lists one of its further nodes, and one lane its end.
    std::uint32_t const begin = shared.begins[listed - 1], unit_end = [&] {
      std::uint32_t const full = unit_begin(begin, record_begin) + Unit;
      return full < last_record_end_ ? full : last_record_end_;
    }();
    unsigned const further = (unit_end - begin - 1) / Node;
    simt::sync_warp(simt::full_warp);
    if (simt::lane_id() < further) {
      shared.begins[listed + simt::lane_id()] = begin + (simt::lane_id() + 1) * Node;
      shared.record_begins[listed + simt::lane_id()] = record_begin;
    } else if (simt::lane_id() == further) {
      shared.begins[listed + further] = unit_end;
      shared.record_begins[listed + further] =
          unit_end == last_record_end_ ? unit_end : record_begin;
    }
    count_ = listed + further;
    simt::sync_warp(simt::full_warp);
  }

  /// Returns the number of nodes; 0 if a unit that begins earlier covers all positions.
  [[nodiscard]] WARDEN_DEVICE unsigned count() const { return count_; }
  /// Returns the first position of node `c`, at most `count()`. Those of the node before end there.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t begin(unsigned c) const { return shared_.begins[c]; }
  /// Returns the number of nodes of the same unit before node `c`, at most `count()`.
  [[nodiscard]] WARDEN_DEVICE unsigned number_in_unit(unsigned c) const {
    return (shared_.begins[c] - shared_.record_begins[c]) % Unit / Node;
  }
  /// True if nodes `c` to `next` - 1, which are a unit, are all nodes of a record.
  [[nodiscard]] WARDEN_DEVICE bool is_whole(unsigned c, unsigned next) const {
    return shared_.begins[c] == shared_.record_begins[c] &&
           shared_.begins[next] == shared_.record_begins[next];
  }
  /// Returns the unit of nodes `c` to `next` - 1.
  [[nodiscard]] WARDEN_DEVICE unit unit_of(unsigned c, unsigned next) const {
    std::uint32_t const record_begin = shared_.record_begins[c];
    unsigned low = next, high = count_;  // the next record's first node is among them
    while (low < high) {
      unsigned const middle = (low + high) / 2;
      if (shared_.record_begins[middle] == record_begin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return {shared_.begins[c], shared_.begins[next], record_begin,
            low < count_ ? shared_.begins[low] : last_record_end_};
  }

 private:
  /// Returns the first position of the unit of a position.
  WARDEN_DEVICE static std::uint32_t unit_begin(std::uint32_t p, std::uint32_t record_begin) {
    return p - (p - record_begin) % Unit;
  }

  storage& shared_;
  unsigned count_;
  std::uint32_t last_record_end_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
