// SPDX-License-Identifier: Apache-2.0
// Reading texts and cutting them into words.

#include "apps/hash_table/words.hpp"

#include "apps/text/line_reader.hpp"
#include "apps/text/text_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

namespace hash_table {

namespace {

/// Places in a text are counted by 32 bits.
constexpr std::size_t most_bytes = 0xffffffff;

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

/// Appends to a text that words are pieces of.
void append(std::string& text, std::string_view more, std::string const& path) {
  if (more.size() > most_bytes - text.size()) {
    throw std::runtime_error{path + ": more than " + std::to_string(most_bytes) +
                             " bytes to count; cut the file into smaller ones"};
  }
  text += more;
}

/// The `column`-th field of a line, if the line has as many.
std::optional<std::string_view> field(std::string_view line, unsigned column) {
  char const separator = line.find(',') != line.npos    ? ','
                         : line.find('\t') != line.npos ? '\t'
                                                        : ' ';
  if (separator == ' ') line = apps::trimmed(line);
  for (unsigned c = 1;; ++c) {
    std::size_t const end = std::min(line.find(separator), line.size());
    if (c == column) return apps::trimmed(line.substr(0, end));
    if (end == line.size()) return std::nullopt;
    line.remove_prefix(end + 1);
    if (separator == ' ') line = apps::trimmed(line);
  }
}

}  // namespace

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

word_list read_words(std::string const& path) {
  apps::text_file file{path};
  word_list list;
  list.text.reserve(std::min<std::size_t>(file.bytes(), most_bytes));
  std::vector<char> chunk(std::size_t{1} << 20);
  while (std::size_t const got = file.read(chunk.data(), chunk.size()))
    append(list.text, {chunk.data(), got}, path);
  list.words = words_of(list.text);
  return list;
}

word_list read_column(std::string const& path, unsigned column) {
  apps::line_reader lines{path};
  word_list list;
  std::string_view line;
  while (lines.next_data(line, "#%")) {
    auto const found = field(line, column);
    if (!found) lines.here().refuse("no column " + std::to_string(column));
    std::size_t const begin = list.text.size();
    append(list.text, *found, path);
    list.words.push_back(piece(begin, list.text.size()));
  }
  return list;
}

std::unordered_map<std::string_view, std::uint64_t> count_sequentially(
    std::string_view text, std::vector<word> const& words) {
  std::unordered_map<std::string_view, std::uint64_t> counts;
  for (word const& w : words) ++counts[text.substr(w.offset, w.length)];
  return counts;
}

}  // namespace hash_table
