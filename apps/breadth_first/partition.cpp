// SPDX-License-Identifier: Apache-2.0
// Parts of a graph, made on the host: a counting sort of vertices by degree, and sorted rows.

#include "apps/breadth_first/partition.hpp"

#include "apps/support/parallel.hpp"

#include <warden/error.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>

namespace breadth_first {

namespace {

std::uint64_t arcs_of(graph::csr const& rows, graph::vertex v) {
  return rows.offsets[v + std::uint64_t{1}] - rows.offsets[v];
}

/// Vertices that have arcs, from the highest degree on; of equal degree from the lowest on.
std::vector<graph::vertex> by_degree(graph::csr const& out, graph::csr const& in) {
  auto const degree = [&](graph::vertex v) {
    return arcs_of(out, v) + (&in == &out ? 0 : arcs_of(in, v));
  };
  auto const n = static_cast<graph::vertex>(out.vertices());
  std::uint64_t most = 0;
  for (graph::vertex v = 0; v < n; ++v) most = std::max(most, degree(v));
  // [most - degree] where the vertices of that degree begin
  std::vector<std::uint64_t> begins(most + 2);
  for (graph::vertex v = 0; v < n; ++v) ++begins[most - degree(v) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<graph::vertex> order(begins[most]);
  for (graph::vertex v = 0; v < n; ++v) {
    if (degree(v) != 0) order[begins[most - degree(v)]++] = v;
  }
  return order;
}

/// `owner(i, v)` is the rank of the i-th vertex, v, in the order of degrees.
template <class Owner>
partition divide(graph::csr const& out, graph::csr const& in, std::uint32_t ranks, Owner owner) {
  std::vector<graph::vertex> const order = by_degree(out, in);
  partition p;
  p.ranks = ranks;
  p.owned.resize(ranks);
  for (std::uint64_t i = 0; i < order.size(); ++i) ++p.owned[owner(i, order[i])];
  // At least one word: a bitmap of no words cannot be sent.
  std::uint64_t const most = *std::max_element(p.owned.begin(), p.owned.end());
  std::uint64_t const words = std::max<std::uint64_t>((most + 31) / 32, 1);
  std::uint64_t const numbers = words * 32 * ranks;
  if (numbers > graph::most_vertices) {
    throw warden::limit_error{"breadth_first: " + std::to_string(ranks) + " ranks of up to " +
                              std::to_string(most) + " vertices take " + std::to_string(numbers) +
                              " numbers; the limit is " + std::to_string(graph::most_vertices) +
                              "; make the parts more equal"};
  }
  p.words = static_cast<std::uint32_t>(words);
  p.numbers.assign(out.vertices(), graph::no_vertex);
  p.vertices.assign(numbers, graph::no_vertex);
  std::vector<std::uint32_t> next(ranks);
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    std::uint32_t const r = owner(i, order[i]), number = r * p.places() + next[r]++;
    p.numbers[order[i]] = number;
    p.vertices[number] = order[i];
  }
  return p;
}

}  // namespace

partition deal_by_degree(graph::csr const& out, graph::csr const& in, std::uint32_t ranks) {
  return divide(out, in, ranks, [&](std::uint64_t i, graph::vertex) {
    return static_cast<std::uint32_t>(i % ranks);
  });
}

partition give_to(std::vector<std::uint32_t> const& owners, graph::csr const& out,
                  graph::csr const& in, std::uint32_t ranks) {
  return divide(out, in, ranks, [&](std::uint64_t, graph::vertex v) { return owners[v]; });
}

graph::csr owned_rows(graph::csr const& rows, partition const& p, std::uint32_t rank) {
  graph::csr mine;
  mine.offsets.assign(std::uint64_t{p.places()} + 1, 0);
  graph::vertex const* const vertices = &p.vertices[std::uint64_t{rank} * p.places()];
  for (std::uint32_t place = 0; place < p.owned[rank]; ++place)
    mine.offsets[place + 1] = arcs_of(rows, vertices[place]);
  std::partial_sum(mine.offsets.begin(), mine.offsets.end(), mine.offsets.begin());
  mine.neighbours.resize(mine.offsets.back());
  // The position of a number in the order of falling degree: places first, then ranks.
  auto const position = [&](std::uint32_t number) {
    return number % p.places() * p.ranks + number / p.places();
  };
  auto const number_at = [&](std::uint32_t position) {
    return position % p.ranks * p.places() + position / p.ranks;
  };
  auto const make_row = [&](std::uint64_t place) {
    graph::vertex const v = vertices[place];
    std::span const from{rows.neighbours.data() + rows.offsets[v], arcs_of(rows, v)};
    std::span const row{mine.neighbours.data() + mine.offsets[place], from.size()};
    std::transform(from.begin(), from.end(), row.begin(),
                   [&](graph::vertex u) { return position(p.numbers[u]); });
    std::sort(row.begin(), row.end());
    std::transform(row.begin(), row.end(), row.begin(), number_at);
  };
  // Few enough that the longest rows, which come first, are divided among threads.
  constexpr std::uint64_t together = 16;
  std::uint64_t const owned = p.owned[rank];
  apps::for_each_in_parallel((owned + together - 1) / together, [&](std::size_t part) {
    std::uint64_t const end = std::min((part + 1) * together, owned);
    for (std::uint64_t place = part * together; place < end; ++place) make_row(place);
  });
  return mine;
}

std::uint32_t places_above(graph::csr const& rows, partition const& p, std::uint64_t most) {
  std::uint32_t places = 0;
  for (std::uint32_t r = 0; r < p.ranks; ++r) {
    for (std::uint32_t place = places; place < p.owned[r]; ++place) {
      if (arcs_of(rows, p.vertices[std::uint64_t{r} * p.places() + place]) > most)
        places = place + 1;
    }
  }
  return places;
}

std::vector<std::uint32_t> arcs_of_words(graph::csr const& rows, partition const& p) {
  std::vector<std::uint32_t> arcs(std::uint64_t{p.words} * p.ranks);
  for (std::uint64_t number = 0; number < p.vertices.size(); ++number) {
    if (p.vertices[number] != graph::no_vertex)
      arcs[number / 32] += static_cast<std::uint32_t>(arcs_of(rows, p.vertices[number]));
  }
  return arcs;
}

}  // namespace breadth_first
