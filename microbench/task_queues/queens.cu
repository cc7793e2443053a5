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
  /// Returns the number of solutions from a board on.
  __device__ std::uint32_t solve(board b) const {
    constexpr unsigned most = 16;
    std::uint32_t const all = (1u << queens) - 1;
    if (b.row == queens) return 1;
    board path[most];
    std::uint32_t free[most];
    unsigned depth = 0;
    path[0] = b;
    free[0] = b.free(all);
    std::uint32_t sum = 0;
    for (;;) {
      if (free[depth] == 0) {
        if (depth == 0) return sum;
        --depth;
        continue;
      }
      std::uint32_t const queen = free[depth] & (0u - free[depth]);
      free[depth] ^= queen;
      board const next = path[depth].with(queen);
      if (next.row == queens) {
        ++sum;
        continue;
      }
      path[++depth] = next;
      free[depth] = next.free(all);
    }
  }
};

class queens_point final : public bench::timed_point {
 public:
  explicit queens_point(std::uint32_t queens) : queens_{queens} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return arm != "fused"; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "queens/solutions/" + arm + "/keys:" + std::to_string(queens_);
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
      runner.run_async({queens_, rows_alone(), found_->data()});
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
  /// Rows that a thread places alone.
  [[nodiscard]] std::uint32_t rows_alone() const { return queens_ > 12 ? 9 : queens_ / 2; }

  std::uint32_t queens_;
  std::optional<warden::buffer<std::uint32_t>> found_;
  std::optional<runners<board, place_queens>> runners_;
};

}  // namespace

std::shared_ptr<bench::point> make_queens_point(std::uint32_t queens) {
  return std::make_shared<queens_point>(queens);
}

}  // namespace task_queues
