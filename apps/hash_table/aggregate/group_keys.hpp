// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers the keys of groups in the order in which they occur.
#pragma once

#include "apps/hash_table/aggregate/bounded_memory.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hash_table {

/// True for a whole number without plus sign and leading zeros, of any length: two that differ as
/// texts differ as numbers.
bool is_plain_integer(std::string_view text);

/// Compares two numbers of which `is_plain_integer` is true.
std::strong_ordering compare_integers(std::string_view a, std::string_view b);

/// Keys of one or more fields, each with a number from 0 on, in bounded memory. An empty field is a
/// key of its own.
class group_keys {
 public:
  /// Key of a group, and its number.
  using entry = std::pair<std::pmr::string const, std::uint32_t>;

  /// Keys have `columns` fields and take at most `bytes` bytes.
  group_keys(std::size_t columns, std::size_t bytes);
  group_keys(group_keys const&) = delete;
  group_keys& operator=(group_keys const&) = delete;

  /// Returns the number of the group with these fields. Throws memory_full, and keeps all groups,
  /// if it is new and there is no room.
  std::uint32_t number_of(std::span<std::string_view const> fields);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }

  /// Sorts the groups by their fields, first field first. An empty field comes first. Fields are
  /// compared as numbers if all keys have plain integers in that column, otherwise byte by byte.
  void sort();
  /// Returns all groups, in the order of their numbers before `sort`.
  [[nodiscard]] std::span<entry const* const> entries() const { return entries_; }
  /// Sets `fields` to those of a group's key.
  void split(std::string_view key, std::vector<std::string_view>& fields) const;

 private:
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  bounded_memory memory_;
  std::pmr::unordered_map<std::pmr::string, std::uint32_t, hash, std::equal_to<>> numbers_;
  std::pmr::vector<entry const*> entries_;
  std::string key_;  // argument of the last call
  std::vector<bool> is_integer_;
};

}  // namespace hash_table
