// SPDX-License-Identifier: Apache-2.0
/// @file
/// The lines of a file, read by large chunks, and the fields of a line.
#pragma once

#include "apps/graph/file.hpp"
#include "apps/support/progress.hpp"
#include "apps/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace graph {

/// Reads a file of any size with one chunk of it in memory, and shows on a terminal how far it is.
class line_reader {
 public:
  /// Throws std::runtime_error with the file's name when it cannot be opened, and when it is
  /// compressed.
  explicit line_reader(std::string path);

  /// The next line without its end, which may be a line feed with a carriage return before it;
  /// valid until the next call. False behind the last one. Throws std::runtime_error when reading
  /// fails, and for a line longer than a chunk.
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
  /// The line that `next` gave last, for errors.
  [[nodiscard]] apps::text_place here() const { return {path(), number_}; }
  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// Bytes of the file; 0 if that is unknown, as for a pipe.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Bytes of the lines that `next` has given.
  [[nodiscard]] std::uint64_t bytes_done() const {
    return bytes_read_ - static_cast<std::uint64_t>(end_ - begin_);
  }

  /// How many things to have room for, with room for `have` used up: as many as the file holds if
  /// it goes on as it began.
  [[nodiscard]] std::uint64_t room_for(std::uint64_t have) const {
    constexpr std::uint64_t first = 1 << 16;  // before there is anything to judge by
    auto const so_far = static_cast<double>(have);
    double const left = static_cast<double>(bytes_) / static_cast<double>(bytes_done());
    return std::max(first,
                    static_cast<std::uint64_t>(std::max(so_far * 1.02 * left, so_far * 1.25)));
  }

 private:
  /// Makes the rest of the chunk longer; false at the end of the file.
  bool refill();
  void check_beginning();

  input_file file_;
  std::uint64_t bytes_ = 0, bytes_read_ = 0;
  std::vector<char> chunk_;
  char const* begin_;  // of what is not given yet
  char const* end_;
  std::size_t number_ = 0;
  apps::progress progress_;
};

/// The fields of one line, from left to right; blanks and tabs lie between them.
class line_fields {
 public:
  line_fields(std::string_view line, line_reader const& lines)
      : at_{line.data()}, end_{line.data() + line.size()}, lines_{lines} {}

  /// Whether there is nothing more.
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
  /// The next field as a whole number from `least` to `most`; refuses others by the name `what`.
  std::uint64_t number(char const* what, std::uint64_t least, std::uint64_t most,
                       char const* limit = "") {
    if (!at_end()) {
      // std::from_chars takes three times as long. So many digits fit 64 bits.
      constexpr std::ptrdiff_t digits = 19;
      std::uint64_t value = 0;
      char const* stop = at_;
      for (; stop != end_ && is_digit(*stop); ++stop)
        value = 10 * value + static_cast<std::uint64_t>(*stop - '0');
      if (stop != at_ && stop - at_ <= digits && (stop == end_ || is_blank(*stop)) &&
          value >= least && value <= most) {
        at_ = stop;
        return value;
      }
    }
    return unusual_number(what, least, most, limit);
  }
  /// The next field as a number, not negative.
  double real(char const* what);
  /// Refuses anything that is left.
  void finish() {
    if (!at_end()) refuse_rest();
  }
  [[noreturn]] void refuse(std::string const& what) const { lines_.here().refuse(what); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  /// Refuses the next field, unless it is just long.
  std::uint64_t unusual_number(char const* what, std::uint64_t least, std::uint64_t most,
                               char const* limit);
  [[noreturn]] void refuse_rest();

  char const* at_;
  char const* end_;
  line_reader const& lines_;
};

}  // namespace graph
