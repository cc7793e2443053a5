// SPDX-License-Identifier: Apache-2.0
// Host part of a search: its arm and schedule, its repetition with 64 bits, and the results.

#include "apps/shortest_paths/finder.cuh"

#include "apps/shortest_paths/parents.cuh"
#include "apps/support/device.cuh"

#include <warden/error.hpp>

#include <algorithm>
#include <bit>

namespace shortest_paths {

namespace {

/// Buckets of delta-stepping. More of them take more memory, and fewer more refills.
constexpr unsigned usual_buckets = 16;

std::string number(std::uint64_t n) { return std::to_string(n); }

graph::csr_view checked(graph::csr_view const& rows, std::source_location where) {
  if (rows.arcs >= std::uint64_t{1} << 32) {
    throw warden::limit_error{
        "shortest_paths: " + number(rows.arcs) + " arcs; the limit is 4294967295", where};
  }
  if (rows.arcs != 0 && rows.weights == nullptr)
    throw warden::limit_error{"shortest_paths: the graph has no weights", where};
  return rows;
}

struct sum_arguments {
  graph::weight const* weights;
  std::uint64_t arcs;
  std::uint64_t* sum;
};
WARDEN_KERNEL void add_weights(sum_arguments a) {
  std::uint64_t mine = 0;
  apps::for_my_share(a.arcs, [&](std::uint64_t arc) { mine += a.weights[arc]; });
  mine = simt::warp_sum(mine);
  if (simt::lane_id() == 0) simt::fetch_add(a.sum, mine);
}

/// Returns the logarithm of the first bucket's width: 4 times the average weight of the arcs that
/// leave one vertex [Davidson 2014 takes 32 times on a GPU with fewer threads].
unsigned usual_shift(graph::csr_view const& rows) {
  if (rows.arcs == 0) return 0;
  warden::buffer<std::uint64_t> sum{1};
  sum.fill_bytes(0);
  simt::launch(&add_weights, apps::blocks(), apps::threads(), 0,
               sum_arguments{rows.weights, rows.arcs, sum.data()}, {});
  double const arcs = static_cast<double>(rows.arcs);
  double const weight = static_cast<double>(sum.to_host()[0]) / arcs;
  double const degree = arcs / static_cast<double>(rows.vertices);
  auto const width = static_cast<std::uint64_t>(4 * weight / std::max(degree, 1.0));
  return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(width, 1)) - 1);
}

schedule schedule_of(graph::csr_view const& rows, std::string const& arm, search_options const& o,
                     std::source_location where) {
  auto const& names = arm_names();
  if (std::find(names.begin(), names.end(), arm) == names.end()) {
    std::string all;
    for (std::string const& n : names) all += (all.empty() ? "" : ", ") + n;
    throw warden::limit_error{"shortest_paths: no arm '" + arm + "'; there are: " + all, where};
  }
  schedule how{.scans = arm == "bellman_ford" || arm == "delta_scan",
               .local_iterations = o.local_iterations.value_or(arm == "decoupled" ? 128 : 32)};
  how.buckets = o.buckets.value_or(arm == "delta_stepping" ? usual_buckets : 1);
  if (how.scans) how.buckets = 1;
  if (how.buckets < 1 || how.buckets > most_buckets) {
    throw warden::limit_error{"shortest_paths: " + number(how.buckets) +
                                  " buckets; there are from 1 to " + number(most_buckets),
                              where};
  }
  how.adapts = arm != "bellman_ford" && o.delta == 0;
  how.shift = arm == "bellman_ford" ? 64
              : o.delta != 0        ? static_cast<unsigned>(std::bit_width(o.delta) - 1)
                                    : usual_shift(rows);
  return how;
}

/// Returns a number of steps that no search takes. Every expansion but the first one of a bucket
/// settles a vertex. Every bucket that is opened settles one, or all of its vertices have been
/// settled before; then the next refill, or the one after it, finds a vertex.
std::uint32_t steps_of(graph::csr_view const& rows, unsigned buckets) {
  constexpr std::uint64_t most = 0xfffffffe;
  std::uint64_t const vertices = rows.vertices + 2;
  return static_cast<std::uint32_t>(std::min(most, vertices * (3 * std::uint64_t{buckets} + 4)));
}

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"bellman_ford", "near_far", "delta_stepping",
                                              "delta_scan", "decoupled"};
  return names;
}

finder::finder(graph::csr_view const& rows, std::string const& arm, search_options const& o,
               std::source_location where)
    : rows_{checked(rows, where)},
      is_decoupled_{arm == "decoupled"},
      how_{schedule_of(rows, arm, o, where)},
      most_steps_{o.most_steps != 0 ? o.most_steps : steps_of(rows, how_.buckets)},
      is_wide_{o.is_wide},
      parents_{rows.vertices} {
  allocate(where);
}
finder::~finder() = default;

void finder::allocate(std::source_location where) {
  auto const make = [&]<class Distance>(std::unique_ptr<search_memory<Distance>>& memory) {
    memory = is_decoupled_ ? make_worklist_search<Distance>(rows_, how_, where)
                           : make_step_search<Distance>(rows_, how_, most_steps_);
  };
  if (is_wide_) {
    make(wide_);
  } else {
    make(narrow_);
  }
}

void finder::find(graph::vertex source, std::source_location where) {
  if (source >= rows_.vertices) {
    throw warden::limit_error{"shortest_paths: the source is vertex " + number(source) +
                                  ", which is not below " + number(rows_.vertices) +
                                  ", the number of vertices",
                              where};
  }
  // A search that had no memory for wider distances left none of either.
  if (is_wide_ ? wide_ == nullptr : narrow_ == nullptr) allocate(where);
  source_ = source;
  bool const is_narrow = !is_wide_;
  if (is_narrow) {
    if (search(*narrow_, where)) return;
    narrow_.reset();
    is_wide_ = true;
    allocate(where);
  }
  search(*wide_, where);  // no distance is too long
  facts_.is_second = is_narrow;
}

/// Returns false if a distance does not fit its type.
template <class Distance>
bool finder::search(search_memory<Distance>& memory, std::source_location where) {
  search_outcome const o = memory.search(source_);
  if (!o.failure.empty()) throw warden::error{"shortest_paths: " + o.failure, where};
  facts_ = o.facts;
  return !o.too_far;
}

void finder::find_parents(std::source_location where) {
  shortest_paths::find_parents(rows_, source_, distances(), parents_.data(), where);
}

distance_view finder::distances() const {
  if (is_wide_) return {nullptr, wide_->distances().data()};
  return {narrow_->distances().data(), nullptr};
}

std::vector<std::uint64_t> finder::distances_to_host() const {
  if (is_wide_) return wide_->distances().to_host();
  auto const narrow = narrow_->distances().to_host();
  std::vector<std::uint64_t> wide(narrow.size());
  std::transform(narrow.begin(), narrow.end(), wide.begin(),
                 [](std::uint32_t d) { return d == unreached<std::uint32_t> ? no_distance : d; });
  return wide;
}

}  // namespace shortest_paths
