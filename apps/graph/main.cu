// SPDX-License-Identifier: Apache-2.0
// graph info FILE, graph convert IN OUT, graph generate KIND: files of graphs.

#include "apps/graph/file_argument.hpp"
#include "apps/graph/generate.cuh"
#include "apps/graph/readers.hpp"
#include "apps/graph/summary.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/graph/writers.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using graph::edge_list;
using number = unsigned long long;  // for printf

/// A file to write.
struct output {
  std::string path, format, comment;
  std::optional<apps::output_file> file;

  [[nodiscard]] std::optional<graph::file_format> given_format() const {
    return format.empty() ? std::nullopt : std::optional{graph::format_named(format)};
  }
  /// Throws if it cannot be written, before the work that takes long.
  void open() {
    graph::check_output(path, given_format());
    file.emplace(path);
  }
  void write(edge_list const& g) {
    std::string const lost = graph::write_graph(*file, g, comment, given_format());
    if (!lost.empty()) std::fprintf(stderr, "graph: %s\n", lost.c_str());
    std::printf("%s: %llu vertices, %llu %s\n", path.c_str(), static_cast<number>(g.vertices),
                static_cast<number>(g.edges()), g.directed ? "arcs" : "edges");
  }
};

void print_info(std::string const& path, edge_list const& g) {
  auto const s = graph::summarize(g);
  std::printf("%s: %llu vertices, %llu %s, ", path.c_str(), static_cast<number>(g.vertices),
              static_cast<number>(g.edges()), g.directed ? "arcs" : "edges");
  if (g.is_weighted()) {
    std::printf("weights from %u to %u\n", s.least_weight, s.largest_weight);
  } else {
    std::printf("no weights\n");
  }
  std::printf("%llu self-loops, %llu parallel edges", static_cast<number>(s.self_loops),
              static_cast<number>(s.parallel));
  if (g.directed) std::printf(", %llu arcs with one back", static_cast<number>(s.opposite));
  std::printf("\n%llu vertices without edges, at most %llu edges at one\n",
              static_cast<number>(s.isolated), static_cast<number>(s.largest_degree));
  if (g.ends) {
    auto const name = [&](graph::vertex v) {
      return v == graph::no_vertex ? "unnamed" : std::to_string(g.name_of(v));
    };
    std::printf("source %s, sink %s\n", name(g.ends->source).c_str(), name(g.ends->sink).c_str());
  }
}

/// The parameters of all generators; those of one are made into it.
struct generators {
  graph::rmat_options rmat;
  graph::uniform_options uniform;
  graph::road_grid_options road;
  graph::washington_options washington;
  graph::rmf_options rmf;
  graph::image_grid_options image;
  bool is_in_order = false;
  std::function<graph::generator()> chosen;

  void add_to(CLI::App& command, output& to) {
    command.require_subcommand(1);
    auto const kind = [&](char const* name, char const* what, std::uint64_t& seed, auto make) {
      CLI::App* const k = command.add_subcommand(name, what);
      k->add_option("--seed", seed, "another one makes another graph of the kind")
          ->transform(apps::whole())
          ->capture_default_str();
      k->add_option("--out", to.path, "the file to write")->required()->check(apps::file_name());
      k->add_option("--format", to.format, "format of the file; by default that of its ending")
          ->check(CLI::IsMember(graph::format_names()));
      k->callback([this, make] { chosen = make; });
      return [k](char const* option, auto& value, char const* meaning) {
        auto* const added = k->add_option(option, value, meaning)->capture_default_str();
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_integral_v<type>) {
          added->transform(apps::whole(0, std::numeric_limits<type>::max()));
        } else {
          added->transform(apps::real(0, 4));  // chances, and arcs of a full grid
        }
      };
    };
    auto const weights = "weights are uniform from 1 to this";
    auto with = kind("rmat", "R-MAT: degrees follow a power law", rmat.seed, [this] {
      rmat.scramble = !is_in_order;
      return graph::rmat{rmat};
    });
    with("--scale", rmat.scale, "2^scale vertices");
    with("--edge-factor", rmat.edge_factor, "edges for each vertex");
    with("--a", rmat.a, "chance of the first quarter of the adjacency matrix");
    with("--b", rmat.b, "of the second");
    with("--c", rmat.c, "of the third; the fourth has the rest");
    with("--largest-weight", rmat.largest_weight, weights);
    command.get_subcommand("rmat")->add_flag("--in-order", is_in_order,
                                             "vertices are not renumbered: hubs come first");

    auto with_uniform = kind("uniform", "edges between any two vertices", uniform.seed,
                             [this] { return graph::uniform{uniform}; });
    with_uniform("--vertices", uniform.vertices, "their number");
    with_uniform("--edges", uniform.edges, "their number");
    with_uniform("--largest-weight", uniform.largest_weight, weights);

    auto with_road = kind("road", "a grid of streets, many of them missing", road.seed,
                          [this] { return graph::road_grid{road}; });
    with_road("--rows", road.rows, "of crossings");
    with_road("--columns", road.columns, "of crossings");
    with_road("--arcs-a-vertex", road.arcs_a_vertex, "twice the edges by the vertices");

    auto with_washington = kind("washington", "a flow network: Washington's random level graph",
                                washington.seed, [this] { return graph::washington{washington}; });
    with_washington("--rows", washington.rows, "vertices of a column");
    with_washington("--columns", washington.columns, "columns from source to sink");
    with_washington("--largest-capacity", washington.largest_capacity, "they are uniform from 1");

    auto with_rmf = kind("rmf", "a flow network: Goldfarb and Grigoriadis' RMF", rmf.seed,
                         [this] { return graph::rmf{rmf}; });
    with_rmf("--a", rmf.a, "side of a frame");
    with_rmf("--b", rmf.b, "frames");
    with_rmf("--c1", rmf.c1, "least capacity between frames");
    with_rmf("--c2", rmf.c2, "largest capacity between frames");

    auto with_image = kind("image", "a flow network: pixels to be told apart", image.seed,
                           [this] { return graph::image_grid{image}; });
    with_image("--rows", image.rows, "of pixels");
    with_image("--columns", image.columns, "of pixels");
    with_image("--patch", image.patch, "pixels between the heights of the landscape");
  }
};

/// The arguments as given, without the file that is written.
std::string words_of(int argc, char** argv) {
  std::string words = "graph";
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--out") {
      ++i;
    } else if (!word.starts_with("--out=")) {
      words += " " + word;
    }
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Files of graphs: what is in them, other formats, generated ones.", "graph"};
  app.require_subcommand(1);
  graph::file_argument from;
  output to;
  std::uint64_t weights_seed = 1;
  graph::weight largest_weight = 0;
  bool is_undirected = false;
  generators g;

  CLI::App* const info = app.add_subcommand("info", "says what is in a file");
  from.add_to(*info);
  CLI::App* const convert = app.add_subcommand("convert", "writes a file in another format");
  from.add_to(*convert);
  convert->add_option("OUT", to.path, "the file to write")->required()->check(apps::file_name());
  convert->add_option("--out-format", to.format, "of that file, if its ending does not tell")
      ->check(CLI::IsMember(graph::format_names()));
  convert
      ->add_option("--draw-weights", largest_weight,
                   "weights, uniform from 1 to this, instead of those of the file")
      ->transform(apps::whole(1, graph::most_weight));
  convert->add_option("--seed", weights_seed, "of drawn weights")
      ->transform(apps::whole())
      ->capture_default_str();
  convert->add_flag("--undirected", is_undirected,
                    "arcs are edges; both ways of one, if all are listed so");
  CLI::App* const generate = app.add_subcommand("generate", "writes a generated graph");
  g.add_to(*generate, to);

  return apps::run_host_command(app, argc, argv, [&] {
    if (info->parsed()) {
      print_info(from.path, from.read("graph"));
    } else if (convert->parsed()) {
      to.open();
      from.skips_weights = largest_weight != 0;
      edge_list list = from.read("graph");
      if (is_undirected) make_undirected(list);
      if (largest_weight != 0) draw_weights(list, largest_weight, weights_seed);
      to.comment = from.name();
      if (largest_weight != 0)
        to.comment += ", weights drawn with seed " + std::to_string(weights_seed);
      to.write(list);
    } else {
      to.comment = words_of(argc, argv);
      graph::generator const chosen = g.chosen();
      to.open();
      to.write(graph::generate(chosen));
    }
    return 0;
  });
}
