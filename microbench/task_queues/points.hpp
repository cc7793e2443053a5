// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark of task queues.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace task_queues {

/// The policies of warden::task_queue; the queue of [Kerbl 2018]; a fused launch whose sections
/// send sections, for trees with two children for each vertex.
inline std::vector<std::string> const arms{"central",  "per_block", "donating",
                                           "stealing", "broker",    "fused"};
/// Trees: each vertex has two children; or 1 of 8 vertices has 12, and the others have none.
inline std::vector<std::string> const trees{"balanced", "unbalanced"};
/// Costs of tasks: nothing but counting; 64 steps each; 32 steps each, and 2,080 for 1 of 64 tasks.
inline std::vector<std::string> const costs{"none", "even", "uneven"};

/// Each of `threads` threads pushes a task of 4 bytes and pops one, again and again. An operation
/// is a push or a pop.
std::shared_ptr<bench::point> make_pairs_point(std::uint32_t threads);
/// Runs a tree of `tasks` tasks of 4 bytes, from its root. An operation is a task.
std::shared_ptr<bench::point> make_tree_point(std::string const& tree, std::string const& cost,
                                              std::uint32_t tasks);
/// Counts the ways to place n queens. A task places a queen, and a thread alone solves a board with
/// `rows_alone` rows left. An operation is a solution.
std::shared_ptr<bench::point> make_queens_point(std::uint32_t queens, std::uint32_t rows_alone);

}  // namespace task_queues
