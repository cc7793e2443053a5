// SPDX-License-Identifier: Apache-2.0
// Reading texts and cutting them into words.

#include "apps/hash_table/words.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace hash_table {

namespace {

constexpr std::string_view between_fields = " \t\r,";

std::array<bool, 256> make_word_bytes() {
  std::array<bool, 256> is{};
  for (unsigned c = 0; c < 256; ++c) {
    is[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '_' || c > 127;
  }
  return is;
}

word piece(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
}

/// The field within one line.
std::string_view field(std::string_view line, unsigned column) {
  std::size_t begin = line.find_first_not_of(between_fields);
  for (unsigned c = 1; begin != std::string_view::npos; ++c) {
    std::size_t const end = std::min(line.find_first_of(between_fields, begin), line.size());
    if (c == column) return line.substr(begin, end - begin);
    begin = line.find_first_not_of(between_fields, end);
  }
  return {};
}

}  // namespace

std::string read_text(std::string const& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error{path + ": cannot be read"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (in.bad()) throw std::runtime_error{path + ": cannot be read"};
  if (text.size() >= std::size_t{1} << 32) {
    throw std::runtime_error{path + ": " + std::to_string(text.size()) +
                             " bytes; the limit is 4294967295"};
  }
  return text;
}

std::vector<word> words_of(std::string_view text) {
  static std::array<bool, 256> const is_word_byte = make_word_bytes();
  auto const is = [&](std::size_t i) { return is_word_byte[static_cast<unsigned char>(text[i])]; };
  std::vector<word> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is(end)) ++end;
    if (end != i) words.push_back(piece(i, end));
    i = end + 1;
  }
  return words;
}

std::vector<word> column_of(std::string_view text, unsigned column, std::string const& path) {
  std::vector<word> words;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string_view const line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(between_fields) == std::string_view::npos || line[0] == '#' ||
        line[0] == '%')
      continue;
    std::string_view const found = field(line, column);
    if (found.empty()) {
      throw std::runtime_error{path + ":" + std::to_string(number) + ": no column " +
                               std::to_string(column)};
    }
    auto const offset = static_cast<std::size_t>(found.data() - text.data());
    words.push_back(piece(offset, offset + found.size()));
  }
  return words;
}

std::unordered_map<std::string_view, std::uint64_t> count_sequentially(
    std::string_view text, std::vector<word> const& words) {
  std::unordered_map<std::string_view, std::uint64_t> counts;
  for (word const& w : words) ++counts[text.substr(w.offset, w.length)];
  return counts;
}

}  // namespace hash_table
