// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads files of ratings.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <string>

namespace factorization {

/// Reads lines of user, item and rating, with an optional fourth field, such as a time, which is
/// ignored. The first line of data determines the separator: `::`, a tab, a comma or spaces. Lines
/// that begin with # or % are comments; a first line whose first field begins with a letter is a
/// header. Users and items are numbers below 2^32 - 1, with gaps allowed; ratings are finite
/// numbers. This covers the MovieLens files of every year and similar tables.
///
/// A file that begins as Matrix Market has it is a matrix of integer or real numbers: row 1 is user
/// 1, column 1 is item 1, and the line of sizes must be correct.
///
/// The file is read by chunks: memory use is slightly above the size of the result. Throws
/// std::runtime_error with the file's name, and the line's number, for anything else, and for a
/// file without ratings.
rating_list read_ratings(std::string const& path);

}  // namespace factorization
