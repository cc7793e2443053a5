// SPDX-License-Identifier: Apache-2.0
// Arms of the benchmark of producer warps compute what a loop on the host computes, under many
// schedules, and are absent where the hardware does not copy.

#include "microbench/producer_warp/arms.hpp"
#include "microbench/producer_warp/segments.hpp"
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
  EXPECT_FALSE(has_arm("copy", "reader", find_abilities()));
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

/// A log on the host, with segments of any length, and its results by a loop.
struct host_log {
  static constexpr std::uint32_t partitions = 3, rows = 100, records = 5;
  std::vector<std::uint16_t> offsets;
  std::vector<std::uint32_t> begins;
  std::vector<message> pool;
  std::vector<std::uint32_t> sums, outcomes;

  explicit host_log(unsigned seed) : offsets((partitions + 1) * rows), sums(partitions * records) {
    std::mt19937 random{seed};
    for (std::uint32_t row = 0; row < rows; ++row) {
      begins.push_back(static_cast<std::uint32_t>(pool.size()));
      for (std::uint32_t p = 0; p < partitions; ++p) {
        // Most have few messages; some have none, some more than a stage has room for.
        std::uint32_t const length = random() % 40 == 0 ? 80 : random() % 9;
        for (std::uint32_t k = 0; k < length; ++k) add(p, random);
        offsets[(p + 1) * rows + row] = static_cast<std::uint16_t>(pool.size() - begins.back());
      }
    }
  }
  void expect_results(std::string const& arm, std::uint32_t stage_bytes) const {
    SCOPED_TRACE(arm);
    warden::buffer<message> const on_device{pool};
    warden::buffer<std::uint16_t> const device_offsets{offsets};
    warden::buffer<std::uint32_t> const device_begins{begins};
    warden::buffer<std::uint32_t> device_sums{sums.size()};
    warden::buffer<std::uint32_t> found{outcomes.size()};
    device_sums.fill_bytes(0xff);
    found.fill_bytes(0xff);
    plan_of_segments(
        arm,
        {on_device.data(), device_offsets.data(), device_begins.data(), device_sums.data(),
         found.data(), static_cast<std::uint32_t>(pool.size()), rows, partitions, records},
        stage_bytes)();
    EXPECT_EQ(device_sums.to_host(), sums);
    EXPECT_EQ(found.to_host(), outcomes);
  }

 private:
  void add(std::uint32_t partition, std::mt19937& random) {
    message const m{static_cast<std::uint32_t>(random() % records),
                    static_cast<std::uint32_t>(pool.size()),
                    std::uint64_t{random()} << 32 | random()};
    pool.push_back(m);
    sums[partition * records + m.local] += static_cast<std::uint32_t>(m.value);
    outcomes.push_back(static_cast<std::uint32_t>(m.value >> 32) ^ m.local);
  }
};

TEST(producer_warp_seeds, segments_of_a_log_are_read_once) {
  std::vector<std::string> const arms = segment_arm_names();
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    test::let_one_block_be_resident();
    host_log{static_cast<unsigned>(seed)}.expect_results(arms[seed % arms.size()], 1024);
  });
}

}  // namespace
