// SPDX-License-Identifier: Apache-2.0
// Products of sparse matrices by tiles: rows of any length at any place of a tile, and the same
// bits on any grid.

#include "microbench/sparse_product/coo_product.cuh"
#include "microbench/sparse_product/merge_product.cuh"
#include "microbench/sparse_product/work.cuh"

#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace sparse_product;
namespace sim = warden::sim;

constexpr unsigned threads = 96, items = 3, tile = threads * items;
using lengths = std::vector<std::uint32_t>;

/// A matrix with rows of these lengths, in host memory.
struct host_matrix {
  explicit host_matrix(lengths const& of_rows) : offsets(of_rows.size() + 1) {
    std::partial_sum(of_rows.begin(), of_rows.end(), offsets.begin() + 1);
    std::mt19937 random{5};
    std::uniform_real_distribution<float> draw{-1, 1};
    for (std::uint32_t r = 0; r < of_rows.size(); ++r) {
      rows.insert(rows.end(), of_rows[r], r);
      x.push_back(draw(random));
    }
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
      columns.push_back(static_cast<std::uint32_t>(random() % of_rows.size()));
      values.push_back(draw(random));
    }
  }
  std::vector<std::uint32_t> offsets, rows, columns;
  std::vector<float> values, x;
};

/// Expects the sums of the rows from a product by a `Tile`, and the same bits on each grid.
template <class Tile>
void expect_product(host_matrix const& m) {
  warden::buffer<std::uint32_t> const offsets{m.offsets}, rows{m.rows}, columns{m.columns};
  warden::buffer<float> const values{m.values}, x{m.x};
  warden::buffer<float> y{m.x.size()};
  std::vector<float> first;
  for (unsigned const blocks : {1u, 3u, 100u}) {
    // Products in CSR write each row.
    y.fill_bytes(std::is_same_v<Tile, merge_tile<threads, items>> ? 0xff : 0);
    tile_product<Tile>{
        {static_cast<std::uint32_t>(m.x.size()), static_cast<std::uint32_t>(m.x.size()),
         static_cast<std::uint32_t>(m.rows.size()), offsets.data(), rows.data(), columns.data(),
         values.data(), x.data(), y.data()},
        blocks}
        .run_async();
    std::vector<float> const found = y.to_host();
    if (first.empty()) first = found;
    for (std::uint32_t r = 0; r < found.size(); ++r) {
      double sum = 0, size = 0;
      for (std::uint32_t e = m.offsets[r]; e < m.offsets[r + 1]; ++e) {
        double const product = double{m.values[e]} * m.x[m.columns[e]];
        sum += product;
        size += product < 0 ? -product : product;
      }
      ASSERT_NEAR(found[r], sum, workloads::relative_error * size) << "row " << r;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found[r]), std::bit_cast<std::uint32_t>(first[r]))
          << "row " << r << " on " << blocks << " blocks";
    }
  }
}
void expect_products(lengths const& of_rows) {
  SCOPED_TRACE(testing::Message() << of_rows.size() << " rows, the first of " << of_rows[0]);
  host_matrix const m{of_rows};
  expect_product<merge_tile<threads, items>>(m);
  if (!m.rows.empty()) expect_product<coo_tile<threads, items>>(m);
}

TEST(sparse_product, adds_rows_of_any_length) {
  std::mt19937 random{1};
  for (unsigned const longest : {1u, 2u, 7u, 40u, 3 * tile}) {
    lengths rows(101);
    for (std::uint32_t& r : rows) r = random() % 2 == 0 ? 0 : random() % longest + 1;
    expect_products(rows);
  }
}

TEST(sparse_product, adds_rows_at_borders_of_tiles) {
  for (std::uint32_t const more : {0u, 1u, 2u}) {
    expect_products({tile - 1 + more});
    expect_products({tile - 2 + more, 1, tile - 1, tile, 0, tile});
    expect_products(lengths(5, tile / 2 - 1 + more));
  }
}

TEST(sparse_product, adds_a_row_of_more_tiles_than_a_block_has_threads) {
  expect_products({3, 0, tile * (threads * 3 + 5), 0, 1});
  expect_products({tile * (threads - 1) - 3, tile * threads * 2, 4});
}

TEST(sparse_product, writes_empty_rows) {
  expect_products({0});
  expect_products(lengths(2 * tile + 1, 0));
  lengths rows(2 * tile, 0);
  rows[tile / 2] = 1;
  rows.back() = 5;
  expect_products(rows);
}

TEST(sparse_product, has_the_same_bits_on_devices_of_different_sizes) {
  product_work work{"rmat", 14};
  work.draw_rounded();
  for (auto const& [name, make] : all_arms()) {
    std::uint64_t bits[2];
    bool same_bits = false;
    for (int const is_large : {0, 1}) {
      sim::settings s = sim::current_settings();
      s.multiprocessors = is_large != 0 ? 7 : 1;
      sim::configure(s);
      workloads::arm const by = make(work);
      work.reset();
      by.run_async();
      by.wait();
      EXPECT_TRUE(work.is_right()) << name;
      bits[is_large] = work.bits();
      same_bits = by.same_bits;
    }
    if (same_bits) {
      EXPECT_EQ(bits[0], bits[1]) << name;
    }
  }
}

}  // namespace
