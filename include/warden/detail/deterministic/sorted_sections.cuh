// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections in the order of a stable sort by record: all of a run, or those of a bucket.
#pragma once

#include <warden/detail/deterministic/digit_sort.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/detail/deterministic/warp_search.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Keys, which tell records apart, and moved words in two arrays.
template <class Key>
struct key_arrays {
  Key const* keys;             ///< [n] sorted
  std::uint32_t const* words;  ///< [n]

  /// Returns the key of the section at a position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t p) const { return keys[p]; }
  /// Returns the word of the section at a position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t word(std::uint32_t p) const { return words[p]; }
};
/// Keys and moved words in one array.
struct key_pairs {
  moved_id const* sections;  ///< [n] sorted by key, which is in the place of the id

  /// Returns the key of the section at a position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t p) const { return sections[p].id; }
  /// Returns the word of the section at a position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t word(std::uint32_t p) const { return sections[p].word; }
};

/// Sorted sections.
template <class Keys>
struct sorted_sections : Keys {
  std::uint32_t n;         ///< sections
  std::uint32_t first_id;  ///< id of the record with key 0
  std::uint32_t before;    ///< position of the first section among all of the run
};

/// Sorted sections of a run. The bounds of a record are searched.
struct searched_sections : sorted_sections<key_arrays<std::uint32_t>> {
  /// Returns the first position of the record of position `p`. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin(std::uint32_t p) const {
    auto const is_of_record = [&, key = keys[p]](std::uint32_t at) { return keys[at] == key; };
    // Most records have few sections.
    std::uint32_t const near = p < simt::warp_size ? 0 : p - simt::warp_size;
    return is_of_record(near) ? first_true(0, near, is_of_record)
                              : first_true(near, p, is_of_record);
  }
  /// Returns the position after the record of position `p`. Collective over the warp.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end(std::uint32_t p) const {
    auto const is_later = [&, key = keys[p]](std::uint32_t at) {
      return at >= n || keys[at] != key;
    };
    std::uint32_t const near = n - p < simt::warp_size ? n : p + simt::warp_size;
    return is_later(near) ? first_true(p, near, is_later) : first_true(near, n, is_later);
  }
};

/// Sorted sections of a bucket. The sort has listed where records begin.
template <class Keys>
struct bucket_sections : sorted_sections<Keys> {
  std::uint32_t const* begins;  ///< [digits] first position of each key

  /// Returns the first position of the record of position `p`.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_begin(std::uint32_t p) const {
    return begins[this->key(p)];
  }
  /// Returns the position after the record of position `p`.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t record_end(std::uint32_t p) const {
    std::uint32_t const next = this->key(p) + 1;
    return next < digits ? begins[next] : this->n;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
