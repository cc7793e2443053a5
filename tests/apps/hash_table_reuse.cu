// SPDX-License-Identifier: Apache-2.0
// A hash table that is emptied and filled again, and refs for few operations after refs for many.

#include "apps/hash_table/table.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using test::error_text;
using testing::HasSubstr;
namespace simt = warden::simt;

using table = hash_table::table<unsigned, unsigned>;

warden::buffer<unsigned> keys_up_to(unsigned n) {
  std::vector<unsigned> keys(n);
  std::iota(keys.begin(), keys.end(), 1u);
  return warden::buffer<unsigned>{keys};
}
std::string refused(std::uint64_t n) { return "; " + std::to_string(n) + " new keys were refused"; }

TEST(hash_table_reuse, refused_keys_are_reported_after_each_clear) {
  table t{{.buckets = 1, .capacity = 4, .overflow = 8}};
  auto const keys = keys_up_to(100);
  std::uint64_t first = 0;
  for (int round = 0; round < 3; ++round) {
    t.clear_async({});
    t.insert_async(keys.data(), keys.data(), 100);
    std::string const said = error_text(t);
    auto const counts = t.counts();
    EXPECT_EQ(counts.inserted + counts.refused, 100u);
    EXPECT_GT(counts.refused, 0u);
    if (round == 0) first = counts.refused;
    EXPECT_EQ(counts.refused, first) << "clear_async did not forget the totals";
    EXPECT_THAT(said, HasSubstr(refused(counts.refused)));
    EXPECT_EQ(error_text(t), "") << "reported twice";
  }
}
TEST(hash_table_reuse, refused_keys_that_were_not_reported_before_a_clear_are_afterwards) {
  table t{{.buckets = 1, .capacity = 4, .overflow = 8}};
  auto const keys = keys_up_to(100);
  t.insert_async(keys.data(), keys.data(), 100);
  t.clear_async({});
  EXPECT_THAT(error_text(t), HasSubstr(" new keys were refused"));
  EXPECT_EQ(t.counts().refused, 0u);
  EXPECT_EQ(error_text(t), "");
}

WARDEN_KERNEL void insert_some(table::ref_type t, unsigned first, unsigned n) {
  unsigned const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < n) t.insert(first + i, i);
}
TEST(hash_table_reuse, a_full_log_and_a_full_pool_are_reported_together) {
  table t{{.buckets = 1, .capacity = 4, .overflow = 8}};
  warden::launch(insert_some, 40, 128, {}, t.ref(4096), 1u, 5000u);
  t.run();
  try {
    t.wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    ASSERT_EQ(e.all().size(), 2u) << e.what();
    EXPECT_EQ(e.all()[0].count, 5000u - 4096);
    EXPECT_THAT(e.all()[0].example, HasSubstr("904 deferred sections were refused"));
    EXPECT_THAT(e.all()[1].example, HasSubstr(refused(t.counts().refused)));
  }
  EXPECT_EQ(error_text(t), "") << "reported twice";
}

TEST(hash_table_reuse, what_all_refs_sent_runs) {
  table t{{.capacity = 20'000}};
  std::uint64_t wanted = 0;
  // Each with as many operations as fit, from keys of its own.
  auto const send = [&](table::ref_type const& ref, unsigned n) {
    warden::launch(insert_some, (n + 127) / 128, 128, {}, ref, static_cast<unsigned>(wanted), n);
    wanted += n;
  };
  auto const expect_all = [&] {
    t.run();
    EXPECT_EQ(error_text(t), "");
    EXPECT_EQ(t.counts().inserted, wanted);
  };
  auto const few = t.ref(100);
  send(few, 100);
  expect_all();
  send(t.ref(5000), 5000);
  send(t.ref(100), 100);  // sections sent for more operations have not run
  expect_all();
  send(t.ref(9000), 1000);
  send(few, 100);  // a ref from before the table had larger logs
  expect_all();
}

}  // namespace
