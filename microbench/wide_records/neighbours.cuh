// SPDX-License-Identifier: Apache-2.0
// A list of nearest neighbours, which the construction of a neighbour graph protects by one lock
// per node. Sections insert neighbours in order, without duplicates.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/section.cuh>

#include <cstdint>

namespace wide_records {

namespace simt = warden::simt;

/// Record of 256 bytes: the nearest neighbours up to now, sorted by distance and then by id. A
/// distance is the bit pattern of a non-negative float, which has the order of the float.
struct alignas(16) neighbour_list {
  static constexpr unsigned size = 32;
  std::uint32_t ids[size];
  std::uint32_t distances[size];

  /// Id of a place without a neighbour.
  static constexpr std::uint32_t none = ~0u;
};

/// Inserts a candidate, unless the list has it or is full of nearer neighbours.
struct candidate {
  static constexpr bool reads_other_memory = false;
  std::uint32_t id, distance;

  WARDEN_HOST_DEVICE bool is_after(std::uint32_t other_id, std::uint32_t other_distance) const {
    // One comparison of 64 bits needs no branch.
    return order(other_id, other_distance) < order(id, distance);
  }

 protected:
  /// True if the list is full of nearer neighbours.
  __device__ bool is_after_all(neighbour_list const& list) const {
    constexpr unsigned last = neighbour_list::size - 1;
    return is_after(list.ids[last], list.distances[last]);
  }

 private:
  WARDEN_HOST_DEVICE static std::uint64_t order(std::uint32_t id, std::uint32_t distance) {
    return std::uint64_t{distance} << 32 | id;
  }
};
/// Insertion by one thread: a binary search, then the later neighbours move up by one place.
struct insert_alone : candidate {
  __device__ void operator()(neighbour_list& list) const {
    if (is_after_all(list)) return;
    unsigned place = 0;
    WARDEN_UNROLL
    for (unsigned step = neighbour_list::size / 2; step != 0; step /= 2) {
      if (is_after(list.ids[place + step - 1], list.distances[place + step - 1])) place += step;
    }
    if (list.ids[place] == id && list.distances[place] == distance) return;
    for (unsigned k = neighbour_list::size - 1; k > place; --k) {
      list.ids[k] = list.ids[k - 1];
      list.distances[k] = list.distances[k - 1];
    }
    list.ids[place] = id;
    list.distances[place] = distance;
  }
};
/// Insertion by `Lanes` lanes: each lane has every `Lanes`-th place. Candidates that a full list
/// rejects are no-op sections.
template <unsigned Lanes>
struct insert_together : candidate {
  static constexpr unsigned group_size = Lanes;

  /// False for a list that has the candidate already, because the search costs more than it saves.
  __device__ bool is_noop(neighbour_list const& list) const { return is_after_all(list); }
  /// True if the list will never take the candidate. Other threads may change the list
  /// concurrently, but its last distance only decreases. Equal distances are left to the section,
  /// because the id may have been read at another time.
  __device__ bool never_changes(neighbour_list const& list) const {
    return distance > simt::load_relaxed(&list.distances[neighbour_list::size - 1]);
  }
  __device__ void operator()(neighbour_list& list, warden::lane_group<Lanes> const& group) const {
    constexpr unsigned each = neighbour_list::size / Lanes;
    std::uint32_t ids[each], distances[each];
    WARDEN_UNROLL
    for (unsigned e = 0; e < each; ++e) {
      ids[e] = list.ids[e * Lanes + group.lane()];
      distances[e] = list.distances[e * Lanes + group.lane()];
    }
    unsigned place = 0;
    bool is_there = false;
    WARDEN_UNROLL
    for (unsigned e = 0; e < each; ++e) {
      place +=
          static_cast<unsigned>(simt::count_bits(group.ballot(is_after(ids[e], distances[e]))));
      is_there = is_there || (ids[e] == id && distances[e] == distance);
    }
    if (place == neighbour_list::size || group.any(is_there)) return;
    std::uint32_t id_before = id, distance_before = distance;
    WARDEN_UNROLL
    for (unsigned e = 0; e < each; ++e) {
      // For lane 0, the previous place is that of the last lane in the previous step.
      unsigned const source = group.lane() + Lanes - 1;
      std::uint32_t const from_id = group.shuffle(ids[e], source);
      std::uint32_t const from_distance = group.shuffle(distances[e], source);
      unsigned const k = e * Lanes + group.lane();
      bool const is_first = group.lane() == 0;
      if (k >= place) {
        list.ids[k] = k == place ? id : is_first ? id_before : from_id;
        list.distances[k] = k == place ? distance : is_first ? distance_before : from_distance;
      }
      id_before = from_id, distance_before = from_distance;
    }
  }
};

/// Makes the candidate of operation i, one of 4,096, so that hot lists get each candidate many
/// times.
template <class Section>
struct make_candidate {
  __device__ Section operator()(std::uint32_t i) const {
    auto const id = static_cast<std::uint32_t>(bench::mix(i, 11) & 4095);
    return {{id, static_cast<std::uint32_t>(bench::mix(id, 13) >> 40)}};
  }
};

}  // namespace wide_records
