// SPDX-License-Identifier: Apache-2.0
// The header of the Matrix Market format.

#include "apps/text/matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace apps {

namespace {

std::string lower(std::string_view text) {
  std::string s{text};
  std::transform(s.begin(), s.end(), s.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

/// Returns true if `word` is in `list`, whose words are separated by bars.
bool is_one_of(std::string_view word, std::string_view list) {
  for (;;) {
    std::size_t const end = std::min(list.find('|'), list.size());
    if (list.substr(0, end) == word) return true;
    if (end == list.size()) return false;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

bool is_matrix_banner(std::string_view line) {
  std::string const first = lower(line.substr(0, std::min(line.find_first_of(" \t"), line.size())));
  return first == "%%matrixmarket" || first == "%matrixmarket";
}

matrix_header read_matrix_header(line_reader& lines, std::string_view banner,
                                 std::string const& accepted, std::uint64_t most) {
  std::string const form = "%%MatrixMarket matrix coordinate " + accepted;
  line_fields words{banner, lines};
  if (!is_matrix_banner(banner)) words.refuse("no header " + form);
  words.word();
  std::string const object = lower(words.word()), layout = lower(words.word()),
                    kind = lower(words.word()), symmetry = lower(words.word());
  std::size_t const kinds = accepted.find(' ');
  if (object != "matrix" || layout != "coordinate" ||
      !is_one_of(kind, std::string_view{accepted}.substr(0, kinds)) ||
      !is_one_of(symmetry, std::string_view{accepted}.substr(kinds + 1))) {
    std::string found = object;
    for (std::string const& word : {layout, kind, symmetry})
      found += (word.empty() ? "" : " ") + word;
    words.refuse("\"" + shown(found) + "\" is not read; what is: " + form);
  }
  words.finish();
  std::string_view line;
  if (!lines.next_data(line, matrix_comments))
    throw std::runtime_error{lines.path() + ": no line ROWS COLUMNS ENTRIES"};
  line_fields sizes{line, lines};
  matrix_header h{kind == "pattern", symmetry == "symmetric", 0, 0, 0};
  h.rows = sizes.number("the number of rows", 0, most);
  h.columns = sizes.number("the number of columns", 0, most);
  h.entries = sizes.number("the number of entries", 0, ~std::uint64_t{0});
  sizes.finish();
  return h;
}

}  // namespace apps
