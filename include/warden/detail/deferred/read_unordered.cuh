// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads a record that other threads may be changing.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns a copy of a record. Each member of 4 or 8 bytes that is aligned to its size is read as a
/// whole, and has a value that it had at some time. Members may be of different times. Only members
/// that the caller uses are loaded, unless it indexes an array of them at run time.
template <class Record>
WARDEN_DEVICE Record read_unordered(Record const* record) {
  static_assert(alignof(Record) >= 4,
                "warden: send_if reads whole words: align the record to at least 4 bytes");
  using word = std::conditional_t<alignof(Record) % 8 == 0, std::uint64_t, std::uint32_t>;
  constexpr std::size_t count = sizeof(Record) / sizeof(word);
  struct {
    word at[count];
  } words;
  auto const* const from = reinterpret_cast<word const*>(record);
  // Not by a loop: the compiler then leaves out the words that are not used.
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((words.at[I] = simt::load_unordered(from + I)), ...);
  }
  (std::make_index_sequence<count>{});
  return __builtin_bit_cast(Record, words);
}

}  // namespace detail
WARDEN_NAMESPACE_END
