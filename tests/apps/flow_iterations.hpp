// SPDX-License-Identifier: Apache-2.0
// The iterations of a maximum flow as a loop on the host makes them: what an arm that depends on no
// schedule goes through exactly.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/max_flow/discharge.cuh"
#include "apps/max_flow/flow.cuh"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace test {

class flow_iterations {
 public:
  /// `at_once` iterations are enqueued together, with a look for a gap every `interval`.
  flow_iterations(graph::csr const& rows, graph::terminals ends,
                  max_flow::search_interval const& between_searches, std::uint32_t at_once,
                  std::uint32_t interval)
      : rows_{rows},
        ends_{ends},
        between_searches_{between_searches},
        at_once_{at_once},
        interval_{interval},
        n_{static_cast<std::uint32_t>(rows.vertices())},
        residual_(rows.weights),
        heights_(n_),
        excess_(n_) {}

  max_flow::flow_facts find() {
    for_arcs(ends_.source, [&](std::uint64_t a, std::uint32_t w) {
      if (w == ends_.source) return;
      excess_[w] += residual_[a];
      residual_[rows_.reverse[a]] += residual_[a];
      residual_[a] = 0;
    });
    bring_to(ends_.sink);
    facts_.value = excess_[ends_.sink];
    std::uint64_t const iterations = facts_.iterations;
    bring_to(ends_.source);
    facts_.iterations_back = facts_.iterations - iterations;
    return facts_;
  }

 private:
  struct arrival {
    std::uint64_t arc;
    std::uint32_t amount;
  };

  template <class F>
  void for_arcs(std::uint32_t v, F f) {
    for (std::uint64_t a = rows_.offsets[v]; a < rows_.offsets[v + std::uint64_t{1}]; ++a)
      f(a, rows_.neighbours[a]);
  }
  /// In the order in which a vertex pushes along them.
  template <class F>
  void for_arcs_in_turn(std::uint32_t v, F f) {
    std::uint64_t const end = rows_.offsets[v + std::uint64_t{1}];
    for (std::uint64_t first = rows_.offsets[v]; first < end; first += max_flow::row_lanes) {
      max_flow::arc_order<max_flow::row_lanes, 1> const order{v, heights_[v]};
      for (unsigned lane = 0; lane < max_flow::row_lanes; ++lane) {
        std::uint64_t const a = first + order.at(lane, 0);
        if (a < end) f(a, rows_.neighbours[a]);
      }
    }
  }
  [[nodiscard]] bool is_terminal(std::uint32_t v) const {
    return v == ends_.source || v == ends_.sink;
  }

  void bring_to(std::uint32_t target) {
    for (bool is_first = true;; is_first = false) {
      std::uint64_t const levels = search(target, is_first);
      if (active_.empty()) return;
      std::uint64_t const due =
          between_searches_.steps(static_cast<std::uint32_t>(levels), active_.size(), n_);
      std::uint64_t const before = facts_.iterations;
      do {
        for (std::uint32_t r = 0; r < at_once_; ++r) {
          if (r % interval_ == 0) close_gap();
          iteration();
        }
      } while (facts_.iterations - before < due && !active_.empty());
    }
  }

  [[nodiscard]] bool has_excess(std::uint32_t v) const {
    return excess_[v] != 0 && !is_terminal(v);
  }
  /// Level by level, until all vertices are reached that have excess and are not cut off.
  std::uint64_t search(std::uint32_t target, bool is_first) {
    std::vector<std::uint32_t> const before = is_first ? std::vector<std::uint32_t>(n_) : heights_;
    std::uint32_t missing = 0, of_last_level = 0;
    for (std::uint32_t v = 0; v < n_; ++v) missing += has_excess(v) && before[v] < n_ ? 1 : 0;
    bool const finds_side = target == ends_.sink && missing == 0;
    heights_.assign(n_, n_);
    heights_[target] = 0;
    std::vector<std::uint32_t> reached{target};
    std::size_t i = 0;
    for (std::uint32_t level = n_; i < reached.size(); ++i) {
      if (heights_[reached[i]] != level) {
        // Vertices of the level that begins are counted in it.
        if (missing + of_last_level == 0 && !finds_side) break;
        of_last_level = 0;
      }
      level = heights_[reached[i]];
      for_arcs(reached[i], [&](std::uint64_t a, std::uint32_t v) {
        if (heights_[v] != n_ || residual_[rows_.reverse[a]] == 0 || is_terminal(v)) return;
        heights_[v] = heights_[reached[i]] + 1;
        reached.push_back(v);
        missing -= has_excess(v) ? 1 : 0;
        of_last_level += has_excess(v) ? 1 : 0;
      });
    }
    std::uint64_t levels = heights_[reached.back()] + std::uint64_t{1};
    if (i < reached.size()) {
      // The last level's arcs were not looked at.
      auto const farther = static_cast<std::uint32_t>(levels--);
      for (std::uint32_t v = 0; v < n_; ++v) {
        if (heights_[v] == n_ && !is_terminal(v)) heights_[v] = std::max(before[v], farther);
      }
    }
    active_.clear();
    for (std::uint32_t v = 0; v < n_; ++v) {
      if (heights_[v] < n_ && !is_terminal(v) && excess_[v] != 0) active_.push_back(v);
    }
    ++facts_.searches;
    facts_.levels += levels;
    return levels;
  }

  /// All vertices above the lowest empty level.
  void close_gap() {
    std::vector<bool> is_there(n_ + std::size_t{1});
    for (std::uint32_t const h : heights_) is_there[h] = true;
    auto const gap = static_cast<std::uint32_t>(std::find(is_there.begin(), is_there.end(), false) -
                                                is_there.begin());
    for (std::uint32_t& h : heights_) {
      if (h > gap) h = n_;
    }
  }

  void iteration() {
    facts_.iterations += active_.empty() ? 0 : 1;
    std::vector<arrival> arrivals;
    std::vector<std::uint32_t> next, heights = heights_;
    for (std::uint32_t const v : active_) {
      if (heights_[v] == n_) continue;
      std::uint32_t lowest = n_;
      for_arcs_in_turn(v, [&](std::uint64_t a, std::uint32_t w) {
        if (w == v) return;
        if (residual_[a] == 0) {
          if (!is_terminal(w)) lowest = std::min(lowest, heights_[v] + 2);
        } else if (excess_[v] != 0 && heights_[w] + 1 == heights_[v]) {
          auto const amount =
              static_cast<std::uint32_t>(std::min<std::uint64_t>(excess_[v], residual_[a]));
          residual_[a] -= amount;
          excess_[v] -= amount;
          arrivals.push_back({rows_.reverse[a], amount});
        } else {
          lowest = std::min(lowest, heights_[w] + 1);
        }
      });
      if (excess_[v] == 0) continue;
      next.push_back(v);
      if (lowest > heights_[v]) {
        heights[v] = lowest;
        ++facts_.relabels;
      }
    }
    facts_.pushes += arrivals.size();
    for (arrival const& p : arrivals) {
      std::uint32_t const v = rows_.neighbours[rows_.reverse[p.arc]];
      residual_[p.arc] += p.amount;
      if (excess_[v] == 0 && !is_terminal(v)) next.push_back(v);
      excess_[v] += p.amount;
    }
    heights_ = std::move(heights);
    active_ = std::move(next);
  }

  graph::csr const& rows_;
  graph::terminals ends_;
  max_flow::search_interval between_searches_;
  std::uint32_t at_once_, interval_, n_;
  std::vector<std::uint32_t> residual_, heights_;
  std::vector<std::uint64_t> excess_;
  std::vector<std::uint32_t> active_;
  max_flow::flow_facts facts_;
};

}  // namespace test
