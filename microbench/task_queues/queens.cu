// SPDX-License-Identifier: Apache-2.0
// Points that count the ways to place n queens.

#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/task_queues/points.hpp"
#include "microbench/task_queues/queues.cuh"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

namespace task_queues {
namespace {

/// Ways to place 0 to 16 queens, from the On-Line Encyclopedia of Integer Sequences, A000170.
constexpr std::array<std::uint32_t, 17> solutions{
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/// A board with a queen in each of the first rows; `attacked` columns and diagonals in the next.
struct board {
  std::uint32_t row, columns, left, right;

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t free(std::uint32_t all) const {
    return all & ~(columns | left | right);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE board with(std::uint32_t queen) const {
    return {row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
};

/// Counters of solutions, so that threads do not meet at one word.
constexpr std::uint32_t counters = 4096;

/// Places the next queen, and pushes the boards. The thread itself solves boards with few rows
/// left, and those that a full queue refuses.
struct place_queens {
  std::uint32_t queens, rows_alone;
  std::uint32_t* found;

  template <class Worker>
  __device__ void operator()(board const& b, Worker& worker) const {
    std::uint32_t const all = (1u << queens) - 1;
    std::uint32_t sum = 0;
    if (b.row + rows_alone >= queens) {
      sum = solve(b);
    } else {
      for (std::uint32_t free = b.free(all); free != 0; free &= free - 1) {
        board const next = b.with(free & (0u - free));
        if (!worker.push(next)) sum += solve(next);
      }
    }
    std::uint32_t const mine = simt::block_rank() * simt::block_threads() + simt::thread_rank();
    if (sum != 0) simt::add(&found[mine % counters], sum);
  }
  /// Returns the number of solutions from a board on. The path stays in registers, as the columns
  /// of its queens, 4 bits each. A step back undoes the shifts, so they must lose no bits.
  __device__ std::uint32_t solve(board const& b) const {
    if (b.row == queens) return 1;
    std::uint32_t const all = (1u << queens) - 1;
    unsigned const last = queens - b.row - 1;
    std::uint32_t columns = b.columns, left = b.left, right = b.right << most_queens;
    std::uint32_t free = b.free(all), sum = 0;
    std::uint64_t path = 0;
    for (unsigned depth = 0;;) {
      if (depth == last) {
        sum += static_cast<std::uint32_t>(simt::count_bits(free));
        free = 0;
      }
      std::uint32_t passed = 0;  // columns that were tried in the next row
      if (free != 0) {
        auto const column = static_cast<std::uint32_t>(simt::first_bit(free));
        std::uint32_t const queen = 1u << column;
        path = path << 4 | column;
        columns |= queen;
        left = (left | queen) << 1;
        right = (right | queen << most_queens) >> 1;
        ++depth;
      } else {
        if (depth == 0) return sum;
        std::uint32_t const queen = 1u << (path & 15);
        path >>= 4;
        columns ^= queen;
        left = left >> 1 ^ queen;
        right = right << 1 ^ queen << most_queens;
        passed = 2 * queen - 1;
        --depth;
      }
      free = all & ~(columns | left | right >> most_queens | passed);
    }
  }

  static constexpr unsigned most_queens = 16;
};

class queens_point final : public bench::timed_point {
 public:
  queens_point(std::uint32_t queens, std::uint32_t rows_alone)
      : queens_{queens}, rows_alone_{rows_alone} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return arm != "fused"; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "queens/alone" + std::to_string(rows_alone_) + "/" + arm +
           "/keys:" + std::to_string(queens_);
  }

 private:
  [[nodiscard]] std::uint32_t operations() const override { return solutions.at(queens_); }
  void set_up(std::uint32_t) override {
    found_.emplace(counters);
    runners_.emplace(22);
  }
  bench::run_result run(std::string const& arm, std::uint32_t, std::uint64_t) override {
    auto& runner = runners_->of(arm);
    found_->fill_bytes(0);
    runner.fill_async({0, 0, 0, 0});
    bench::run_result result;
    result.cost = bench::device_time([&] {
      runner.run_async({queens_, rows_alone_, found_->data()});
    });
    runner.wait();
    auto const found = found_->to_host();
    result.verified = std::accumulate(found.begin(), found.end(), 0u) == operations();
    return result;
  }
  /// Makes the arm's queue, and warms it up.
  void prepare(std::string const& arm, std::uint32_t, bench::row& r) override {
    r.verified = run(arm, 0, 0).verified;
  }
  void tear_down() override {
    runners_.reset();
    found_.reset();
  }

  std::uint32_t queens_, rows_alone_;
  std::optional<warden::buffer<std::uint32_t>> found_;
  std::optional<runners<board, place_queens>> runners_;
};

}  // namespace

std::shared_ptr<bench::point> make_queens_point(std::uint32_t queens, std::uint32_t rows_alone) {
  return std::make_shared<queens_point>(queens, rows_alone);
}

}  // namespace task_queues
