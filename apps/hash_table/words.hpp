// SPDX-License-Identifier: Apache-2.0
/// @file
/// A text as words: where each begins and how long it is. Words are compared byte by byte, so two
/// words of one hash stay two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hash_table {

/// A piece of a text.
struct word {
  std::uint32_t offset;  ///< of its first byte
  std::uint32_t length;  ///< bytes
};

/// The bytes of a file. Throws std::runtime_error with its name, also when it is 4 GiB or larger.
std::string read_text(std::string const& path);

/// Runs of letters, digits, underscores and bytes above 127.
std::vector<word> words_of(std::string_view text);

/// The `column`-th field, from 1, of each line that is not empty and does not begin with # or %.
/// Fields lie between blanks, tabs or commas. Throws std::runtime_error with `path` and the number
/// of the first line that has too few.
std::vector<word> column_of(std::string_view text, unsigned column, std::string const& path);

/// How often each word occurs, the plain way.
std::unordered_map<std::string_view, std::uint64_t> count_sequentially(
    std::string_view text, std::vector<word> const& words);

}  // namespace hash_table
