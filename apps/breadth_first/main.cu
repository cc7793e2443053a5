// SPDX-License-Identifier: Apache-2.0
// Command breadth_first FILE: finds and checks the distances of all vertices from one vertex.

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/owner_gpus.cuh"
#include "apps/breadth_first/reference.hpp"
#include "apps/breadth_first/searcher.cuh"
#include "apps/graph/device_csr.cuh"
#include "apps/graph/file_argument.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress_line.hpp"
#include "apps/support/text_writer.hpp"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using breadth_first::owner_answer;
using breadth_first::unreached;
using graph::edge_list;
using number = unsigned long long;  // for printf

struct options {
  graph::file_argument file;
  std::string arm = "direction_optimizing", out;
  std::optional<std::uint64_t> source;
  breadth_first::search_options how;
  bool is_undirected = false, shows_levels = false;
  int gpus = 0;  ///< 0: one device, by `arm`
};

/// Result of a search, with its time and facts.
struct outcome {
  owner_answer answer;
  std::string how;
  std::uint32_t levels;
  double seconds;  ///< 0 on the simulated device
};

graph::vertex source_of(edge_list const& g, options const& o) {
  if (g.vertices == 0)
    throw std::runtime_error{o.file.path + ": the graph has no vertices, so none to begin at"};
  if (!o.source) return 0;
  if (auto const v = g.vertex_called(*o.source)) return *v;
  throw std::runtime_error{"--source: " + std::to_string(*o.source) + " is no vertex of " +
                           o.file.path};
}

/// Rows of a graph in device memory, and rows of its reversed arcs if the arm needs them and they
/// differ.
struct both_rows {
  graph::device_csr out, in;
  bool has_in;

  both_rows(edge_list const& g, bool looks_back)
      : out{rows_of(g)}, has_in{looks_back && g.directed} {
    if (!has_in) return;
    edge_list turned = g;
    std::swap(turned.from, turned.to);
    in = rows_of(turned);
  }
  static graph::device_csr rows_of(edge_list const& g) {
    return build_csr(to_device(g),
                     {g.directed ? graph::arcs_of::directed : graph::arcs_of::undirected});
  }
  [[nodiscard]] graph::csr_view of_in() const { return has_in ? in.view() : out.view(); }
};

std::vector<std::uint32_t> on_host(std::uint32_t const* from, std::size_t n) {
  std::vector<std::uint32_t> host(n);
  warden::copy(host.data(), from, n);
  warden::stream_ref{}.synchronize();
  return host;
}

void write_answer(apps::output_file& out, edge_list const& g, graph::vertex source,
                  std::vector<std::uint32_t> const& levels,
                  std::vector<std::uint32_t> const& parents) {
  apps::text_writer to{out};
  to.line('s', g.name_of(source));
  for (std::size_t v = 0; v < levels.size(); ++v) {
    if (levels[v] == unreached) continue;
    to.line('v', g.name_of(static_cast<graph::vertex>(v)), levels[v], g.name_of(parents[v]));
  }
  to.commit();
}

void print_levels(std::vector<std::uint32_t> const& levels, std::size_t depth) {
  std::vector<number> sizes(depth + 1);
  for (std::uint32_t const level : levels) {
    if (level != unreached) ++sizes[level];
  }
  std::printf("%12s%12s\n", "level", "vertices");
  for (std::size_t level = 0; level <= depth; ++level)
    std::printf("%12zu%12llu\n", level, sizes[level]);
}

outcome find_by_arm(options const& o, both_rows const& rows, graph::vertex source) {
  breadth_first::searcher finder{rows.out.view(), rows.of_in(), o.arm, o.how};
  warden::timer clock;
  clock.start();
  finder.find(source);
  clock.stop();
  owner_answer answer{0};
  answer.levels = on_host(finder.levels(), rows.out.vertices());
  answer.parents = on_host(finder.parents(), rows.out.vertices());
  auto const& facts = finder.facts();
  return {std::move(answer),
          o.arm + ", " + std::to_string(facts.alone) + " levels by one block and " +
              std::to_string(facts.bottom_up) + " bottom-up",
          facts.levels, clock.result().seconds};
}

outcome find_by_owner(options const& o, both_rows const& rows, graph::csr const& out,
                      graph::vertex source) {
  graph::csr const in = rows.has_in ? to_host(rows.in) : graph::csr{};
  auto found = breadth_first::find_on_gpus(o.gpus, out, rows.has_in ? in : out, source);
  return {std::move(found.answer),
          "owner on " + std::to_string(o.gpus) + " GPUs, " + std::to_string(found.facts.bottom_up) +
              " levels bottom-up",
          found.facts.levels, found.seconds};
}

int find(options const& o) {
  std::optional<apps::output_file> out;
  if (!o.out.empty()) out.emplace(o.out);
  edge_list g = o.file.read("breadth_first");
  if (o.is_undirected) make_undirected(g);
  graph::vertex const source = source_of(g, o);
  std::optional<apps::progress_line> line;
  // Shows another line for each step, however short.
  auto const show = [&](char const* what) {
    line.emplace().show([&] { return std::string{what}; });
  };
  show("rows of arcs");
  both_rows const rows{g, o.gpus != 0 || breadth_first::looks_back(o.arm)};
  graph::csr const host_rows = to_host(rows.out);
  show("searching");
  outcome const done =
      o.gpus != 0 ? find_by_owner(o, rows, host_rows, source) : find_by_arm(o, rows, source);

  show("checking");
  auto const& [levels, parents] = done.answer;
  warden::buffer<std::uint32_t> const device_levels{levels}, device_parents{parents};
  auto const found =
      breadth_first::audit(rows.out.view(), source, device_levels.data(), device_parents.data());
  std::string wrong = breadth_first::error_text(found);
  if (wrong.empty() && levels != breadth_first::levels_from(host_rows, source))
    wrong = "its levels are not those of a sequential search";
  line.reset();
  if (!wrong.empty()) {
    std::fprintf(stderr, "breadth_first: the check failed: %s\n", wrong.c_str());
    return 1;
  }
  if (out) write_answer(*out, g, source, levels, parents);
  if (o.shows_levels) print_levels(levels, found.depth);
  std::printf("%s: %llu vertices, %llu arcs\n", o.file.path.c_str(),
              static_cast<number>(g.vertices), static_cast<number>(rows.out.arcs()));
  std::printf("from %llu: %llu vertices in %u levels, %llu arcs leave them\n",
              static_cast<number>(g.name_of(source)), static_cast<number>(found.reached),
              done.levels, static_cast<number>(found.arcs));
  std::printf("found by %s", done.how.c_str());
  if (done.seconds > 0) std::printf(", in %.3f ms", 1e3 * done.seconds);
  std::printf(" on %s\n", warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  std::printf(
      "checked: the levels of a sequential search, and an arc from each vertex's parent, one level "
      "below\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Distances in arcs from one vertex of a graph to all others, checked.",
               "breadth_first"};
  options o;
  o.file.add_to(app);
  o.file.skips_weights = true;
  app.add_option("--source", o.source, "first vertex of the search; by default that of the file")
      ->transform(apps::whole());
  CLI::Option* const arm = app.add_option("--arm", o.arm, "arm that searches")
                               ->check(CLI::IsMember(breadth_first::arm_names()))
                               ->capture_default_str();
  app.add_flag("--undirected", o.is_undirected,
               "arcs are edges; if each has one back, two are one edge");
  app.add_option("--out", o.out, "writes levels and parents to this file: lines s and v")
      ->check(apps::file_name());
  app.add_flag("--levels", o.shows_levels, "prints the number of vertices of each level");
  CLI::Option* const alpha =
      app.add_option("--alpha", o.how.direction.alpha,
                     "bottom-up from a frontier on that has 1 / alpha of the arcs not yet followed")
          ->transform(apps::whole(1, std::numeric_limits<std::uint32_t>::max()))
          ->capture_default_str();
  CLI::Option* const beta =
      app.add_option("--beta", o.how.direction.beta,
                     "top-down again when it has less than 1 / beta of the vertices")
          ->transform(apps::whole(1, std::numeric_limits<std::uint32_t>::max()))
          ->capture_default_str();
  app.add_option("--gpus", o.gpus, "number of GPUs, each with a share of the vertices")
      ->transform(apps::whole(1, 64))
      ->excludes(arm, alpha, beta);
  return apps::run_command(app, argc, argv, [&] { return find(o); });
}
