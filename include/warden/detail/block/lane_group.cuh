// SPDX-License-Identifier: Apache-2.0
/// @file
/// The lanes of a warp that run one critical section together, as the section sees them, and how
/// many a section takes.
#pragma once

#include <warden/simt/simt.cuh>

#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// `Lanes` adjacent lanes of a warp, a power of two up to 32, that run a section together. It is
/// the last argument of a section with `static constexpr unsigned group_size = Lanes;`.
///
/// Each lane calls the section, with the same payload and the same record. A write of one lane, to
/// the record or to other memory, is visible to another lane after a `sync` of both, and not
/// before. In between, lanes run in any order. Precondition: all lanes reach each collective member
/// below from one place of the source, and none returns from the section while another one is going
/// to call them. The simulated device reorders lanes, and ends the launch with both places if lanes
/// meet at different ones.
template <unsigned Lanes>
class lane_group {
  static_assert(Lanes != 0 && (Lanes & (Lanes - 1)) == 0 && Lanes <= simt::warp_size,
                "warden: a section's lanes are 1, 2, 4, 8, 16 or 32");
  using site = simt::site;

 public:
  /// Lanes of the group.
  static constexpr unsigned lanes = Lanes;

  /// Returns this lane's place in the group, below `Lanes`.
  [[nodiscard]] WARDEN_DEVICE unsigned lane() const { return simt::lane_id() & (Lanes - 1); }
  /// Returns the group's lanes as bits of a warp's mask, for CUDA's own warp functions.
  [[nodiscard]] WARDEN_DEVICE unsigned mask() const {
    if constexpr (Lanes == simt::warp_size) {
      return simt::full_warp;
    } else {
      return all_bits << first();
    }
  }

  /// Makes each lane's earlier writes visible to all lanes after it. Collective.
  WARDEN_DEVICE void sync(site where = site::current()) const {
    if constexpr (Lanes != 1) simt::group_sync(mask(), where);
  }
  /// Returns the lanes for which `value` is true: bit i is lane i of the group. Collective.
  [[nodiscard]] WARDEN_DEVICE unsigned ballot(bool value, site where = site::current()) const {
    if constexpr (Lanes == 1) {
      return value ? 1u : 0u;
    } else {
      return in_group(simt::group_ballot(mask(), value, where));
    }
  }
  /// True if `value` is true for any lane. Collective.
  [[nodiscard]] WARDEN_DEVICE bool any(bool value, site where = site::current()) const {
    return ballot(value, where) != 0;
  }
  /// True if `value` is true for all lanes. Collective.
  [[nodiscard]] WARDEN_DEVICE bool all(bool value, site where = site::current()) const {
    return ballot(value, where) == all_bits;
  }
  /// Returns the value of the group's lane `source`, below `Lanes`; 4 or 8 bytes. Collective.
  template <class T>
  [[nodiscard]] WARDEN_DEVICE T shuffle(T value, unsigned source,
                                        site where = site::current()) const {
    if constexpr (Lanes == 1) {
      return value;
    } else {
      return simt::group_shuffle(mask(), value, first() + (source & (Lanes - 1)), where);
    }
  }
  /// Returns the lanes that passed the same value as this one, with bits as in `ballot`; 4 or 8
  /// bytes. Collective.
  template <class T>
  [[nodiscard]] WARDEN_DEVICE unsigned match(T value, site where = site::current()) const {
    if constexpr (Lanes == 1) {
      return 1;
    } else {
      return in_group(simt::group_match(mask(), value, where));
    }
  }
  /// Combines all lanes' values by `operation`, and returns the result in every lane; 4 or 8 bytes.
  /// Precondition: `operation` is associative and commutative. Collective.
  template <class T, class Operation>
  [[nodiscard]] WARDEN_DEVICE T reduce(T value, Operation operation,
                                       site where = site::current()) const {
    WARDEN_UNROLL
    for (unsigned distance = Lanes / 2; distance != 0; distance /= 2)
      value = operation(value, shuffle(value, lane() ^ distance, where));
    return value;
  }

 private:
  static constexpr unsigned all_bits = Lanes == 32 ? simt::full_warp : (1u << Lanes % 32) - 1;
  /// Returns the group's first lane in the warp.
  WARDEN_DEVICE static unsigned first() { return simt::lane_id() & (simt::warp_size - Lanes); }
  WARDEN_DEVICE static unsigned in_group(unsigned bits) {
    if constexpr (Lanes == simt::warp_size) {
      return bits;
    } else {
      return bits >> first() & all_bits;
    }
  }
};

/// True if the section declares how many lanes of a warp run it, by `static constexpr unsigned
/// group_size`. It then gets a lane_group as an additional last argument.
template <class Section>
inline constexpr bool takes_group = requires {
  typename std::integral_constant<unsigned, Section::group_size>;
};

/// Number of lanes of a warp that run the section together: 1, 2, 4, 8, 16 or 32. 1 by default.
template <class Section>
inline constexpr unsigned group_size_of = [] {
  if constexpr (takes_group<Section>) {
    return lane_group<Section::group_size>::lanes;
  } else {
    return 1u;
  }
}();

WARDEN_NAMESPACE_END
