// SPDX-License-Identifier: Apache-2.0
// Lists of the 32 nearest candidates of each node.

#include "microbench/programs/program.cuh"

#include <warden/sections.cuh>

#include <bit>

namespace {

// ---- the work

/// Ascending keys: bits of the distance, which is not negative, then the id. ~0 is no candidate.
using list = warden::elements<std::uint64_t, 32>;
struct insert {
  static constexpr unsigned group_size = 32;
  std::uint64_t key;
  __device__ bool is_noop(list const& l) const { return key >= l[31]; }
  __device__ void operator()(list& l, warden::lane_group<32> const& group) const {
    unsigned const lane = group.lane();
    std::uint64_t const own = l[lane], left = group.shuffle(own, (lane + 31) % 32);
    auto const place = static_cast<unsigned>(__popc(group.ballot(own < key)));
    bool const is_listed = group.any(own == key);
    if (!is_listed && lane >= place) l[lane] = lane == place ? key : left;
  }
};
using graph = warden::guarded<list, insert>;

// ---- data and check

struct draw_id {
  std::uint32_t n_nodes;
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(bench::mix(i, 22) % n_nodes);
  }
};
struct draw_distance {
  std::uint32_t const *nodes, *ids;
  __device__ float operator()(std::uint64_t i) const {
    return static_cast<float>(bench::mix(std::uint64_t{nodes[i]} << 32 | ids[i], 21) >> 40);
  }
};
std::vector<list> lists_of(std::vector<std::uint32_t> const& nodes,
                           std::vector<std::uint32_t> const& ids,
                           std::vector<float> const& distances, std::uint32_t n_nodes) {
  std::vector<list> all(n_nodes);
  for (list& l : all) std::fill_n(l.values, 32, ~std::uint64_t{0});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::uint64_t const key =
        std::uint64_t{std::bit_cast<std::uint32_t>(distances[i])} << 32 | ids[i];
    auto& keys = all[nodes[i]].values;
    auto* const place = std::lower_bound(keys, keys + 32, key);
    if (place == keys + 32 || *place == key) continue;
    std::copy_backward(place, keys + 31, keys + 32);
    *place = key;
  }
  return all;
}
void measure(programs::report& report, std::uint32_t n, std::uint32_t n_nodes,
             std::string const& distribution) {
  auto const nodes = programs::draw_ids(distribution, n_nodes, n);
  auto const ids = programs::made<std::uint32_t>(n, draw_id{n_nodes});
  auto const distances = programs::made<float>(n, draw_distance{nodes.data(), ids.data()});
  auto const expected = lists_of(nodes.to_host(), ids.to_host(), distances.to_host(), n_nodes);
  auto const candidate = [ids = ids.data(),
                          distances = distances.data()] __device__(std::uint64_t i) {
    return insert{std::uint64_t{__float_as_uint(distances[i])} << 32 | ids[i]};
  };
  warden::buffer<list> found{n_nodes};
  graph lists{found};
  report.measure(
      std::to_string(n / n_nodes) + " a node " + distribution, n, [&] { found.fill_bytes(0xff); },
      [&] { lists.apply_async(nodes, candidate); }, [&] { lists.wait(); },
      [&] {
        return std::ranges::equal(found.to_host(), expected, [](auto const& a, auto const& b) {
          return std::ranges::equal(a.values, b.values);
        });
      });
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 22);
  std::uint32_t const n_nodes = std::max(n / 42, 2u);
  programs::report report{"nearest"};
  measure(report, n, n_nodes, "uniform");
  measure(report, n, n_nodes, "zipf099");
  measure(report, 8 * n, n_nodes, "uniform");
  return report.exit_code();
}
