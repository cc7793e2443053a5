// SPDX-License-Identifier: Apache-2.0
/// @file
/// Source of a command's ratings: a file, or a generator.
#pragma once

#include "apps/matrix_factorization/planted.hpp"
#include "apps/matrix_factorization/read.hpp"
#include "apps/support/number_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace factorization {

/// A file's name, or a shape and a seed.
struct source {
  std::string path, planted;
  std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t> shape{0, 0, 0, 0};
  std::uint64_t seed = 1;

  /// Adds the options to a command. Without `takes_file`, only generated ratings are accepted.
  void add_to(CLI::App& command, bool takes_file) {
    auto* const one = command.add_option_group("ratings");
    if (takes_file)
      one->add_option("FILE", path, "lines of user, item and rating")->check(CLI::ExistingFile);
    one->add_option("--planted", planted, "ratings of that shape, made by the seed")
        ->check(CLI::IsMember(planted_names()));
    one->add_option("--shape", shape, "users, items, ratings, and those of the hottest item")
        ->delimiter(',')
        ->transform(apps::whole(0, std::numeric_limits<std::uint32_t>::max()));
    one->require_option(1);
    command.add_option("--seed", seed, "of all that is drawn")
        ->transform(apps::whole())
        ->capture_default_str();
  }
  /// Returns the ratings. Throws as read_ratings and planted_ratings.
  [[nodiscard]] rating_list ratings() const {
    if (!path.empty()) return read_ratings(path);
    if (!planted.empty()) return planted_ratings(planted_named(planted), seed);
    auto const& [users, items, ratings, hottest] = shape;
    return planted_ratings({users, items, ratings, hottest}, seed);
  }
  /// Returns the source's name for messages.
  [[nodiscard]] std::string name() const {
    return !path.empty() ? path : !planted.empty() ? planted : "planted ratings";
  }
};

}  // namespace factorization
