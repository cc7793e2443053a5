// SPDX-License-Identifier: Apache-2.0
/// @file
/// Flow networks of image segmentation (Boykov and Kolmogorov, 2004): each pixel is joined to its
/// four neighbours, and to the source or the sink.
#pragma once

#include "apps/graph/generators/parameters.hpp"
#include "apps/graph/generators/random.cuh"

#include <cstdint>

namespace graph {

struct image_grid_options {
  std::uint64_t rows = 64, columns = 64;  ///< pixels, at least 1
  std::uint64_t patch = 32;               ///< size of the image's structures, in pixels; 1 to 4096
  std::uint64_t seed = 1;
};

/// Directed. The image is a smooth landscape of brightness from 0 to 255, with noise. A pixel
/// darker than the middle has an arc from the source, any other pixel an arc to the sink; its
/// capacity grows with the distance from the middle. Neighbours have arcs both ways with a capacity
/// up to 64 that falls with their difference, so a cut follows edges of the image. The source is
/// vertex 0, the sink the last vertex; pixel (row, column) has the number 1 + row * columns +
/// column.
class image_grid {
 public:
  static constexpr bool directed = true;

  /// Throws std::invalid_argument with the value and its limits.
  explicit image_grid(image_grid_options const& o) : random_{o.seed}, o_{o} {
    check_parameter("the number of rows", o.rows, 1, most_vertices);
    check_parameter("the number of columns", o.columns, 1, most_vertices);
    check_vertices(o.rows, o.columns, 2);
    check_parameter("the patch", o.patch, 1, 4096);
  }
  [[nodiscard]] std::uint64_t vertices() const { return o_.rows * o_.columns + 2; }
  [[nodiscard]] std::uint64_t edges() const { return pixels() + 2 * across() + 2 * down(); }
  [[nodiscard]] terminals ends() const { return {0, static_cast<vertex>(vertices() - 1)}; }

  WARDEN_HOST_DEVICE edge operator()(std::uint64_t e) const {
    if (e < pixels()) return terminal_edge(e);
    e -= pixels();
    if (e < 2 * across()) {
      std::uint64_t const pair = e / 2, row = pair / (o_.columns - 1);
      return neighbours(row * o_.columns + pair % (o_.columns - 1), 1, e % 2 == 1);
    }
    e -= 2 * across();
    return neighbours(e / 2, o_.columns, e % 2 == 1);
  }

 private:
  WARDEN_HOST_DEVICE std::uint64_t pixels() const { return o_.rows * o_.columns; }
  WARDEN_HOST_DEVICE std::uint64_t across() const { return o_.rows * (o_.columns - 1); }
  WARDEN_HOST_DEVICE std::uint64_t down() const { return (o_.rows - 1) * o_.columns; }

  WARDEN_HOST_DEVICE edge terminal_edge(std::uint64_t pixel) const {
    int const light = brightness(pixel) - 128;
    auto const v = static_cast<vertex>(1 + pixel);
    if (light < 0) return {0, v, static_cast<weight>(-light)};
    return {v, static_cast<vertex>(pixels() + 1), static_cast<weight>(1 + light)};
  }
  WARDEN_HOST_DEVICE edge neighbours(std::uint64_t pixel, std::uint64_t step, bool back) const {
    int const apart = brightness(pixel) - brightness(pixel + step);
    auto const a = static_cast<vertex>(1 + pixel), b = static_cast<vertex>(1 + pixel + step);
    return {back ? b : a, back ? a : b, static_cast<weight>(1 + 63 * 100 / (100 + apart * apart))};
  }

  /// Returns the brightness, from 0 to 255: noise of up to 24 on a landscape between random heights
  /// at the corners of patches.
  WARDEN_HOST_DEVICE int brightness(std::uint64_t pixel) const {
    std::uint64_t const row = pixel / o_.columns, column = pixel % o_.columns;
    std::uint64_t const y = row / o_.patch, x = column / o_.patch;
    std::uint64_t const down = row % o_.patch, right = column % o_.patch;
    std::uint64_t const upper = corner(y, x) * (o_.patch - right) + corner(y, x + 1) * right;
    std::uint64_t const lower =
        corner(y + 1, x) * (o_.patch - right) + corner(y + 1, x + 1) * right;
    std::uint64_t const height = (upper * (o_.patch - down) + lower * down) / (o_.patch * o_.patch);
    return static_cast<int>(height + random_.below(25, pixel, 0));
  }
  WARDEN_HOST_DEVICE std::uint64_t corner(std::uint64_t y, std::uint64_t x) const {
    return random_.below(232, y * (o_.columns / o_.patch + 2) + x, 1);
  }

  random_numbers random_;
  image_grid_options o_;
};

}  // namespace graph
