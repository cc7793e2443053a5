// SPDX-License-Identifier: Apache-2.0
/// @file
/// The lines of a file, read by large chunks, and the fields of a line.
#pragma once

#include "apps/support/progress.hpp"
#include "apps/text/numbers.hpp"
#include "apps/text/text_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// Returns true for characters that separate the fields of a line.
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Returns `text` without blanks around it.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Reads a file of any size with one chunk of it in memory, and shows the progress on a terminal.
class line_reader {
 public:
  /// Throws std::runtime_error as `text_file` does.
  explicit line_reader(std::string path);

  /// Sets `line` to the next line without its end, valid until the next call. Returns false after
  /// the last line. Throws std::runtime_error if reading fails, and for a line longer than a chunk.
  bool next(std::string_view& line) {
    for (;;) {
      void const* const found = std::memchr(begin_, '\n', static_cast<std::size_t>(end_ - begin_));
      char const* const stop = static_cast<char const*>(found);
      if (stop == nullptr && refill()) continue;
      if (stop == nullptr && begin_ == end_) return false;
      line = {begin_, static_cast<std::size_t>((stop != nullptr ? stop : end_) - begin_)};
      begin_ = stop != nullptr ? stop + 1 : end_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++number_;
      return true;
    }
  }
  /// Sets `line` to the next line that is neither blank nor a comment: a line whose first character
  /// after blanks is one of `marks`. Otherwise as `next`.
  bool next_data(std::string_view& line, std::string_view marks) {
    while (next(line)) {
      char const* first = line.data();
      char const* const end = first + line.size();
      while (first != end && is_blank(*first)) ++first;
      if (first == end) continue;
      bool is_comment = false;
      for (char const mark : marks) is_comment = is_comment || *first == mark;
      if (!is_comment) return true;
    }
    return false;
  }
  /// The line that `next` gave last, for errors.
  [[nodiscard]] text_place here() const { return {path(), number_}; }
  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// Size of the file in bytes; 0 if it is unknown, as for a pipe.
  [[nodiscard]] std::uint64_t bytes() const { return file_.bytes(); }
  /// Bytes of the lines that `next` has given.
  [[nodiscard]] std::uint64_t bytes_done() const {
    return file_.bytes_read() - static_cast<std::uint64_t>(end_ - begin_);
  }

  /// Returns the number of items to reserve memory for after `have` items: an estimate for the
  /// whole file by the part that was read.
  [[nodiscard]] std::uint64_t room_for(std::uint64_t have) const {
    constexpr std::uint64_t first = 1 << 16;  // before there is a part to estimate by
    auto const so_far = static_cast<double>(have);
    double const left = static_cast<double>(bytes()) / static_cast<double>(bytes_done());
    return std::max(first,
                    static_cast<std::uint64_t>(std::max(so_far * 1.02 * left, so_far * 1.25)));
  }

 private:
  /// Reads more text after the rest of the chunk. Returns false at the end of the file.
  bool refill();

  text_file file_;
  std::vector<char> chunk_;
  char const* begin_;  // begin of the text that is not returned yet
  char const* end_;
  std::size_t number_ = 0;
  progress progress_;
};

/// Fields of one line, from left to right, separated by blanks and tabs.
class line_fields {
 public:
  line_fields(std::string_view line, line_reader const& lines)
      : at_{line.data()}, end_{line.data() + line.size()}, lines_{lines} {}

  /// Returns true if no field is left.
  bool at_end() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
    return at_ == end_;
  }
  /// The next field; empty at the end.
  std::string_view word() {
    if (at_end()) return {};
    char const* const begin = at_;
    while (at_ != end_ && !is_blank(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  /// Returns the next field as a whole number from `least` to `most`; refuses others by the name
  /// `what`.
  std::uint64_t number(char const* what, std::uint64_t least, std::uint64_t most,
                       char const* remark = "") {
    if (auto const value = digits(least, most)) return *value;
    return whole_number(word(), what, {least, most, remark}, lines_.here());
  }
  /// Returns the next field if it is a number from `least` to `most` of up to 19 digits; otherwise
  /// nothing, and the field remains the next one.
  std::optional<std::uint64_t> digits(std::uint64_t least, std::uint64_t most) {
    if (at_end()) return std::nullopt;
    // std::from_chars takes three times as long. This many digits fit 64 bits.
    constexpr std::ptrdiff_t most_digits = 19;
    std::uint64_t value = 0;
    char const* stop = at_;
    for (; stop != end_ && is_digit(*stop); ++stop)
      value = 10 * value + static_cast<std::uint64_t>(*stop - '0');
    if (stop == at_ || stop - at_ > most_digits || (stop != end_ && !is_blank(*stop)) ||
        value < least || value > most)
      return std::nullopt;
    at_ = stop;
    return value;
  }
  /// Returns `text`, a field of the line, as a number; refuses others by the name `what`.
  double real(std::string_view text, char const* what) const {
    return real_number(text, what, lines_.here());
  }
  /// Passes over the next field; refuses a line without one by the name `what`.
  void skip(char const* what) {
    if (word().empty()) refuse(std::string{what} + " is missing");
  }
  /// Refuses a line with fields left.
  void finish() {
    if (!at_end()) refuse_rest();
  }
  [[noreturn]] void refuse(std::string const& what) const { lines_.here().refuse(what); }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  [[noreturn]] void refuse_rest();

  char const* at_;
  char const* end_;
  line_reader const& lines_;
};

/// Refuses a file whose number of items differs from the number that it announces.
inline void check_count(line_reader const& lines, std::uint64_t found, std::uint64_t announced,
                        char const* what) {
  if (found != announced) {
    lines.here().refuse("the file ends after " + std::to_string(found) + " of " +
                        std::to_string(announced) + " " + what);
  }
}

}  // namespace apps
