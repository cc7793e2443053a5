// SPDX-License-Identifier: Apache-2.0
/// @file
/// Random level graphs of the first DIMACS challenge (washington.c, function 2): flow networks that
/// go from column to column.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <cstdint>

namespace graph {

struct washington_options {
  std::uint64_t rows = 64, columns = 64;  ///< at least 3 and 2
  weight largest_capacity = 10000;        ///< 1 to a third of most_weight
  std::uint64_t seed = 1;
};

/// Directed. Each vertex of a column has three arcs to different vertices of the next one,
/// capacities uniform from 1 to the largest. The source, vertex 0, has arcs to all of the first
/// column, and all of the last one have arcs to the sink, the last vertex: of three times the
/// largest capacity. Between them vertex (row, column) has the number 1 + column * rows + row.
class washington {
 public:
  static constexpr bool directed = true;

  /// Throws std::invalid_argument with the value and its limits.
  explicit washington(washington_options const& o)
      : random_{o.seed}, rows_{o.rows}, columns_{o.columns}, largest_capacity_{o.largest_capacity} {
    check_parameter("the number of rows", o.rows, 3, most_vertices);
    check_parameter("the number of columns", o.columns, 2, most_vertices);
    check_vertices(o.rows, o.columns, 2);
    check_parameter("the largest capacity", o.largest_capacity, 1, most_weight / 3);
  }
  [[nodiscard]] std::uint64_t vertices() const { return rows_ * columns_ + 2; }
  [[nodiscard]] std::uint64_t edges() const { return 2 * rows_ + 3 * rows_ * (columns_ - 1); }
  [[nodiscard]] terminals ends() const { return {0, static_cast<vertex>(vertices() - 1)}; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    std::uint64_t const between = 3 * rows_ * (columns_ - 1);
    if (e < between) {
      std::uint64_t const from = e / 3;
      return {static_cast<vertex>(1 + from),
              static_cast<vertex>(1 + (from / rows_ + 1) * rows_ + target(from, e % 3)),
              1 + random_.below(largest_capacity_, e, 0)};
    }
    std::uint64_t const row = (e - between) % rows_;
    if (e - between < rows_) return {0, static_cast<vertex>(1 + row), 3 * largest_capacity_};
    std::uint64_t const sink = rows_ * columns_ + 1;
    return {static_cast<vertex>(sink - rows_ + row), static_cast<vertex>(sink),
            3 * largest_capacity_};
  }

 private:
  /// The row that arc 0, 1 or 2 of a vertex leads to: none of the rows of those before it.
  WARDEN_HOST_DEVICE std::uint64_t target(std::uint64_t from, std::uint64_t which) const {
    std::uint64_t const a = random_.below(rows_, from, 1);
    if (which == 0) return a;
    std::uint64_t b = random_.below(rows_ - 1, from, 2);
    b += b >= a ? 1 : 0;
    if (which == 1) return b;
    std::uint64_t const low = a < b ? a : b, high = a < b ? b : a;
    std::uint64_t c = random_.below(rows_ - 2, from, 3);
    c += c >= low ? 1 : 0;
    return c + (c >= high ? 1 : 0);
  }

  random_numbers random_;
  std::uint64_t rows_, columns_;
  weight largest_capacity_;
};

}  // namespace graph
