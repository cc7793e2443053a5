// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads files of ratings.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <string>

namespace factorization {

/// Reads lines of user, item and rating, perhaps with a fourth field, such as a time, which is left
/// out. The first line of data says what stands between fields: `::`, a tab, a comma or spaces.
/// Lines that begin with # or % are comments; a first line whose first field begins with a letter
/// is a header. Users and items are numbers below 2^32 - 1, which may leave any out; ratings any
/// finite numbers. So MovieLens' files of every year are read, and tables of others.
///
/// A file that begins as Matrix Market has it is a matrix of integer or real numbers: row 1 is user
/// 1, column 1 is item 1, and the line of sizes must be right.
///
/// The file is read by chunks: memory is little more than the result's. Throws std::runtime_error
/// with the file's name, and the line's number, for anything else, and for a file without ratings.
rating_list read_ratings(std::string const& path);

}  // namespace factorization
