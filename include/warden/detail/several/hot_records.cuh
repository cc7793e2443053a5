// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hot records of a run, and the blocks that own them.
///
/// A record that many sections access is hot. Hot records that one section joins are a group. One
/// block owns the records of a group: it has them in its shared memory, and runs all sections on
/// them. So a hot record goes from section to section within a block.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Blocks that may own records, at most: a section has one byte for its owner.
inline constexpr unsigned most_owners = 128;
/// Sections of a tile, which the warps of an owner look through together.
inline constexpr std::uint32_t owner_tile = 16 * simt::warp_size;
/// Hot records of a run, at most.
inline constexpr std::uint32_t most_hot_records = 1u << 15;
/// Sections that a block runs in the time in which a record without an owner goes from one section
/// to the next. A group with more sections for each write of its hottest record has no owner,
/// because many blocks run it sooner.
inline constexpr std::uint32_t sections_per_hand_over = 16;
/// Sections that all blocks run in the time in which a record without an owner goes from one
/// section to the next, if none waits.
inline constexpr std::uint32_t sections_per_access = 400;
/// A hot record must have a write for each 4 of the accesses that it must have. Other records are
/// mostly read, and readers share a record in any case.
inline constexpr std::uint32_t accesses_per_write = 4;
/// Shared memory of a block that owns records. Units: bytes.
inline constexpr std::size_t owner_bytes = std::size_t{48} << 10;

/// A record that may be hot. One record of a group is its root, and has what belongs to the group.
struct owned_record {
  std::uint32_t id;        ///< number among the records of all arrays
  std::uint32_t first;     ///< place of the first access
  std::uint32_t parent;    ///< number of a record of the group; the root has its own, the least one
  std::uint32_t place;     ///< number in the memory of the owner
  std::uint32_t owner;     ///< block that owns the record, plus 1; 0 if there is none
  std::uint32_t sections;  ///< sections whose first hot record it is; of a root: of the group
  std::uint32_t writes;    ///< most writes of one record of a root's group
  std::uint32_t count;     ///< records of a root's group
  std::uint32_t placed;    ///< where the next record of a root's group has its place
};

/// Hot records, and the owners of the sections that access them.
struct owned_records {
  owned_record* records;   ///< [number]
  std::uint64_t* owners;   ///< bytes, [section]: block that runs it, plus 1; 0: any block
  std::uint32_t* in_use;   ///< [block] records that a block owns
  std::uint32_t least;     ///< accesses of a hot record, at least; 0 if no record is hot
  std::uint32_t blocks;    ///< blocks that may own records
  std::uint32_t capacity;  ///< records that a block can own

  /// Returns the owner of a section, plus 1.
  [[nodiscard]] WARDEN_DEVICE std::uint8_t& owner_of(std::uint32_t section) const {
    return reinterpret_cast<std::uint8_t*>(owners)[section];
  }
};

/// Returns the number of the root of a group. Other threads may join groups at the same time, so
/// the root may have become an inner record. Parents have lower numbers, so the search ends.
WARDEN_DEVICE std::uint32_t root_of(owned_record* records, std::uint32_t number) {
  std::uint32_t parent = simt::load_relaxed(&records[number].parent);
  while (parent != number) {
    std::uint32_t const next = simt::load_relaxed(&records[parent].parent);
    // Shortens the way. The new parent is in the same group, and lower.
    if (next != parent) simt::store_relaxed(&records[number].parent, next);
    number = parent;
    parent = next;
  }
  return number;
}
/// Joins the groups of two records.
WARDEN_DEVICE void join(owned_record* records, std::uint32_t one, std::uint32_t other) {
  for (;;) {
    one = root_of(records, one);
    other = root_of(records, other);
    if (one == other) return;
    std::uint32_t const lower = one < other ? one : other, upper = one < other ? other : one;
    if (simt::compare_exchange(&records[upper].parent, upper, lower) == upper) return;
  }
}

/// True if these are enough writes for a hot record, which has at least `least` accesses.
WARDEN_DEVICE bool is_written(std::uint32_t writes, std::uint32_t least) {
  return std::uint64_t{writes} * accesses_per_write >= least;
}
/// True if a record that may be hot has enough accesses and writes. `turn` is one of its accesses.
///
/// Without owners a record holds up the run only if its accesses, one after another, take longer
/// than all blocks need for all sections. If most sections access hot records, all of these are
/// worth an owner. If few do, most sections that an owner runs wait for records that other blocks
/// have, and others wait for them. Then only the hottest records are, for which a run waits
/// longest.
template <class Arguments, class Turn>
WARDEN_DEVICE bool is_worth_an_owner(Arguments const& a, Turn const& turn) {
  auto const& c = *a.control;
  if (c.hottest < a.count() / sections_per_access) return false;
  std::uint32_t least = a.owned.least;
  if (c.hot_accesses < a.count() / 2 && c.hottest / 2 > least) least = c.hottest / 2;
  std::uint32_t const* const of = a.marks + turn.place();
  return of[2] >= least && is_written(of[1], least);
}

/// Joins the hot records that sections access. One thread for each section.
template <unsigned Most, class Arguments>
WARDEN_KERNEL void join_hot_records(Arguments a) {
  if (!a.has_records() || a.control->hot_records == 0) return;
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.count()) return;
  constexpr std::uint32_t none = ~0u;
  std::uint32_t first = none;
  for (unsigned s = 0; s < a.named[i].count; ++s) {
    auto const turn = a.turns[i * Most + s];
    if (!turn.is_hot() || !is_worth_an_owner(a, turn)) continue;
    std::uint32_t const number = a.marks[turn.place()];
    if (first == none) {
      first = number;
    } else {
      join(a.owned.records, first, number);  // mutation: several-join
    }
  }
  if (first != none) simt::add(&a.owned.records[first].sections, 1u);
}
/// Gives a group to a block that has room for its records.
template <class Arguments>
WARDEN_DEVICE void find_owner(Arguments const& a, owned_record& root) {
  owned_records const& o = a.owned;
  std::uint32_t const start = simt::fetch_add(&a.control->groups, 1u);
  for (std::uint32_t tries = 0; tries < o.blocks; ++tries) {
    std::uint32_t const block = (start + tries) % o.blocks;
    std::uint32_t const begin = simt::fetch_add(&o.in_use[block], root.count);
    if (begin + root.count <= o.capacity) {
      root.placed = begin;
      root.owner = block + 1;
      simt::fetch_max(&a.control->owners, block + 1);
      return;
    }
    simt::fetch_add(&o.in_use[block], 0u - root.count);
  }
}
/// Gives the groups to blocks. One block.
template <class Arguments>
WARDEN_KERNEL void place_hot_records(Arguments a) {
  if (!a.has_records()) return;
  owned_records const& o = a.owned;
  std::uint32_t const n = a.control->hot_records;
  auto const for_each = [&](auto const& visit) {
    for (std::uint32_t k = simt::thread_rank(); k < n; k += simt::block_threads())
      visit(k, o.records[k]);
    simt::sync_block();
  };
  if (n == 0) return;
  for (std::uint32_t b = simt::thread_rank(); b < o.blocks; b += simt::block_threads())
    o.in_use[b] = 0;
  for_each([&](std::uint32_t k, owned_record& record) {
    owned_record& root = o.records[root_of(o.records, k)];
    if (&root != &record) simt::add(&root.sections, record.sections);
    simt::fetch_max(&root.writes, a.marks[record.first + 1]);
    simt::add(&root.count, 1u);
  });
  for_each([&](std::uint32_t k, owned_record& root) {
    if (root.parent != k || root.count > o.capacity || root.sections == 0) return;
    if (root.sections / sections_per_hand_over <= root.writes) find_owner(a, root);
  });
  for_each([&](std::uint32_t k, owned_record& record) {
    owned_record& root = o.records[root_of(o.records, k)];
    if (root.owner == 0) return;
    if (&root != &record) record.owner = root.owner;
    record.place = simt::fetch_add(&root.placed, 1u);
  });
}
/// Notes the owner of each section, and where the owner has its records. One thread for each
/// section.
template <unsigned Most, class Arguments>
WARDEN_KERNEL void own_sections(Arguments a) {
  if (!a.has_records() || a.control->hot_records == 0) return;
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.count()) return;
  std::uint32_t owner = 0;
  for (unsigned s = 0; s < a.named[i].count; ++s) {
    auto& turn = a.turns[i * Most + s];
    if (!turn.is_hot()) continue;
    owned_record const& record = a.owned.records[a.marks[turn.place()]];
    if (record.owner == 0) {
      turn.counter = turn.place();
    } else {
      owner = record.owner;
      turn.counter = record.place | turn.hot_bit;
    }
  }
  a.owned.owner_of(i) = static_cast<std::uint8_t>(owner);
}

}  // namespace detail
WARDEN_NAMESPACE_END
