// SPDX-License-Identifier: Apache-2.0
// Reading files by chunks; what is wrong with a field.

#include "apps/graph/line_reader.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace graph {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

}  // namespace

line_reader::line_reader(std::string path)
    : file_{std::move(path)},
      bytes_{file_.bytes()},
      chunk_(chunk_bytes),
      begin_{chunk_.data()},
      end_{chunk_.data()},
      progress_{"reading " + this->path(), bytes_} {
  check_beginning();
}

void line_reader::check_beginning() {
  refill();
  std::string_view const text{begin_, static_cast<std::size_t>(end_ - begin_)};
  if (text.starts_with("\x1f\x8b") || text.starts_with("BZh") ||
      text.starts_with("\xfd"
                       "7zXZ")) {
    throw std::runtime_error{path() + ": is compressed; uncompress it first"};
  }
  if (text.starts_with("\xef\xbb\xbf")) begin_ += 3;  // a byte order mark
}

bool line_reader::refill() {
  auto const rest = static_cast<std::size_t>(end_ - begin_);
  if (rest == chunk_.size()) {
    apps::text_place{path(), number_ + 1}.refuse("is longer than " + std::to_string(rest) +
                                                 " bytes, the limit for a line");
  }
  std::memmove(chunk_.data(), begin_, rest);
  begin_ = chunk_.data();
  end_ = begin_ + rest;
  std::size_t const got = file_.read(chunk_.data() + rest, chunk_.size() - rest);
  end_ += got;
  bytes_read_ += got;
  progress_.advance_to(bytes_read_);
  return got != 0;
}

double line_fields::real(char const* what) {
  std::string_view const text = word();
  double value = 0;
  auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty()) refuse(std::string{what} + " is missing");
  if (stop != text.data() + text.size() || error == std::errc::invalid_argument ||
      std::isnan(value))
    refuse(std::string{what} + " \"" + apps::shown(text) + "\" is not a number");
  if (value < 0) refuse(std::string{what} + " " + apps::shown(text) + " is negative");
  // What is too large for a double is too large for every use.
  if (error == std::errc::result_out_of_range && text.find("e-") == text.npos) return HUGE_VAL;
  return value;
}

std::uint64_t line_fields::unusual_number(char const* what, std::uint64_t least, std::uint64_t most,
                                          char const* limit) {
  std::string_view const text = word();
  std::uint64_t const value = apps::whole_number(text, what, lines_.here());
  if (value < least || value > most) {
    refuse(std::string{what} + " " + apps::shown(text) + " is not from " + std::to_string(least) +
           " to " + std::to_string(most) + limit);
  }
  return value;
}

void line_fields::refuse_rest() {
  std::string_view const text{at_, static_cast<std::size_t>(end_ - at_)};
  refuse("\"" + apps::shown(text) + "\" is more than belongs in this line");
}

}  // namespace graph
