// SPDX-License-Identifier: Apache-2.0
// The static hash table benchmark: building a table of given keys, and searching in it.

#include "microbench/hash_table/static_point.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"hash_table", "A static hash table, next to others.", argc, argv};
  std::vector<std::uint32_t> keys, loads{80, 90, 97};
  program.add_numbers("--keys", keys, 1u << 26, "keys of the table");
  program.add_numbers("--loads", loads, 97, "entries for 100 slots");
  if (!program.parse({"atomics", "warden_deferred", "warden_static"}, argc, argv))
    return program.exit_code();
  if (keys.empty())
    keys = program.simulated() ? std::vector<std::uint32_t>{500}
                               : std::vector<std::uint32_t>{100'000, 1u << 20, 1u << 23, 1u << 26};
  return program.run([&](bench::program::points& points) {
    for (std::uint32_t const n : keys) {
      for (std::uint32_t const load : loads) {
        points.push_back(hash_table_bench::make_static_point(n, load, hash_table_bench::builds));
        for (int const hits : {0, 50, 100})
          points.push_back(hash_table_bench::make_static_point(n, load, hits));
      }
    }
  });
}
