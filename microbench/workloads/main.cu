// SPDX-License-Identifier: Apache-2.0
// Benchmark of workloads that users bring.

#include "microbench/support/report.hpp"
#include "microbench/workloads/points.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using workloads::size;

/// A kind of work with the sizes at which it is measured.
struct operation {
  std::string name;
  std::vector<size> sizes;
};

/// Sizes for a GPU.
std::vector<operation> all_operations() {
  auto const both = [](std::uint32_t keys, std::uint32_t rows) {
    return std::vector<size>{{"uniform", keys, rows}, {"zipf099", keys, rows}};
  };
  std::vector<operation> all{{"group_by", {}}};
  for (char const* workload : {"uniform", "zipf110"}) {
    for (std::uint32_t const keys : {64u, 256u, 4096u, 100'000u, 1u << 20})
      all[0].sizes.push_back({workload, keys, 1u << 25});
  }
  all.push_back({"sparse_keys", {}});
  for (char const* workload : {"uniform", "zipf110"}) {
    for (std::uint32_t const keys : {4096u, 1u << 20})
      all.back().sizes.push_back({workload, keys, 1u << 25});
  }
  for (char const* name : {"scatter1", "scatter8", "scatter64"})
    all.push_back({name, both(1u << 20, 1u << 22)});
  for (char const* name : {"adagrad_steps", "adagrad_sums"})
    all.push_back({name, both(1u << 20, 1u << 20)});
  all.push_back({"argmin", {{"uniform", 1u << 20, 1u << 26}, {"uniform", 256, 1u << 26}}});
  all.push_back({"nearest", both(100'000, 1u << 22)});
  all.back().sizes.push_back({"uniform", 100'000, 1u << 25});
  return all;
}

/// Returns a size for the simulated device. With few records their sorted rows fill several tiles.
size small(std::string const& operation, size const& s) {
  bool const is_few = operation == "scatter1" && s.workload == "zipf099";
  return {s.workload, is_few ? 3u : s.keys < 4096 ? 16u : 200u, 1000};
}

std::shared_ptr<bench::point> make_point(std::string const& operation, size const& s) {
  if (operation == "group_by") return workloads::make_group_by_point(s);
  if (operation == "sparse_keys") return workloads::make_sparse_keys_point(s);
  if (operation == "argmin") return workloads::make_argmin_point(s);
  if (operation == "nearest") return workloads::make_nearest_point(s);
  if (operation == "adagrad_steps") return workloads::make_adagrad_steps_point(s);
  if (operation == "adagrad_sums") return workloads::make_adagrad_sums_point(s);
  return workloads::make_scatter_point(operation == "scatter1"   ? 1
                                       : operation == "scatter8" ? 8
                                                                 : 64,
                                       s);
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"workloads", "Common workloads, by Warden and by plain CUDA.", argc, argv};
  auto const all = all_operations();
  std::vector<std::string> names;
  for (operation const& o : all) names.push_back(o.name);
  std::vector<std::string> chosen = names, of{"uniform", "zipf099", "zipf110"}, distributions = of;
  std::vector<std::uint32_t> keys;
  program.add_names("--operation", chosen, names, "operations");
  program.add_names("--workload", distributions, of, "workloads");
  program.add_numbers("--keys", keys, 1u << 26, "numbers of records, of those of each operation");
  if (!program.parse(workloads::arm_names, argc, argv)) return program.exit_code();
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  if (!facts.simulated && facts.compute_capability < 90)
    std::fprintf(stderr, "workloads: no arm bulk_reduce: it needs compute capability 9.0\n");
  auto const takes = [](auto const& some, auto const& one) {
    return some.empty() || std::find(some.begin(), some.end(), one) != some.end();
  };
  return program.run([&](bench::program::points& points) {
    for (operation const& o : all) {
      if (!takes(chosen, o.name)) continue;
      std::vector<size> added;
      for (size s : o.sizes) {
        if (!takes(distributions, s.workload) || !takes(keys, s.keys)) continue;
        if (program.simulated()) s = small(o.name, s);
        if (program.operations() != 0) s.rows = program.operations();
        // With other numbers, two sizes can be equal.
        if (!added.empty() && takes(added, s)) continue;
        added.push_back(s);
        points.push_back(make_point(o.name, s));
      }
    }
  });
}
