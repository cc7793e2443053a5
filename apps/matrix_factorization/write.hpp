// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes files of ratings.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"
#include "apps/support/output_file.hpp"

namespace factorization {

/// Writes and commits a file with one line per rating: user, item and value, separated by tabs.
/// Throws std::runtime_error with the file's name.
void write_ratings(rating_list const& list, apps::output_file& file);

}  // namespace factorization
