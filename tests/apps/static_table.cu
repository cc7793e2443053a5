// SPDX-License-Identifier: Apache-2.0
// The static table: sizes, loads, special and repeated keys, and what it refuses.

#include "tests/apps/static_contents.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <cstdint>

namespace {

using namespace test::static_tables;
using testing::HasSubstr;

TEST(static_table, finds_what_it_was_built_from) {
  for (double const load : {0.5, 0.8, 0.9, 0.97}) {
    for (std::uint32_t const n : {1u, 2u, 37u, test::sized(3000u, 1'000'000u)}) {
      SCOPED_TRACE(testing::Message() << n << " keys, load " << load);
      static_table t{{.capacity = n, .load = load}};
      check(t, distinct_keys(n), distinct_keys(n, n));
    }
  }
}

TEST(static_table, holds_the_least_and_the_greatest_key) {
  static_table t{{.capacity = 100}};
  check(t, {0, 0xffffffffu, 1, 0xfffffffeu}, {2, 0xfffffffdu});
  check(t, {0xffffffffu}, {0});
  check(t, {0}, {0xffffffffu, 1, 2, 3});
  check(t, {}, {0, 0xffffffffu, 5});
}

TEST(static_table, keeps_the_first_value_of_a_repeated_key) {
  std::uint32_t const n = test::sized(3000u, 1'000'000u);
  static_table t{{.capacity = n, .load = 0.97}};
  check(t, words(n, 42), {0, 43, 0xffffffffu});
  words keys = distinct_keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = keys[i * 13ull % n / 2];
  check(t, keys, distinct_keys(100, n));
}

TEST(static_table, is_built_again) {
  static_table t{{.capacity = 500}};
  check(t, distinct_keys(500), distinct_keys(500, 500));
  check(t, distinct_keys(200, 500), distinct_keys(500));
}

TEST(static_table, refuses_impossible_sizes) {
  EXPECT_THAT(test::refusal([] { static_table{{.capacity = 0}}; }),
              HasSubstr("hash_table: capacity 0 is not from 1 to 2147483648"));
  EXPECT_THAT(test::refusal([] { static_table{{.capacity = 1, .load = 1.5}}; }),
              HasSubstr("hash_table: load 1.500000 is not above 0 and at most 1"));
  static_table t{{.capacity = 3}};
  EXPECT_THAT(test::refusal([&] { build(t, distinct_keys(4), words(4)); }),
              HasSubstr("a build of 4 keys, but the capacity is 3; make the capacity larger"));
}

TEST(static_table, is_searched_only_if_it_is_built) {
  std::uint32_t const n = 4096;
  static_table t{{.capacity = n, .load = 1}};
  auto const refused = [&] { return test::refusal([&] { static_cast<void>(t.view()); }); };
  EXPECT_THAT(refused(), HasSubstr("a search of a static table that is not built: call build"));
  build(t, distinct_keys(10), words(10));
  EXPECT_EQ(refused(), "");
  EXPECT_THAT(test::refusal([&] { build(t, distinct_keys(n), words(n)); }), HasSubstr("no table"));
  EXPECT_THAT(refused(), HasSubstr("is not built"));
}

TEST(static_table, names_the_load_of_a_build_that_fails) {
  std::uint32_t const n = 4096;
  static_table t{{.capacity = n, .load = 1}};
  EXPECT_THAT(test::refusal([&] { build(t, distinct_keys(n), words(n)); }),
              HasSubstr("no table of load 1.000000 was found for 4096 keys in 16 attempts; loads "
                        "up to 0.97 are safe; make the load smaller"));
}

}  // namespace
