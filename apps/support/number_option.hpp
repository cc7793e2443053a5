// SPDX-License-Identifier: Apache-2.0
/// @file
/// Validators of options and arguments that are numbers. Each such option needs one, because
/// CLI11's own conversion takes -1 for the largest number, 010 for 8, 0x10 for 16 and nan for a
/// number.
#pragma once

#include <CLI/CLI.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace apps {

/// Returns true if all of `text` is a number in decimal digits, without a plus sign, that `value`
/// can hold.
template <class Number>
bool is_decimal(std::string const& text, Number& value) {
  char const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  return stop == end && error == std::errc{};
}

/// A number without an exponent.
inline std::string digits_of(double value) {
  std::array<char, 64> text;
  char* const end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, value, std::chars_format::fixed).ptr};
}

/// For `transform`: accepts only whole numbers from `least` to `most` in decimal digits, and
/// removes leading zeros.
inline CLI::Validator whole(std::uint64_t least = 0,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return {[least, most](std::string& text) -> std::string {
            std::uint64_t value = 0;
            if (!is_decimal(text, value) || value < least || value > most) {
              return text + " is not a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most);
            }
            text = std::to_string(value);
            return {};
          },
          "UINT"};
}

/// For `transform`: accepts only numbers from `least` to `most` in decimal digits, with or without
/// a fraction and an exponent.
inline CLI::Validator real(double least, double most) {
  return {[least, most](std::string& text) -> std::string {
            double value = 0;
            // Also false for nan.
            if (is_decimal(text, value) && value >= least && value <= most) return {};
            return text + " is not a number from " + digits_of(least) + " to " + digits_of(most);
          },
          "FLOAT"};
}

}  // namespace apps
