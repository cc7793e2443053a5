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
  std::uint32_t offset;  ///< offset of its first byte
  std::uint32_t length;  ///< bytes
};

/// Words, and the text that they are pieces of.
struct word_list {
  std::string text;
  std::vector<word> words;
};

/// Runs of letters, digits, underscores and bytes above 127.
std::vector<word> words_of(std::string_view text);

/// Reads the words of a file. Throws std::runtime_error with its name, also for 4 GiB or more.
word_list read_words(std::string const& path);

/// Reads the `column`-th field, from 1, of each line that is neither blank nor a comment, which
/// begins with # or %. Commas separate the fields of a line; without commas tabs do, and without
/// tabs spaces, of which several are one separator. A field may be empty unless spaces separate it;
/// blanks around it are not part of it. Throws std::runtime_error as `read_words` does, and with
/// the number of the first line that has fewer fields.
word_list read_column(std::string const& path, unsigned column);

/// How often each word occurs, the plain way.
std::unordered_map<std::string_view, std::uint64_t> count_sequentially(
    std::string_view text, std::vector<word> const& words);

}  // namespace hash_table
