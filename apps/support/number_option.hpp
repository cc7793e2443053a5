// SPDX-License-Identifier: Apache-2.0
/// @file
/// Options that are whole numbers: CLI11's conversion takes -1 for the largest number, and 010
/// for 8.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace apps {

/// For `transform`: refuses what is not a whole number from `least` to `most` in decimal digits,
/// and takes leading zeros away.
inline CLI::Validator whole(std::uint64_t least = 0,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return {[least, most](std::string& text) -> std::string {
            std::uint64_t value = 0;
            char const* const end = text.data() + text.size();
            auto const [stop, error] = std::from_chars(text.data(), end, value);
            if (stop != end || error != std::errc{} || value < least || value > most) {
              return text + " is not a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most);
            }
            text = std::to_string(value);
            return {};
          },
          "UINT"};
}

}  // namespace apps
