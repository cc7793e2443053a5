// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes files of ratings.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"

#include <string>

namespace factorization {

/// Writes a line of user, item and rating for each, with tabs between. Throws std::runtime_error
/// with the file's name.
void write_ratings(rating_list const& list, std::string const& path);

}  // namespace factorization
