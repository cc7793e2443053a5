// SPDX-License-Identifier: Apache-2.0
// Edge lists as SNAP has them: numbers of vertices, which may leave any numbers out.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/formats.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace graph {

namespace {

/// Which numbers occur, and how many smaller ones do. A bit for each number up to the largest:
/// where they lie far apart most of the words are never written, and take no memory.
class occurrences {
 public:
  explicit occurrences(vertex largest)
      : words_{largest / 64 + std::size_t{1}},
        first_{static_cast<word*>(std::calloc(words_, sizeof(word)))} {
    if (first_ == nullptr) throw std::bad_alloc{};
  }
  void add(vertex v) { at(v).numbers |= std::uint64_t{1} << v % 64; }
  /// Once all are added; returns how many there are.
  std::uint64_t rank() {
    std::uint64_t before = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      word& here = first_.get()[w];
      if (here.numbers == 0) continue;
      here.before = before;
      before += static_cast<std::uint64_t>(std::popcount(here.numbers));
    }
    return before;
  }
  /// The numbers that occur below `v`, which occurs.
  [[nodiscard]] vertex below(vertex v) const {
    word const& here = at(v);
    std::uint64_t const lower = here.numbers & ((std::uint64_t{1} << v % 64) - 1);
    return static_cast<vertex>(here.before + static_cast<std::uint64_t>(std::popcount(lower)));
  }
  /// All `count` of them.
  [[nodiscard]] std::vector<vertex> all(std::uint64_t count) const {
    std::vector<vertex> found;
    found.reserve(count);
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = first_.get()[w].numbers; left != 0; left &= left - 1) {
        found.push_back(
            static_cast<vertex>(64 * w + static_cast<unsigned>(std::countr_zero(left))));
      }
    }
    return found;
  }

 private:
  struct word {
    std::uint64_t numbers;  ///< a bit for each of 64
    std::uint64_t before;   ///< numbers of earlier words
  };
  struct freeing {
    void operator()(void* memory) const { std::free(memory); }
  };
  word& at(vertex v) const { return first_.get()[v / 64]; }

  std::size_t words_;
  std::unique_ptr<word, freeing> first_;
};

/// Vertices are numbered from 0 on without gaps, in the order of the file's numbers.
void number_vertices(edge_list& list) {
  auto const ends = {&list.from, &list.to};
  vertex least = no_vertex, largest = 0;
  for (auto* const end : ends) {
    for (vertex const v : *end) {
      least = std::min(least, v);
      largest = std::max(largest, v);
    }
  }
  occurrences occurring{largest};
  for (auto* const end : ends) {
    for (vertex const v : *end) occurring.add(v);
  }
  list.vertices = occurring.rank();
  if (list.vertices == std::uint64_t{largest} - least + 1) {
    list.first_name = least;
  } else {
    list.names = occurring.all(list.vertices);
  }
  if (least == 0 && list.names.empty()) return;
  for (auto* const end : ends) {
    for (vertex& v : *end) v = list.names.empty() ? v - least : occurring.below(v);
  }
}

}  // namespace

edge_list read_snap(line_reader& lines, double weight_factor) {
  edge_list list;
  edge_sink sink{list, lines};
  bool weighted = false;
  std::string_view line;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (line[0] == '#' || line[0] == '%') {
      // "# Undirected graph: ..."
      if (line.find("ndirected graph") != line.npos) list.directed = false;
      continue;
    }
    line_fields fields{line, lines};
    if (fields.at_end()) continue;
    auto const from = static_cast<vertex>(fields.number("vertex", 0, most_vertices - 1));
    auto const to = static_cast<vertex>(fields.number("vertex", 0, most_vertices - 1));
    if (list.edges() == 0) weighted = !fields.at_end();  // all edges are like the first
    if (weighted) {
      sink.add(from, to, real_weight(fields, weight_factor));
    } else {
      sink.add(from, to);
    }
    fields.finish();
  }
  if (list.edges() != 0) number_vertices(list);
  return list;
}

}  // namespace graph
