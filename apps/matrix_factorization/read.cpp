// SPDX-License-Identifier: Apache-2.0
// Reads lines of ratings with any of several separators.

#include "apps/matrix_factorization/read.hpp"

#include "apps/graph/occurrences.hpp"
#include "apps/text/matrix_market.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace factorization {

namespace {

constexpr std::uint64_t most_name = 0xfffffffe;

/// Returns the rating that `text` is.
float rating_of(std::string_view text, apps::text_place const& at) {
  double const value = apps::real_number(text, "rating", at);
  if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) {
    at.refuse("rating " + apps::shown(text) +
              " is not from -3.4e38 to 3.4e38, the limits of a float");
  }
  return static_cast<float>(value);
}

/// Returns the separator of the fields of such a line.
std::string_view separator_of(std::string_view line) {
  for (std::string_view const one : {"::", "\t", ","})
    if (line.find(one) != line.npos) return one;
  return " ";
}

/// The fields of one line, from left to right.
class fields {
 public:
  fields(std::string_view line, std::string_view separator, apps::text_place const& at)
      : left_{line}, separator_{separator}, at_{at} {}

  [[nodiscard]] bool at_end() const { return is_over_; }
  /// Returns the next field without blanks around it; empty at the end.
  std::string_view next() {
    std::size_t const end = std::min(left_.find(separator_), left_.size());
    std::string_view const field = apps::trimmed(left_.substr(0, end));
    is_over_ = end == left_.size();
    left_.remove_prefix(is_over_ ? end : end + separator_.size());
    // Several spaces count as one separator.
    if (separator_ == " ") left_ = apps::trimmed(left_);
    return field;
  }
  std::uint32_t name(char const* what) {
    return static_cast<std::uint32_t>(apps::whole_number(next(), what, {0, most_name}, at_));
  }
  float rating() { return rating_of(next(), at_); }
  /// Refuses a line with more than one field left.
  void finish() {
    if (at_end()) return;
    next();
    if (!at_end())
      at_.refuse("\"" + apps::shown(left_) + "\" is more than user, item, rating and time");
  }

 private:
  std::string_view left_, separator_;
  apps::text_place const& at_;
  bool is_over_ = false;
};

bool is_comment(std::string_view line) { return line[0] == '#' || line[0] == '%'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"'; }

/// Numbers `ids` from 0 on without gaps, in the order of their names; returns the names.
std::vector<std::uint32_t> number(std::vector<std::uint32_t>& ids) {
  graph::occurrences occurring{*std::max_element(ids.begin(), ids.end())};
  for (std::uint32_t const id : ids) occurring.add(id);
  std::uint64_t const count = occurring.rank();
  for (std::uint32_t& id : ids) id = occurring.below(id);
  return occurring.all(count);
}

/// Adds a rating. Reserves memory for the number of ratings that the file may have.
void add(rating_list& list, apps::line_reader const& lines, std::uint32_t user, std::uint32_t item,
         float value) {
  if (list.size() == list.value.capacity()) {
    std::uint64_t const room = lines.room_for(list.size());
    list.user.reserve(room);
    list.item.reserve(room);
    list.value.reserve(room);
  }
  list.add(user, item, value);
}

/// Reads the entries of a matrix, whose first line was `banner`.
rating_list read_matrix(apps::line_reader& lines, std::string_view banner) {
  auto const header = apps::read_matrix_header(lines, banner, "integer|real general", most_name);
  rating_list list;
  for_entries(lines, header, [&](std::uint32_t row, std::uint32_t column, auto& fields) {
    add(list, lines, row + 1, column + 1, rating_of(fields.word(), lines.here()));
  });
  return list;
}

/// Reads lines of user, item and rating, or a matrix if the first line says so.
rating_list read_lines(apps::line_reader& lines) {
  rating_list list;
  std::string_view line, separator;
  bool may_be_header = true;
  while (lines.next(line)) {
    line = apps::trimmed(line);
    if (line.empty()) continue;
    if (is_comment(line)) {
      if (list.size() == 0 && apps::is_matrix_banner(line)) return read_matrix(lines, line);
      continue;
    }
    if (separator.empty()) separator = separator_of(line);
    if (may_be_header && is_letter(line[0])) {
      may_be_header = false;
      continue;
    }
    may_be_header = false;
    apps::text_place const at = lines.here();
    fields all{line, separator, at};
    std::uint32_t const user = all.name("user"), item = all.name("item");
    float const value = all.rating();
    all.finish();
    add(list, lines, user, item, value);
  }
  return list;
}

}  // namespace

rating_list read_ratings(std::string const& path) {
  apps::line_reader lines{path};
  rating_list list = read_lines(lines);
  if (list.size() == 0) throw std::runtime_error{path + ": has no ratings"};
  list.user_names = number(list.user);
  list.item_names = number(list.item);
  list.users = static_cast<std::uint32_t>(list.user_names.size());
  list.items = static_cast<std::uint32_t>(list.item_names.size());
  return list;
}

}  // namespace factorization
