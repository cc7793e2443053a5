// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of record ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Reads all numbers of a file as ids from 0 on, in order of value. Blanks and commas separate
/// them; a comment is a line that begins with #. Throws std::runtime_error with the file's name.
std::vector<std::uint32_t> read_ids(std::string const& path);

}  // namespace bench
