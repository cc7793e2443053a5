// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of record ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Reads all numbers of a file and numbers the distinct values from 0 on, in order of value.
/// Returns these numbers as ids, in the order of the file. Blanks and commas separate numbers; a
/// comment is a line that begins with #. Throws std::runtime_error with the name of the file.
std::vector<std::uint32_t> read_ids(std::string const& path);

}  // namespace bench
