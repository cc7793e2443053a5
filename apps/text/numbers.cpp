// SPDX-License-Identifier: Apache-2.0
// Numbers by std::from_chars, without blanks or a plus sign before them.

#include "apps/text/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace apps {

namespace {

/// `text` without the plus sign that it may begin with.
std::string_view without_plus(std::string_view text) {
  bool const has_plus = text.starts_with('+') && !text.substr(1).starts_with('-');
  return text.substr(has_plus ? 1 : 0);
}

}  // namespace

std::uint64_t whole_number(std::string_view text, std::string_view what,
                           number_limits const& limits, text_place const& at) {
  auto const refuse = [&](std::string const& why) { at.refuse(std::string{what} + why); };
  if (text.empty()) refuse(" is missing");
  bool const negative = text[0] == '-';
  std::string_view const digits = negative ? text.substr(1) : without_plus(text);
  std::uint64_t value = 0;
  auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (stop != digits.data() + digits.size() || error == std::errc::invalid_argument)
    refuse(" \"" + shown(text) + "\" is not a whole number");
  if (negative) refuse(" " + shown(text) + " is negative");
  if (error != std::errc{} || value < limits.least || value > limits.most) {
    refuse(" " + shown(text) + " is not from " + std::to_string(limits.least) + " to " +
           std::to_string(limits.most) + std::string{limits.remark});
  }
  return value;
}

double real_number(std::string_view text, std::string_view what, text_place const& at) {
  if (text.empty()) at.refuse(std::string{what} + " is missing");
  std::string_view const digits = without_plus(text);
  double value = 0;
  auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (stop != digits.data() + digits.size() || error == std::errc::invalid_argument ||
      std::isnan(value))
    at.refuse(std::string{what} + " \"" + shown(text) + "\" is not a number");
  // Only the C library tells too large from too small.
  if (error != std::errc{}) return std::strtod(std::string{digits}.c_str(), nullptr);
  return value;
}

}  // namespace apps
