// SPDX-License-Identifier: Apache-2.0
// Files of graphs: valid ones, and the errors of invalid ones.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/readers.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using graph::edge_list;
using test::edges;
using test::from_one;
using testing::StartsWith;
using cases = std::vector<std::pair<std::string, std::string>>;

class graph_readers : public test::graph_folder {
 protected:
  /// Texts that are the same graph.
  void all_are(edge_list const& wanted, std::string const& name,
               std::vector<std::string> const& texts) {
    for (std::string const& text : texts) {
      SCOPED_TRACE(text);
      EXPECT_EQ(read(name, text), wanted);
      std::string with_returns;
      for (char const c : text) with_returns += c == '\n' ? std::string{"\r\n"} : std::string{c};
      EXPECT_EQ(read(name, with_returns), wanted) << "with carriage returns";
      std::string returns_alone = text;
      std::replace(returns_alone.begin(), returns_alone.end(), '\n', '\r');
      EXPECT_EQ(read(name, returns_alone), wanted) << "with carriage returns alone";
    }
  }
  /// Checks the error for `before`, a line of a case, and `after`.
  void refuses(std::string const& name, std::string const& before, std::string const& after,
               cases const& wrong) {
    for (auto const& [line, error] : wrong) {
      SCOPED_TRACE(line);
      EXPECT_EQ(error_of(name, before + line + "\n" + after), error);
    }
  }
};

TEST_F(graph_readers, shortest_paths) {
  all_are(from_one(edges(4, true, {0, 3, 3, 0}, {1, 3, 0, 1}, {7, 0, 4294967295, 7})), "x.gr",
          {"p sp 4 4\na 1 2 7\na 4 4 0\na 4 1 4294967295\na 1 2 7\n",
           "c a comment\ncanother\n \tc after blanks\n\np sp 4 4\nc\na 1 2 7\na 4 4 0\na 4 1 "
           "4294967295\na 1 2 7",
           "p\tsp  4 4 \na 1\t2   7  \na 4 4 000000000000000000000000\na 4 1 4294967295\n\n"
           "a 0001 2 7\n \n",
           "\xef\xbb\xbfp sp 4 4\na 1 2 7\na 4 4 0\na 4 1 4294967295\na 1 2 7\n"});
}

TEST_F(graph_readers, shortest_paths_that_are_wrong) {
  refuses(
      "x.gr", "p sp 4 2\na 1 2 7\n", "",
      {{"a 1 2 -7", ":3: weight -7 is negative"},
       {"a 1 2 4294967296", ":3: weight 4294967296 is not from 0 to 4294967295"},
       {"a 1 2 99999999999999999999999",
        ":3: weight 99999999999999999999999 is not from 0 to 4294967295"},
       {"a 1 2 1.5", ":3: weight 1.5 has a fraction; --weight-factor makes whole numbers of all"},
       {"a 1 2 x", ":3: weight \"x\" is not a number"},
       {"a 1 2 ++1", ":3: weight \"++1\" is not a number"},
       {"a 1 2", ":3: weight is missing"},
       {"a 1", ":3: vertex is missing"},
       {"a", ":3: vertex is missing"},
       {"a 0 2 7", ":3: vertex 0 is not from 1 to 4, the number of vertices"},
       {"a 1 5 7", ":3: vertex 5 is not from 1 to 4, the number of vertices"},
       {"a -1 2 7", ":3: vertex -1 is negative"},
       {"a 1 2 7 8", ":3: \"8\" is more than belongs in this line"},
       {"e 1 2", ":3: a line of kind \"e\"; there are a, c and p"},
       {"n 1 s", ":3: a line of kind \"n\"; there are a, c and p"},
       {"\x01\x02" + std::string(50, 'z'),
        ":3: a line of kind \"??" + std::string(38, 'z') + "...\"; there are a, c and p"},
       {"p sp 4 2", ":3: a second header; the first is in line 1"},
       {"a 1 2 7\na 1 2 7", ":4: one more than the 2 arcs that line 1 announces"},
       {"c", ":3: the file ends after 1 of 2 arcs"}});
  refuses(
      "x.gr", "", "",
      {{"", ": no header p sp VERTICES ARCS"},
       {"c only", ": no header p sp VERTICES ARCS"},
       {"a 1 2 3", ":1: before the header p sp VERTICES ARCS"},
       {"p max 4 1", ":1: a header for the problem \"max\", not \"sp\""},
       {"p sp 4", ":1: the number of arcs is missing"},
       {"p sp 4 1 1", ":1: \"1\" is more than belongs in this line"},
       {"p sp -4 1", ":1: the number of vertices -4 is negative"},
       {"p sp 4294967296 1", ":1: the number of vertices 4294967296 is not from 0 to 4294967295"},
       {"p sp 4 18446744073709551616",
        ":1: the number of arcs 18446744073709551616 is not from 0 to 18446744073709551615"},
       {"p sp 4 1000000000000000000\na 1 2 3",
        ":2: the file ends after 1 of 1000000000000000000 arcs"}});
  EXPECT_EQ(error_of("x.gr", ""), ": no header p sp VERTICES ARCS");
  EXPECT_EQ(error_of("x.gr", "p sp 4 1\na 1 2"), ":2: weight is missing") << "cut off";
}

TEST_F(graph_readers, flow_networks) {
  edge_list wanted = from_one(edges(3, true, {0, 0}, {1, 2}, {5, 0}));
  wanted.ends = {2, 1};
  all_are(wanted, "x.max",
          {"p max 3 2\nn 3 s\nn 2 t\na 1 2 5\na 1 3 0\n",
           "c\np max 3 2\na 1 2 5\nn 2 t\na 1 3 0\nn 3 s"});
}

TEST_F(graph_readers, flow_networks_without_terminals) {
  edge_list wanted = from_one(edges(3, true, {0}, {1}, {5}));
  wanted.ends = {2, graph::no_vertex};
  EXPECT_EQ(read("x.max", "p max 3 1\nn 3 s\na 1 2 5\n"), wanted);
  wanted.ends = {graph::no_vertex, graph::no_vertex};
  EXPECT_EQ(read("x.max", "p max 3 1\na 1 2 5\n"), wanted);
}

TEST_F(graph_readers, flow_networks_that_are_wrong) {
  refuses("x.max", "p max 3 1\nn 3 s\n", "a 1 2 5\n",
          {{"n 1 s", ":3: a second source"},
           {"n 3 t", ":3: vertex 3 is source and sink"},
           {"n 4 t", ":3: vertex 4 is not from 1 to 3, the number of vertices"},
           {"n 1 u", ":3: \"u\" is neither s, the source, nor t, the sink"},
           {"n 1", ":3: \"\" is neither s, the source, nor t, the sink"},
           {"n 1 t\nn 2 t", ":4: a second sink"},
           {"n 1 t\na 1 2 4294967296", ":4: capacity 4294967296 is not from 0 to 4294967295"},
           {"n 1 t\nx", ":4: a line of kind \"x\"; there are a, c, n and p"}});
  EXPECT_EQ(error_of("x.max", "n 1 t\n"), ":1: before the header p max VERTICES ARCS");
}

TEST_F(graph_readers, matrices) {
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  all_are(from_one(edges(3, true, {0, 2}, {1, 2})), "x.mtx",
          {banner + "pattern general\n3 3 2\n1 2\n3 3\n",
           "%%matrixmarket MATRIX Coordinate Pattern General\n% a\n\n%\n3 3 2\n1 2\n%\n3 3",
           "%MatrixMarket matrix coordinate pattern general\n \t% a\n \n3 3 +2\n +1 2\n  %\n3 3"});
  all_are(from_one(edges(3, false, {1, 2}, {0, 2}, {9, 0})), "x.mtx",
          {banner + "integer symmetric\n3 3 2\n2 1 9\n3 3 0\n",
           banner + "real symmetric\n3 3 2\n2 1 9.0\n3 3 -0e5\n",
           banner + "real symmetric\n3 3 2\n2 1 0.9e1\n3 3 1E-999\n",
           banner + "real symmetric\n%%GraphBLAS type bool\n3 3 2\n2 1 +9.0E+00\n3 3 0.\n"});
  all_are(from_one(edges(3, false, {0, 2}, {1, 1}, {9, 0})), "x.mtx",
          {banner + "integer symmetric\n3 3 2\n1 2 9\n3 2 0\n"});
}

TEST_F(graph_readers, weights_are_multiplied_in_all_formats) {
  graph::read_options thousandths;
  thousandths.weight_factor = 1000;
  edge_list const wanted = edges(1, true, {0, 0, 0}, {0, 0, 0}, {13, 1000, 4294967000});
  std::string const banner = "%%MatrixMarket matrix coordinate ",
                    values[]{"0.0125", "1", "4294967"};
  auto const lines = [&](std::string const& before) {
    std::string text;
    for (std::string const& v : values) text += before + " " + v + "\n";
    return text;
  };
  for (std::string const kind : {"real", "integer"}) {
    EXPECT_EQ(read("x.mtx", banner + kind + " general\n1 1 3\n" + lines("1 1"), thousandths),
              from_one(wanted));
  }
  EXPECT_EQ(read("x.gr", "p sp 1 3\n" + lines("a 1 1"), thousandths), from_one(wanted));
  EXPECT_EQ(read("x.txt", lines("0 0"), thousandths), wanted);
  edge_list network = from_one(wanted);
  network.ends.emplace();
  EXPECT_EQ(read("x.max", "p max 1 3\n" + lines("a 1 1"), thousandths), network);
  EXPECT_EQ(error_of("x.gr", "p sp 1 1\na 1 1 4294967.5\n", thousandths),
            ":2: weight 4294967.5, multiplied by 1000.000000, is not from 0 to 4294967295");
}

TEST_F(graph_readers, weights_that_are_not_needed_may_be_anything) {
  graph::read_options unweighted;
  unweighted.skips_weights = true;
  edge_list const wanted = edges(2, true, {0, 1, 0}, {1, 0, 1});
  std::string const banner = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_EQ(read("x.mtx", banner + "2 2 3\n1 2 -1\n2 1 0.5\n1 2 nan\n", unweighted),
            from_one(wanted));
  EXPECT_EQ(read("x.gr", "p sp 2 3\na 1 2 -1\na 2 1 0.5\na 1 2 far\n", unweighted),
            from_one(wanted));
  EXPECT_EQ(read("x.txt", "0 1 -1\n1 0 0.5\n0 1 far\n", unweighted), wanted);
  edge_list network = from_one(wanted);
  network.ends.emplace();
  EXPECT_EQ(read("x.max", "p max 2 3\na 1 2 -1\na 2 1 1e99\na 1 2 far\n", unweighted), network);
  EXPECT_EQ(error_of("x.gr", "p sp 2 1\na 1 2\n", unweighted), ":2: weight is missing");
  EXPECT_EQ(error_of("x.gr", "p sp 2 1\na 1 2 3 4\n", unweighted),
            ":2: \"4\" is more than belongs in this line");
}

TEST_F(graph_readers, matrices_that_are_wrong) {
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  std::string const form = banner + "pattern|integer|real general|symmetric";
  EXPECT_EQ(error_of("x.mtx", ""), ": no header " + form);
  EXPECT_EQ(error_of("x.mtx", "3 3 1\n1 2\n"), ":1: no header " + form);
  refuses(
      "x.mtx", "%%MatrixMarket ", "3 3 1\n1 1 1\n",
      {{"matrix array real general",
        ":1: \"matrix array real general\" is not read; what is: " + form},
       {"matrix coordinate complex general",
        ":1: \"matrix coordinate complex general\" is not read; what is: " + form},
       {"", ":1: \"\" is not read; what is: " + form},
       {"matrix coordinate real", ":1: \"matrix coordinate real\" is not read; what is: " + form}});
  EXPECT_EQ(error_of("x.mtx", banner + "pattern general\n%\n"), ": no line ROWS COLUMNS ENTRIES");
  EXPECT_EQ(error_of("x.mtx", banner + "pattern general\n3 4 1\n1 1\n"),
            ":2: 3 rows and 4 columns; the matrix of a graph is square");
  refuses("x.mtx", banner + "real symmetric\n3 3 2\n3 1 1\n", "",
          {{"0 1 1", ":4: row 0 is not from 1 to 3"},
           {"3 4 1", ":4: column 4 is not from 1 to 3"},
           {"3 1", ":4: weight is missing"},
           {"3 1 x", ":4: weight \"x\" is not a number"},
           {"3 1 nan", ":4: weight \"nan\" is not a number"},
           {"3 1 -0.5", ":4: weight -0.5 is negative"},
           {"3 1 0.5", ":4: weight 0.5 has a fraction; --weight-factor makes whole numbers of all"},
           {"3 1 4294967296", ":4: weight 4294967296 is not from 0 to 4294967295"},
           {"3 1 inf", ":4: weight inf is not from 0 to 4294967295"},
           {"3 1 1e999", ":4: weight 1e999 is not from 0 to 4294967295"},
           {"3 1 1 1", ":4: \"1\" is more than belongs in this line"},
           {"3 1 1\n3 1 1", ":5: one more than the 2 entries that the file announces"},
           {"%", ":4: the file ends after 1 of 2 entries"}});
  graph::read_options thousandths;
  thousandths.weight_factor = 1000;
  EXPECT_EQ(error_of("x.mtx", banner + "real general\n1 1 1\n1 1 4294968\n", thousandths),
            ":3: weight 4294968, multiplied by 1000.000000, is not from 0 to 4294967295");
}

TEST_F(graph_readers, edge_lists) {
  all_are(edges(3, true, {0, 2, 2}, {1, 2, 0}), "x.txt",
          {"0 1\n2 2\n2 0\n", "# Nodes: 3\n0\t1\n\n% no\n2 2\n2\t0",
           "  # indented\n0 1\n\t% no\n+2 2\n2 +0\n"});
  all_are(edges(2, false, {0, 1}, {1, 0}, {7, 8}), "x.el",
          {"# Undirected graph: x.txt\n0 1 7\n1 0 8\n", " #  Undirected graph\n0 1 7\n1 0 8\n"});
  all_are(edges(2, true, {0}, {1}), "x.txt",
          {"# Directed graph: made from an undirected graph\n0 1\n", "# an Undirected graph\n0 1\n",
           "% Undirected graph\n0 1\n", "# Undirected\n# graph\n0 1\n"});
  edge_list from_five = edges(2, true, {0}, {1});
  from_five.first_name = 5;
  EXPECT_EQ(read("x.edges", "5 6\n"), from_five);
  edge_list sparse = edges(4, true, {3, 0, 1}, {1, 2, 1});
  sparse.names = {0, 63, 64, 4294967294};
  EXPECT_EQ(read("x.txt", "4294967294 63\n0 64\n63 63\n"), sparse);
  EXPECT_EQ(sparse.name_of(3), 4294967294u);
}

TEST_F(graph_readers, edge_lists_that_are_wrong) {
  refuses("x.txt", "# x\n0 1\n", "",
          {{"0", ":3: vertex is missing"},
           {"0 1 2", ":3: \"2\" is more than belongs in this line"},
           {"-1 0", ":3: vertex -1 is negative"},
           {"0 4294967295", ":3: vertex 4294967295 is not from 0 to 4294967294"},
           {"a b", ":3: vertex \"a\" is not a whole number"},
           {"%%MatrixMarket matrix coordinate pattern general",
            ":3: this is a matrix of Matrix Market; read it with --format mtx"}});
  EXPECT_EQ(error_of("x.txt", "0 1 5\n0 1\n"), ":2: weight is missing");
}

TEST_F(graph_readers, small_graphs) {
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  for (std::uint64_t const n : {0, 1}) {
    std::string const size = std::to_string(n) + " ";
    EXPECT_EQ(read("x.gr", "p sp " + size + "0\n"), from_one(edges(n, true, {}, {})));
    EXPECT_EQ(read("x.mtx", banner + "pattern general\n" + size + size + "0\n"),
              from_one(edges(n, true, {}, {})));
    EXPECT_EQ(read("x.mtx", banner + "integer symmetric\n" + size + size + "0"),
              from_one(edges(n, false, {}, {})));
  }
  EXPECT_EQ(read("x.txt", ""), edges(0, true, {}, {}));
  EXPECT_EQ(read("x.txt", "# none\n"), edges(0, true, {}, {}));
  EXPECT_EQ(read("x.txt", "0 0\n"), edges(1, true, {0}, {0}));
  EXPECT_EQ(read("x.gr", "p sp 1 1\na 1 1 3\n"), from_one(edges(1, true, {0}, {0}, {3})));
  EXPECT_EQ(error_of("x.max", "p max 1 0\nn 1 s\nn 1 t\n"), ":3: vertex 1 is source and sink");
}

TEST_F(graph_readers, files_of_many_chunks) {
  // Lines of all lengths, so that chunks end anywhere within one.
  std::uint32_t const n = 700'000;
  std::string text = "p sp 700000 700000\n", sparse;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::string const ends = std::to_string(i + 1) + " " + std::to_string(n - i);
    text += "a " + ends + " " + std::to_string(i * 6007u % 100'000) + "\n";
    sparse += ends + "\n";
  }
  ASSERT_GT(text.size(), 3u << 22);
  for (auto const& [name, whole] : {std::pair{"x.gr", &text}, {"x.txt", &sparse}}) {
    auto const g = read(name, *whole);
    ASSERT_EQ(g.vertices, n);
    ASSERT_EQ(g.edges(), n);
    EXPECT_EQ(g.first_name, 1u);
    for (std::uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(g.from[i], i);
      ASSERT_EQ(g.to[i], n - 1 - i);
      ASSERT_EQ(g.is_weighted() ? g.weights[i] : i * 6007u % 100'000, i * 6007u % 100'000);
    }
    // Announced or not: not much more memory than the edges take.
    EXPECT_LE(g.from.capacity(), n * 1.3) << name;
  }
  EXPECT_EQ(error_of("x.gr", text + "a 1 1 1\n"),
            ":700002: one more than the 700000 arcs that line 1 announces");
  EXPECT_EQ(error_of("x.txt", sparse + "x"), ":700001: vertex \"x\" is not a whole number");
}

TEST_F(graph_readers, memory_for_what_a_file_can_hold) {
  std::string text = "p sp 9 1000000000000\n";
  for (int i = 0; i < 100; ++i) text += "a 1 1 0\n";
  apps::line_reader lines{write("x.gr", text)};
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  edge_list g;
  graph::edge_sink sink{g, lines};
  sink.reserve(1'000'000'000'000, 8, true);
  EXPECT_EQ(g.from.capacity(), 100u);
  EXPECT_EQ(g.to.capacity(), 100u);
  EXPECT_EQ(g.weights.capacity(), 100u);
}

TEST_F(graph_readers, lines_without_end) {
  EXPECT_EQ(error_of("x.txt", "0 1\n" + std::string(5 << 20, '7')),
            ":2: is longer than 4194304 bytes, the limit for a line");
  EXPECT_EQ(read("x.txt", "#" + std::string(4 << 20, ' ').substr(9) + "\n0 1\n"),
            edges(2, true, {0}, {1}));
}

TEST_F(graph_readers, files_that_are_none) {
  using graph::read_graph;
  EXPECT_EQ(error_from([&] { read_graph(path("no.gr")); }, path("no.gr")),
            ": cannot be read: No such file or directory");
  std::filesystem::create_directory(path("folder.gr"));
  EXPECT_EQ(error_from([&] { read_graph(path("folder.gr")); }, path("folder.gr")),
            ": cannot be read: Is a directory");
  EXPECT_EQ(error_of("x.gr", "\x1f\x8b\x08"), ": is compressed; uncompress it first");
  EXPECT_EQ(error_of("x.gr.gz", "\x1f\x8b\x08"), ": is compressed; uncompress it first");
  EXPECT_EQ(error_of("x.dat", "0 1\n"),
            ": of no known format; the endings are .gr .max .mtx .txt .el .edges");
  graph::read_options as_list;
  as_list.format = graph::file_format::snap;
  EXPECT_EQ(read("x.dat", "0 1\n", as_list), edges(2, true, {0}, {1}));
  EXPECT_EQ(read("x.gr", "0 1\n", as_list), edges(2, true, {0}, {1}));
}

}  // namespace
