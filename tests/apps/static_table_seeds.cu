// SPDX-License-Identifier: Apache-2.0
// Builds of the static table under very many schedules of the simulated device.

#include "tests/apps/static_contents.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstdint>

namespace {

using namespace test::static_tables;

TEST(static_table_seeds, finds_each_key_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    std::uint32_t const n = 300;
    words keys = distinct_keys(n, static_cast<std::uint32_t>(seed) * n);
    keys.insert(keys.end(), keys.begin(), keys.begin() + n / 4);  // repeated by another thread
    static_table t{{.capacity = n + n / 4, .load = 0.99}};
    check(t, keys, distinct_keys(n, static_cast<std::uint32_t>(seed + 1) * n));
  });
}

}  // namespace
