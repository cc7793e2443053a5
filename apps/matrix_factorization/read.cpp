// SPDX-License-Identifier: Apache-2.0
// Lines of ratings, by whatever stands between their fields.

#include "apps/matrix_factorization/read.hpp"

#include "apps/graph/line_reader.hpp"
#include "apps/graph/occurrences.hpp"
#include "apps/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace factorization {

namespace {

constexpr std::uint64_t most_name = 0xfffffffe;

std::string_view trimmed(std::string_view text) {
  auto const is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// What stands between the fields of such a line.
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
  /// The next one, without blanks around it; empty at the end.
  std::string_view next() {
    std::size_t const end = std::min(left_.find(separator_), left_.size());
    std::string_view const field = trimmed(left_.substr(0, end));
    is_over_ = end == left_.size();
    left_.remove_prefix(is_over_ ? end : end + separator_.size());
    // Several spaces are as good as one.
    if (separator_ == " ") left_ = trimmed(left_);
    return field;
  }
  std::uint32_t name(char const* what) {
    std::string_view const text = next();
    std::uint64_t const value = apps::whole_number(text, what, at_);
    if (value > most_name) {
      at_.refuse(std::string{what} + " " + apps::shown(text) + " is not from 0 to " +
                 std::to_string(most_name));
    }
    return static_cast<std::uint32_t>(value);
  }
  float rating() {
    std::string_view const text = next();
    if (text.empty()) at_.refuse("the rating is missing");
    float value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || error == std::errc::invalid_argument ||
        !std::isfinite(value))
      at_.refuse("the rating \"" + apps::shown(text) + "\" is not a finite number");
    if (error == std::errc::result_out_of_range)
      at_.refuse("the rating " + apps::shown(text) + " does not fit 32 bits");
    return value;
  }
  /// Refuses more than one field that is left.
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

}  // namespace

rating_list read_ratings(std::string const& path) {
  graph::line_reader lines{path};
  rating_list list;
  std::string_view line, separator;
  bool may_be_header = true;
  while (lines.next(line)) {
    line = trimmed(line);
    if (line.empty() || is_comment(line)) continue;
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
    if (list.size() == list.value.capacity()) {
      std::uint64_t const room = lines.room_for(list.size());
      list.user.reserve(room);
      list.item.reserve(room);
      list.value.reserve(room);
    }
    list.add(user, item, value);
  }
  if (list.size() == 0) throw std::runtime_error{path + ": has no ratings"};
  list.user_names = number(list.user);
  list.item_names = number(list.item);
  list.users = static_cast<std::uint32_t>(list.user_names.size());
  list.items = static_cast<std::uint32_t>(list.item_names.size());
  return list;
}

}  // namespace factorization
