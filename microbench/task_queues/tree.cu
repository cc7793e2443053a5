// SPDX-License-Identifier: Apache-2.0
// Points that run a tree of tasks.

#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/task_queues/points.hpp"
#include "microbench/task_queues/queues.cuh"
#include "microbench/task_queues/visit.cuh"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace task_queues {
namespace {

class tree_point final : public bench::timed_point {
 public:
  tree_point(std::string tree, std::string cost, std::uint32_t tasks)
      : tree_{std::move(tree)}, cost_{std::move(cost)}, tasks_{tasks} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm != "fused" || tree_ == "balanced";
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "tree/" + tree_ + "_" + cost_ + "/" + arm + "/keys:" + std::to_string(tasks_);
  }

 private:
  [[nodiscard]] std::uint32_t operations() const override { return tasks_; }
  void set_up(std::uint32_t) override {
    ran_.emplace(tasks_);
    if (tree_ != "balanced") first_.emplace(children());
    std::uint32_t log2_slots = 0;
    while (1u << log2_slots < tasks_) ++log2_slots;
    runners_.emplace(log2_slots);
  }
  [[nodiscard]] std::vector<std::uint32_t> children() const {
    std::vector<std::uint32_t> first{1};
    for (std::uint32_t v = 0; v < tasks_; ++v) {
      // The last vertex so far has children, so that the tree does not end early.
      bool const is_last = first.back() == v + 1;
      bool const has_children = v < 64 || is_last || hash(v * 2654435761u) % 8 == 0;
      first.push_back(std::min(first.back() + (has_children ? 12u : 0u), tasks_));
    }
    return first;
  }
  bench::run_result run(std::string const& arm, std::uint32_t, std::uint64_t) override {
    auto& runner = runner_of(arm);
    ran_->fill_bytes(0);
    runner.fill_async(0);
    bool const is_uneven = cost_ == "uneven", is_even = cost_ == "even";
    task_cost const cost{is_even     ? 64u
                         : is_uneven ? 32u
                                     : 0u,
                         is_even     ? 64u
                         : is_uneven ? 2080u
                                     : 0u};
    visit const f{first_ ? first_->data() : nullptr, tasks_, ran_->data(), cost};
    bench::run_result result;
    result.cost = bench::device_time([&] { runner.run_async(f); });
    runner.wait();
    auto const ran = ran_->to_host();
    result.verified = std::all_of(ran.begin(), ran.end(),
                                  [](std::uint32_t times) { return (times & 0x7fffffffu) == 1; });
    return result;
  }
  task_runner<std::uint32_t, visit>& runner_of(std::string const& arm) {
    if (arm != "fused") return runners_->of(arm);
    if (!fused_) fused_ = make_fused_runner();
    return *fused_;
  }
  /// Makes the arm's queue, and warms it up.
  void prepare(std::string const& arm, std::uint32_t, bench::row& r) override {
    r.verified = run(arm, 0, 0).verified;
  }
  void tear_down() override {
    fused_.reset();
    runners_.reset();
    ran_.reset();
    first_.reset();
  }

  std::string tree_, cost_;
  std::uint32_t tasks_;
  std::optional<warden::buffer<std::uint32_t>> ran_, first_;
  std::optional<runners<std::uint32_t, visit>> runners_;
  std::unique_ptr<task_runner<std::uint32_t, visit>> fused_;
};

}  // namespace

std::shared_ptr<bench::point> make_tree_point(std::string const& tree, std::string const& cost,
                                              std::uint32_t tasks) {
  return std::make_shared<tree_point>(tree, cost, tasks);
}

}  // namespace task_queues
