// SPDX-License-Identifier: Apache-2.0
// Boruvka's iterations. The lightest edges are offered first. Most heavy edges then lie within one
// component and are looked at once.

#include "apps/spanning_forest/first_iteration.cuh"
#include "apps/spanning_forest/forest.cuh"
#include "apps/spanning_forest/iteration.cuh"
#include "apps/spanning_forest/steps.cuh"

#include <device_algorithms.cuh>  // of apps/support/cub or simulated
#include <warden/error.hpp>

#include <algorithm>
#include <utility>

namespace spanning_forest {

namespace {

graph::csr_view checked(graph::csr_view const& graph, std::source_location where) {
  if (graph.arcs >= 0xffffffff) {
    throw warden::limit_error{
        "spanning_forest: " + std::to_string(graph.arcs) + " arcs; the limit is 4294967294", where};
  }
  if (graph.arcs != 0 && (graph.weights == nullptr || graph.edges == nullptr)) {
    throw warden::limit_error{std::string{"spanning_forest: the graph has no "} +
                                  (graph.weights == nullptr ? "weights" : "numbers of edges"),
                              where};
  }
  return graph;
}

}  // namespace

forest_finder::forest_finder(graph::csr_view const& graph, std::string const& arm, parting chosen,
                             std::source_location where)
    : graph_{checked(graph, where)},
      vertices_{static_cast<std::uint32_t>(graph.vertices)},
      most_candidates_{static_cast<std::uint32_t>(graph.arcs / 2)},
      parting_{chosen},
      components_{vertices_},
      sources_{graph.arcs},
      joined_{vertices_},
      target_{vertices_},
      numbers_{std::size_t{vertices_} + 1},
      label_{vertices_},
      current_{vertices_ / 2},
      forest_{vertices_},
      hubs_{1 + graph.arcs / most_of_a_warp},
      sample_{sampled},
      counts_{4},
      light_{most_candidates_},
      next_{most_candidates_},
      heavy_{most_candidates_},
      arm_{make_arm(arm, {components_.data(), std::max(vertices_ / 2, 1u), most_candidates_},
                    where)} {}

std::vector<std::uint32_t> forest_finder::edges_to_host() const {
  std::vector<std::uint32_t> edges(taken_);
  warden::copy(edges.data(), forest_.data(), edges.size());
  warden::stream_ref{}.synchronize();
  return edges;
}

/// Runs all iterations. Calls `before_offers()` in each that offers, when its candidates are ready.
template <class Before>
void forest_finder::find(Before before_offers) {
  taken_ = n_light_ = n_heavy_ = 0;
  iterations_.clear();
  if (graph_.arcs == 0) return;
  first_iteration();
  while (n_light_ + n_heavy_ != 0) {
    if (n_light_ == 0) bring_back();
    if (n_light_ == 0) break;  // all heavy candidates lie within components
    before_offers();
    offer();
    join();
  }
  arm_->wait();
}

void forest_finder::find() {
  find([] {});
}

std::string forest_finder::tune() {
  std::string settings;
  if (!arm_->tunes()) return settings;
  find([&] {
    settings += (settings.empty() ? "" : ", ") + arm_->tune(iterations_.size(), all_offers());
  });
  return settings;
}

offers forest_finder::all_offers() const {
  return {light_.all(), n_light_, components_.data(), size_};
}

/// Returns the counts of the device. Blocks the host.
forest_finder::counts forest_finder::read() {
  counts found{};
  warden::copy(&found.taken, counts_.data(), 4);
  warden::stream_ref{}.synchronize();
  return found;
}

void forest_finder::first_iteration() {
  size_ = vertices_;
  iterations_.push_back({size_, 0, 0});
  first_iteration_arguments const a{graph_, components_.data(), target_.data(), sources_.data(),
                                    hubs_.data()};
  first_iteration_async(a);
  join_by_arcs_async({components_.data(), {}, target_.data(), joined_.data(), size_});
  settle_async({joined_.data(), size_});
  apps::exclusive_sum_async(std::int64_t{size_} + 1,
                            goes_on{joined_.data(), components_.data(), size_, false},
                            numbers_.data(), scratch_);
  apps::select_async(size_, take{joined_.data(), components_.data()}, is_taken{},
                     put_edge{forest_.data(), graph_.edges}, counts_.data(), scratch_);
  label_async({joined_.data(), numbers_.data(), label_.data(), size_, counts_.data() + 1});
  sample_async({graph_.weights, graph_.arcs, sample_.data()});
  counts const joined = read();
  taken_ = joined.taken;
  size_ = joined.components;
  std::uint32_t const most = light_below(size_, graph_.arcs / 2);
  apps::partition_async(static_cast<std::int64_t>(graph_.arcs),
                        candidate_of_arc{graph_, sources_.data(), label_.data()}, is_light{most},
                        is_between{}, put_candidate{light_.all()}, put_candidate{heavy_.all()},
                        counts_.data() + 2, scratch_);
  counts const left = read();
  n_light_ = left.light;
  n_heavy_ = left.heavy;
  size_when_set_aside_ = 0;
  all_light_if_none();
}
/// Makes all candidates light if none is.
void forest_finder::all_light_if_none() {
  if (n_light_ != 0) return;
  std::swap(n_light_, n_heavy_);
  std::swap(light_, heavy_);
}

/// Returns the weight up to which there are about `light_for_each` candidates per component, by the
/// sample.
std::uint32_t forest_finder::light_below(std::uint32_t components, std::uint64_t edges) {
  std::uint64_t const wanted = std::uint64_t{parting_.light_for_each} * components;
  // If half of the candidates are light, setting the heavy ones aside does not pay.
  if (edges < parting_.least_to_part || 2 * wanted >= edges) return 0xffffffff;
  std::uint64_t const place = sampled * wanted / edges;
  std::vector<std::uint32_t> sample = sample_.to_host();
  std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(place),
                   sample.end());
  return sample[place];
}

/// Replaces the light candidates, of which none are left, by those set aside that still lie between
/// components.
void forest_finder::bring_back() {
  sample_async({heavy_.weights.data(), n_heavy_, sample_.data()});
  std::uint32_t const most = light_below(size_, n_heavy_);
  apps::partition_async(n_heavy_, next_candidate{heavy_.all(), current_.data()}, is_light{most},
                        is_between{}, put_candidate{light_.all()}, put_candidate{next_.all()},
                        counts_.data() + 2, scratch_);
  counts const left = read();
  n_light_ = left.light;
  n_heavy_ = left.heavy;
  std::swap(heavy_, next_);
  size_when_set_aside_ = 0;
  all_light_if_none();
}

void forest_finder::offer() {
  std::size_t const iteration = iterations_.size();
  iterations_.push_back({size_, n_light_, n_heavy_});
  warden::runtime::fill_async(components_.data(), 0xff, size_ * sizeof(component), {});
  arm_->offer_async(iteration, all_offers());
}

void forest_finder::join() {
  join_by_candidates_async({components_.data(), light_.all(), nullptr, joined_.data(), size_});
  settle_async({joined_.data(), size_});
  apps::exclusive_sum_async(std::int64_t{size_} + 1,
                            goes_on{joined_.data(), components_.data(), size_, n_heavy_ != 0},
                            numbers_.data(), scratch_);
  apps::select_async(size_, take{joined_.data(), components_.data()}, is_taken{},
                     put_edge{forest_.data() + taken_, light_.edges.data()}, counts_.data(),
                     scratch_);
  label_async({joined_.data(), numbers_.data(), label_.data(), size_, counts_.data() + 1});
  if (n_heavy_ != 0) {
    bool const first = size_when_set_aside_ == 0;
    if (first) size_when_set_aside_ = size_;
    rename_async({label_.data(), current_.data(), size_when_set_aside_, first});
  }
  apps::select_async(n_light_, next_candidate{light_.all(), label_.data()}, is_between{},
                     put_candidate{next_.all()}, counts_.data() + 2, scratch_);
  counts const left = read();
  if (left.taken == 0) {
    throw warden::error{"spanning_forest: none of " + std::to_string(size_) +
                            " components joined another by one of " + std::to_string(n_light_) +
                            " candidates: the arm has lost offers",
                        std::source_location::current()};
  }
  taken_ += left.taken;
  size_ = left.components;
  n_light_ = left.light;
  std::swap(light_, next_);
}

}  // namespace spanning_forest
