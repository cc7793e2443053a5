// SPDX-License-Identifier: Apache-2.0
// The benchmark of breadth-first search on several GPUs, which own the vertices. Also measures the
// best arm of one GPU.

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/owner_searcher.cuh"
#include "apps/breadth_first/reference.hpp"
#include "apps/breadth_first/searcher.cuh"
#include "apps/graph/device_csr.cuh"
#include "microbench/breadth_first/source.hpp"
#include "microbench/support/graph_inputs.hpp"
#include "microbench/support/report.hpp"

#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace {

using breadth_first::owner_answer;

/// `one_gpu` is the arm `direction_optimizing` of `breadth_first`; `owner` is one rank, with the
/// same order of vertices as on several GPUs.
std::vector<std::string> const arms{"one_gpu", "owner", "two_gpus", "four_gpus", "eight_gpus"};

int gpus_of(std::string const& arm) {
  return arm == "two_gpus" ? 2 : arm == "four_gpus" ? 4 : arm == "eight_gpus" ? 8 : 1;
}

/// Barrier of ranks. Allocates its memory once: a deallocation between barriers may wait for GPUs
/// that wait for this rank.
class meeting {
 public:
  explicit meeting(warden::communicator world)
      : world_{std::move(world)}, words_{static_cast<std::size_t>(world_.size())} {}
  /// Returns when all ranks have arrived. All ranks return within microseconds of one another: the
  /// second wait is short, so the host only polls.
  void meet() const {
    if (world_.size() == 1) return;
    auto const where = std::source_location::current();
    for (int i = 0; i < 2; ++i) {
      world_.transport().all_gather(words_.data() + world_.rank(), words_.data(),
                                    sizeof(std::uint32_t), {}, where);
      world_.transport().wait({}, where);
    }
  }

 private:
  warden::communicator world_;
  warden::buffer<std::uint32_t> words_;
};

/// Point of one graph; all arms search from the same vertex. The time begins with the graph in
/// device memory and ends with levels and parents in device memory, on the slowest GPU. An
/// operation is an arc that leaves a reached vertex.
class search_point final : public bench::graph_point {
 public:
  using graph_point::graph_point;
  [[nodiscard]] bool has(std::string const& arm) const override {
    auto const device = warden::runtime::facts(warden::runtime::current_device());
    return gpus_of(arm) <= (device.simulated ? 2 : warden::runtime::device_count());
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    graph::device_csr const rows = build_csr(to_device(unweighted()), {});
    graph::csr const on_host = to_host(rows);
    input const in{rows, on_host, bench::search_source(rows, on_host)};
    // Concurrently with the GPUs, because one core takes longer for its search.
    auto levels = std::async(std::launch::async,
                             [&] { return breadth_first::levels_from(on_host, in.source); });
    std::map<std::string, measured_repetitions> measured;
    for (std::string const& arm : s.arms) {
      if (has(arm)) measured.emplace(arm, measure(arm, in, s.repetitions));
    }
    std::vector<std::uint32_t> const wanted = levels.get();
    std::map<std::string, bench::row> found;
    for (auto& [arm, all] : measured) found[arm] = row_of(arm, in, wanted, all);
    return found;
  }
  /// Without weights, which a search does not need, the copy has half of the size.
  [[nodiscard]] graph::edge_list unweighted() const {
    graph::edge_list edges = make();
    edges.weights = {};
    return edges;
  }

  struct input {
    graph::device_csr const& rows;
    graph::csr const& on_host;
    std::uint32_t source;
  };
  /// Repetitions of one arm.
  struct measured_repetitions {
    std::vector<double> seconds;
    std::vector<owner_answer> answers;
    std::map<std::string, double> counters;
  };

  static measured_repetitions measure(std::string const& arm, input const& in,
                                      unsigned repetitions) {
    measured_repetitions all{
        std::vector<double>(repetitions),
        std::vector<owner_answer>(repetitions, owner_answer{in.on_host.vertices()}),
        {}};
    if (arm == "one_gpu") {
      search_by_arm(in, all);
    } else {
      search_by_owner(gpus_of(arm), in, all);
    }
    return all;
  }
  /// Checks all results. `wanted` are the levels of a sequential search.
  [[nodiscard]] bench::row row_of(std::string const& arm, input const& in,
                                  std::vector<std::uint32_t> const& wanted,
                                  measured_repetitions& all) const {
    bench::row r;
    r.verified = true;
    for (owner_answer const& answer : all.answers)
      r.verified = is_right(arm, in, wanted, answer, r) && r.verified;
    std::sort(all.seconds.begin(), all.seconds.end());
    r.seconds = all.seconds[all.seconds.size() / 2];
    r.counters.merge(all.counters);
    r.counters["gpus"] = gpus_of(arm);
    r.counters["runs"] = static_cast<double>(all.seconds.size());
    r.counters["fastest_ms"] = 1e3 * all.seconds.front();
    r.counters["slowest_ms"] = 1e3 * all.seconds.back();
    r.counters["ns_a_level"] = 1e9 * r.seconds / r.counters["levels"];
    return r;
  }

  static void search_by_arm(input const& in, measured_repetitions& all) {
    breadth_first::searcher finder{in.rows.view(), in.rows.view(), "direction_optimizing"};
    finder.find(in.source);  // warm
    for (std::size_t k = 0; k < all.seconds.size(); ++k) {
      all.seconds[k] = seconds_of(finder, in.source);
      auto& answer = all.answers[k];
      warden::copy(answer.levels.data(), finder.levels(), answer.levels.size());
      warden::copy(answer.parents.data(), finder.parents(), answer.parents.size());
      warden::stream_ref{}.synchronize();
    }
    all.counters = {{"levels", finder.facts().levels},
                    {"levels_bottom_up", finder.facts().bottom_up}};
  }
  static void search_by_owner(int gpus, input const& in, measured_repetitions& all) {
    auto const parts =
        breadth_first::deal_by_degree(in.on_host, in.on_host, static_cast<std::uint32_t>(gpus));
    std::mutex mutex;
    warden::run_on_gpus(gpus, [&](warden::communicator const& world) {
      breadth_first::owner_searcher finder{world, parts, in.on_host, in.on_host};
      meeting const ranks{world};
      finder.find(in.source);  // warm, and NCCL makes its connections
      for (std::size_t k = 0; k < all.seconds.size(); ++k) {
        ranks.meet();
        double const seconds = seconds_of(finder, in.source);
        finder.write_to(all.answers[k]);
        std::lock_guard const lock{mutex};
        all.seconds[k] = std::max(all.seconds[k], seconds);
      }
      ranks.meet();
      auto const times = finder.find_and_measure(in.source, most_measured);
      auto const& facts = finder.facts();
      std::lock_guard const lock{mutex};
      if (world.rank() != 0) return;
      all.counters = {{"levels", facts.levels},
                      {"levels_bottom_up", facts.bottom_up},
                      {"steps", facts.steps},
                      {"bytes_a_step", static_cast<double>(finder.sent_bytes())}};
      note_times(times, all.counters);
    });
  }
  /// Number of steps whose parts are measured. A search of a road network has thousands.
  static constexpr std::size_t most_measured = 64;
  /// Writes the microseconds of the first steps, and the sum of all measured steps.
  static void note_times(std::vector<breadth_first::step_times> const& times,
                         std::map<std::string, double>& to) {
    for (std::size_t step = 0; step < times.size(); ++step) {
      auto const note = [&](char const* part, double seconds) {
        to[std::string{part} + "_us"] += 1e6 * seconds;
        if (step < 12) to[std::string{part} + "_us_" + std::to_string(step)] = 1e6 * seconds;
      };
      note("go", times[step].go);
      note("exchange", times[step].exchange);
      note("merge", times[step].merge);
    }
  }
  template <class Searcher>
  static double seconds_of(Searcher& finder, std::uint32_t source) {
    warden::timer clock;
    clock.start();
    finder.find(source);
    clock.stop();
    return clock.result().seconds;
  }

  /// Also writes the numbers of vertices and arcs to the row.
  bool is_right(std::string const& arm, input const& in, std::vector<std::uint32_t> const& wanted,
                owner_answer const& answer, bench::row& r) const {
    warden::buffer<std::uint32_t> const levels{answer.levels}, parents{answer.parents};
    auto const seen =
        breadth_first::audit(in.rows.view(), in.source, levels.data(), parents.data());
    std::string wrong = breadth_first::error_text(seen);
    if (wrong.empty() && answer.levels != wanted)
      wrong = "levels are not those of a sequential search";
    r.operations = seen.arcs;
    r.counters["vertices"] = static_cast<double>(seen.reached);
    if (!wrong.empty()) std::fprintf(stderr, "%s: %s\n", name(arm).c_str(), wrong.c_str());
    return wrong.empty();
  }
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"breadth_first_gpus",
                         "Breadth-first search on several GPUs, by the owners of vertices.", argc,
                         argv};
  bench::graph_inputs const inputs{program,
                                   {"rmat24", "rmat22", "uniform23", "road24m", "empty_levels"}};
  if (!program.parse(arms, argc, argv)) return program.exit_code();
  return program.run([&](bench::program::points& points) {
    for (auto const& [name, input] : inputs.chosen())
      points.push_back(std::make_shared<search_point>(name, input));
  });
}
