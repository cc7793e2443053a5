// SPDX-License-Identifier: Apache-2.0
/// @file
/// Command hash_table aggregate.
#pragma once

#include "apps/hash_table/aggregate/query.hpp"

#include <CLI/CLI.hpp>

namespace hash_table {

/// Adds the subcommand `aggregate`, which parses into `o`.
CLI::App* add_aggregate(CLI::App& app, aggregate_options& o);

/// Runs the subcommand. Returns the exit code. Throws what went wrong.
int run_aggregate(aggregate_options const& o);

}  // namespace hash_table
