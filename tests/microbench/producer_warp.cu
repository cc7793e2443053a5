// SPDX-License-Identifier: Apache-2.0
// Arms of the benchmark of producer warps compute what a loop on the host computes, under many
// schedules, and are absent where the hardware does not copy.

#include "microbench/producer_warp/arms.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace producer_warp;

constexpr std::uint32_t row_shift = 1, row_elements = piece_elements << row_shift;

/// Inputs, and the result of each operation by a loop.
struct inputs {
  std::vector<float> x, y;
  std::vector<std::uint32_t> index;

  explicit inputs(std::uint32_t pieces, unsigned seed)
      : x((pieces + 2) * piece_elements), y(pieces * piece_elements), index(pieces >> row_shift) {
    std::mt19937 random{seed};
    for (auto* const array : {&x, &y})
      for (float& value : *array) value = static_cast<float>(random() % (1u << 20));
    for (std::uint32_t& row : index) row = random() % static_cast<std::uint32_t>(index.size());
  }
  [[nodiscard]] std::vector<float> result(std::string const& operation) const {
    std::vector<float> out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(y.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::size_t const middle = i + piece_elements;
      if (operation == "axpy") out[i] = factor * x[i] + y[i];
      if (operation == "stencil") out[i] = x[middle - 1] + 2 * x[middle] + x[middle + 1];
      if (operation == "gather")
        out[i] = x[index[i / row_elements] * row_elements + i % row_elements];
    }
    return out;
  }
};

void expect_result(std::string const& operation, std::string const& arm, std::uint32_t pieces,
                   std::uint32_t stage_bytes, unsigned seed) {
  SCOPED_TRACE(operation + " by " + arm);
  inputs const in{pieces, seed};
  warden::buffer<float> const x{in.x}, y{in.y};
  warden::buffer<std::uint32_t> const index{in.index};
  warden::buffer<float> out{in.y.size()};
  out.fill_bytes(0xff);
  work a{};
  a.x = x.data(), a.y = y.data(), a.index = index.data(), a.out = out.data();
  a.pieces = pieces;
  a.row_shift = row_shift;
  plan_of(operation, arm, a, stage_bytes)();
  EXPECT_EQ(out.to_host(), in.result(arm == "device_copy" ? "copy" : operation));
}

TEST(producer_warp, arms_compute_what_a_loop_computes) {
  warden::sim::settings s;
  s.multiprocessors = 2;
  s.blocks_per_multiprocessor = 1;
  warden::sim::configure(s);
  abilities const device = find_abilities();
  for (char const* const operation : operation_names) {
    for (std::string const& arm : arm_names()) {
      // One stage that is not full; many stages, the last one not full.
      for (std::uint32_t const pieces : {6u, 500u})
        if (has_arm(operation, arm, device)) expect_result(operation, arm, pieces, 256, pieces);
    }
  }
  warden::sim::configure({});
}

TEST(producer_warp, needs_bulk_copies) {
  EXPECT_TRUE(has_arm("copy", "rebalanced_2", find_abilities()));
  warden::sim::settings s;
  s.bulk_copies = false;
  warden::sim::configure(s);
  abilities const device = find_abilities();
  warden::sim::configure({});
  std::vector<std::string> names = arm_names();
  std::erase_if(names, [&](std::string const& arm) { return !has_arm("gather", arm, device); });
  EXPECT_THAT(names, testing::ElementsAre("plain", "unrolled", "device_copy"));
}

TEST(producer_warp_seeds, stages_are_used_again) {
  constexpr std::uint32_t kinds = std::size(operation_names),
                          rings = most_stages - least_stages + 1;
  test::under_many_schedules(1, [](std::uint64_t seed) {
    test::let_one_block_be_resident();
    std::string const ring = std::to_string(least_stages + seed / kinds % rings);
    std::string const name = seed / kinds / rings % 2 == 0 ? "producer_" : "rebalanced_";
    // Each consumer warp reads a part of a stage. Every stage is used three times, or more.
    expect_result(operation_names[seed % kinds], name + ring, 2500, 2048,
                  static_cast<unsigned>(seed));
  });
}

}  // namespace
