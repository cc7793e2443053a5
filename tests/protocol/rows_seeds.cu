// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row, under many schedules, and the simulated device's errors for rows
// outside of their memory.

#include "tests/protocol/rows.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using rows_test::add;
using rows_test::add_prepared;
using rows_test::add_sum;
using rows_test::fixture;
using rows_test::ids_of;
using rows_test::matrix;
using testing::HasSubstr;
using warden::placement;
using warden::executor::sorted;

template <class Section, class... Parts>
using guarded =
    warden::basic_guarded<rows_test::policy<float, sorted<>, placement::in_memory, 32, Parts...>,
                          typename Section::record_type, Section>;

TEST(rows_seeds, each_section_gets_its_row) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 50);
    // 8 rows ahead in batches of 32, 4 in batches of 4, 4 in batches of 16.
    using by_32 = add<float, 64, 32>;
    fixture<guarded<by_32>, by_32> f{ids_of(150, keys, seed), keys};
    f.send();
    f.expect_sums(false);
    using by_4 = add<float, 8, 4>;
    fixture<guarded<by_4>, by_4> g{ids_of(100, keys, seed), keys};
    g.send();
    g.expect_sums(false);
    using by_16 = add<float, 64, 16>;
    fixture<guarded<by_16, warden::order::sequential>, by_16> h{ids_of(100, keys, seed, true),
                                                                keys};
    h.send_async();
    h.expect_sums(true);
  });
}
TEST(rows_seeds, copies_of_records_follow_their_sections) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    // Every other run has a hot record, in whose thread's segment another one has some sections.
    auto ids = ids_of(200, 70, seed);
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      if (seed % 2 == 0 && i % 4 != 3) ids[i] = i % 8 == 0 ? 32 : 0;
    }
    using section = add_prepared<float, 8, 4>;
    fixture<guarded<section>, section> f{ids, 70};
    f.send(1);
    f.expect_sums(false);
    fixture<guarded<section, warden::order::sequential>, section> g{ids, 70};
    g.send_async(1);
    g.expect_sums(true);
  });
}
TEST(rows_seeds, rows_of_one_record_combine) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    using section = add_sum<float, 8, 4>;
    auto const n = static_cast<std::uint32_t>(300 + seed % 50);
    fixture<guarded<section>, section> f{ids_of(n, 3, seed, true), 3};
    f.send();
    std::vector<rows_test::record<float, 8>> wanted(3);
    for (std::uint32_t i = 0; i < n; ++i) add_row(wanted[f.host_ids[i]], i, f.host_ids[i]);
    auto const found = f.records.to_host();
    for (std::uint32_t id = 0; id < 3; ++id) {
      for (unsigned c = 0; c < 8; ++c) ASSERT_EQ(found[id].sums[c], wanted[id].sums[c]);
    }
    fixture<guarded<section, warden::order::deterministic>, section> g{f.host_ids, 3};
    g.apply_async();
    for (std::uint32_t id = 0; id < 3; ++id) {
      auto const one = g.records.to_host()[id];
      for (unsigned c = 0; c < 8; ++c) ASSERT_EQ(one.sums[c], wanted[id].sums[c]);
      auto const first = std::find(f.host_ids.begin(), f.host_ids.end(), id) - f.host_ids.begin();
      ASSERT_EQ(one.mixed, first + id) << "another section ran than the first of record " << id;
    }
  });
}

/// Returns the error of sections whose matrix begins `offset` floats after its first row.
std::string error_at(std::uint32_t offset) {
  using section = add<float, 64, 16>;
  fixture<guarded<section>, section> f{ids_of(10, 3, 1), 3};
  guarded<section> g{f.records, matrix<float>{f.values.data() + offset}};
  return test::error_of<warden::sim::misuse_error>([&] {
    g.apply_async(f.ids.data(), f.n(), rows_test::numbered<section>{});
    g.wait();
  });
}
TEST(rows_seeds, rows_outside_of_their_memory_are_noticed) {
  EXPECT_EQ(error_at(0), "");
  EXPECT_THAT(error_at(64), HasSubstr("load outside device memory"));
  EXPECT_THAT(error_at(2), HasSubstr("16 bytes are loaded where no 16 bytes begin"));
}

}  // namespace
