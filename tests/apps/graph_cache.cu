// SPDX-License-Identifier: Apache-2.0
// The binary cache: when it serves, and when the file is read anew.

#include "apps/graph/cache.hpp"
#include "apps/graph/readers.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using graph::edge_list;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

class graph_cache : public test::graph_folder {
 protected:
  edge_list cached(std::string const& path, std::string const& folder = "",
                   graph::read_options const& o = {}) {
    said_.clear();
    return read_cached(path, folder, o, [&](std::string const& line) { said_.push_back(line); });
  }
  /// Changes one byte, and nothing that a folder's listing shows.
  static void flip(std::string const& path, std::uint64_t at, char to) {
    auto const time = fs::last_write_time(path);
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(at));
    file.put(to);
    file.close();
    fs::last_write_time(path, time);
  }
  std::vector<std::string> said_;
};

/// One of some 300 kB: between the samples there is room.
std::string long_list() {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(100 + i % 100) + " 100\n";
  return text;
}

TEST_F(graph_cache, serves_what_was_read) {
  edge_list network = test::from_one(test::edges(3, true, {0, 2}, {1, 2}, {5, 0}));
  network.ends = {2, 1};
  edge_list sparse = test::edges(2, false, {0}, {1});
  sparse.names = {3, 1000};
  std::string const matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n";
  for (auto const& [name, text, wanted] :
       {std::tuple{"x.max", std::string{"p max 3 2\nn 3 s\nn 2 t\na 1 2 5\na 3 3 0\n"}, network},
        {"x.txt", "# Undirected graph\n3 1000\n", sparse},
        {"y.mtx", matrix + "2 2 0\n", test::from_one(test::edges(2, false, {}, {}))}}) {
    std::string const file = write(name, text);
    for (std::string const& folder : {std::string{}, path("caches/of")}) {
      SCOPED_TRACE(name + folder);
      EXPECT_EQ(cached(file, folder), wanted);
      ASSERT_TRUE(fs::exists(graph::cache_path(file, folder)));
      auto const made = fs::last_write_time(graph::cache_path(file, folder));
      EXPECT_EQ(cached(file, folder), wanted);
      EXPECT_EQ(fs::last_write_time(graph::cache_path(file, folder)), made);
      EXPECT_THAT(said_, IsEmpty());
    }
  }
  EXPECT_EQ(graph::cache_path(path("x.max"), ""), path("x.max.graph"));
  EXPECT_NE(graph::cache_path("a/x.gr", "c"), graph::cache_path("b/x.gr", "c"));
  EXPECT_EQ(graph::cache_path("a/x.gr", "c"), graph::cache_path("a/../a/x.gr", "c"));
  EXPECT_THAT(graph::cache_path("a/x.gr", "c"), MatchesRegex("c/x\\.gr\\.[0-9a-f]{16}\\.graph"));
  // No other file is left.
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 7);
}

TEST_F(graph_cache, is_what_is_read) {
  std::string const file = write("x.txt", long_list());
  auto const before = cached(file);
  flip(file, 4496, '2');  // where no sample is taken
  EXPECT_EQ(cached(file), before);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(graph_cache, knows_when_the_file_changed) {
  std::string const file = write("x.txt", long_list());
  std::string const older = file + ".graph: is of an older state of the file; reading " + file;
  auto g = cached(file);
  auto const changed = [&](char const* how) {
    SCOPED_TRACE(how);
    auto const now = cached(file);
    EXPECT_THAT(said_, ElementsAre(older));
    EXPECT_EQ(now, graph::read_graph(file));
    EXPECT_EQ(cached(file), now);
    EXPECT_THAT(said_, IsEmpty()) << "the cache is new";
  };
  flip(file, 0, '2');
  changed("in its first byte");
  flip(file, fs::file_size(file) - 2, '1');
  changed("in its last byte");
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::nanoseconds{1});
  changed("in its time");
  auto const time = fs::last_write_time(file);
  std::ofstream{file, std::ios::app} << " \n";
  fs::last_write_time(file, time);
  changed("in its size");
}

TEST_F(graph_cache, with_weights_serves_commands_that_need_none) {
  std::string const file = write("x.txt", "1 2 3\n");
  graph::read_options unweighted;
  unweighted.skips_weights = true;
  EXPECT_EQ(cached(file, "", unweighted), graph::read_graph(file, unweighted));
  EXPECT_EQ(cached(file), graph::read_graph(file));
  EXPECT_THAT(said_, ElementsAre(file + ".graph: was read with other options; reading " + file));
  EXPECT_EQ(cached(file, "", unweighted), graph::read_graph(file, unweighted));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_EQ(cached(file), graph::read_graph(file));
  EXPECT_THAT(said_, IsEmpty()) << "the cache still has the weights";
}

TEST_F(graph_cache, knows_how_the_file_was_read) {
  std::string const file = write("x.txt", "1 2 3\n");
  graph::read_options o;
  for (bool const factor : {true, false}) {
    cached(file);
    (factor ? o.weight_factor = 10 : o.weight_factor = 0);
    if (!factor) o.format = graph::file_format::snap;
    EXPECT_EQ(cached(file, "", o).weights, std::vector<graph::weight>{factor ? 30u : 3u});
    EXPECT_THAT(said_, ElementsAre(file + ".graph: was read with other options; reading " + file));
  }
}

TEST_F(graph_cache, is_not_believed_when_damaged) {
  std::string const file = write("x.txt", "0 1 3\n1 2 4\n"), cache = file + ".graph";
  auto const wanted = cached(file);
  std::string const good = content(cache);
  auto const refused = [&](std::string const& bytes, std::string const& why) {
    SCOPED_TRACE(why);
    std::ofstream{cache, std::ios::binary} << bytes;
    EXPECT_EQ(cached(file), wanted);
    EXPECT_THAT(said_, ElementsAre(cache + ": " + why + "; reading " + file));
    EXPECT_EQ(content(cache), good) << "written anew";
  };
  for (std::size_t at = 8; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    refused(bytes, at < 16 ? "is of another version" : "is damaged");
  }
  for (std::size_t const size : {good.size() - 1, std::size_t{152}, std::size_t{151},
                                 std::size_t{8}, std::size_t{7}, std::size_t{0}})
    refused(good.substr(0, size), "is cut off");
  refused(good + "x", "is cut off");
}

TEST_F(graph_cache, leaves_other_files_alone) {
  std::string const file = write("x.txt", "0 1\n"), cache = write("x.txt.graph", "of mine");
  EXPECT_EQ(cached(file), test::edges(2, true, {0}, {1}));
  EXPECT_THAT(said_,
              ElementsAre(cache + ": is no cache of a graph, and stays as it is; reading " + file));
  EXPECT_EQ(content(cache), "of mine");
}

TEST_F(graph_cache, that_cannot_be_written) {
  std::string const file = write("x.txt", "0 1\n"), none = write("no_folder", "");
  EXPECT_EQ(cached(file, none + "/below"), test::edges(2, true, {0}, {1}));
  EXPECT_THAT(said_, ElementsAre(testing::HasSubstr("Not a directory")));
  // A folder stands where the cache would be.
  fs::create_directory(file + ".graph");
  EXPECT_EQ(cached(file), test::edges(2, true, {0}, {1}));
  EXPECT_EQ(said_.size(), 2u);
  EXPECT_EQ(said_.back(), file + ".graph: cannot be written: Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 3);
}

TEST_F(graph_cache, of_no_file) {
  EXPECT_EQ(error_from([&] { cached(path("no.gr")); }, path("no.gr")),
            ": cannot be read: No such file or directory");
  std::string const wrong = write("x.txt", "0\n");
  EXPECT_EQ(error_from([&] { cached(wrong); }, wrong), ":1: vertex is missing");
  EXPECT_FALSE(fs::exists(wrong + ".graph"));
}

}  // namespace
