// SPDX-License-Identifier: Apache-2.0
// Sections on few records that `send_async` combines in tables before it logs them.

#include "tests/protocol/deferred_combining.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

namespace {

using namespace combined;
using testing::HasSubstr;

template <unsigned Threads>
using blocks_of = warden::policy<warden::options{.block_threads = Threads}>;

/// Sends the operation of an element, if it is sent at all.
template <class Section>
struct some_sent {
  operations all;
  __device__ warden::nothing_or<warden::to<Section>> operator()(std::uint64_t i) const {
    auto const number = static_cast<std::uint32_t>(i);
    if (!all.sends(number)) return {};
    return warden::to{all.id_of(number), Section::of(number)};
  }
};
/// Sends as above; every 8th id is outside the records.
template <class Section>
struct stray_sent {
  each_sent<Section> each;
  __device__ auto operator()(std::uint64_t j) const {
    auto sent = each(j);
    if (j % 8 == 3) sent.id += each.all.keys;
    return sent;
  }
};

/// Elements for which tables are used, if `keys` records fit them.
std::uint32_t many(std::uint32_t keys) {
  return test::sized(7000u + 140 * keys, 1'000'000u + 6000 * keys);
}
/// Most partials that a block of every multiprocessor leaves.
std::uint64_t most_partials(std::uint32_t keys) {
  return 2ull * static_cast<unsigned>(warden::runtime::facts(0).multiprocessors) * keys;
}

template <class Section>
class send_by_tables : public testing::Test {};
using sections = testing::Types<add_up, sample, pair_of_values>;
TYPED_TEST_SUITE(send_by_tables, sections);

template <class Section, class Policy>
void expect_partials(std::uint32_t keys, std::uint32_t hot) {
  operations const all{many(keys), keys, hot};
  bench<Section, Policy> b{all};
  // As many places as sections: twice, because a run must empty the log.
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), each_sent<Section>{all});
  later.run();
  b.on().wait();
  EXPECT_LE(b.expect_each_once(), most_partials(keys)) << keys << " records";
  warden::run_report const r = later.explain();
  EXPECT_EQ(r.sections, all.sent());
  EXPECT_EQ(r.flat, 0u);
}
TYPED_TEST(send_by_tables, a_block_logs_one_partial_per_record) {
  for (std::uint32_t const hot : {0u, 128u}) {
    for (std::uint32_t const keys : {1u, 40u, 100u})
      expect_partials<TypeParam, blocks_of<64>>(keys, hot);
    expect_partials<TypeParam, blocks_of<512>>(600, hot);
  }
}
TYPED_TEST(send_by_tables, fills_a_log_to_its_last_place) {
  operations const all{many(40), 40, 60};
  bench<TypeParam, blocks_of<64>> b{all};
  warden::deferred later{b.on(), all.sent()};
  std::uint64_t const half = all.sent() / 2;
  // Elements that go by tables, next to some that do not.
  warden::send_async(later, 100, each_sent<TypeParam>{all, 0});
  warden::send_async(later, half, each_sent<TypeParam>{all, 100});
  warden::send_async(later, all.sent() - half - 100, each_sent<TypeParam>{all, half + 100});
  later.run();
  b.on().wait();
  b.expect_each_once();
  EXPECT_EQ(later.explain().sections, all.sent());
}
/// The batches of tables fill what other sections left of several shards, so the ends of shards cut
/// some.
TYPED_TEST(send_by_tables, shards_cut_batches) {
  auto const usual = warden::current_tuning(warden::runtime::current_device());
  auto several = usual;
  several.sections_per_shard = 1u << 12;
  warden::set_tuning(several);
  std::uint32_t const alone = test::sized(10'003u, 400'003u);
  operations const all{alone * 5 / 2, 60, 0};
  bench<TypeParam, blocks_of<64>> b{all};
  std::uint64_t const before = operations{alone, 60, 0}.sent();
  using ref = typename decltype(b)::ref;
  constexpr unsigned places = ref::formats::two_widths ? ref::formats::places : 1;
  warden::deferred later{b.on(), before + most_partials(60) * places};
  b.send_alone(later.ref(), 0, alone);
  warden::send_async(later, later.capacity(), each_sent<TypeParam>{all, before});
  b.on().wait();
  std::uint64_t const sent = before + later.capacity();
  ASSERT_LE(sent, all.sent());
  later.run();
  b.on().wait();
  EXPECT_EQ(b.operations_ran(), sent);
  warden::set_tuning(usual);
}
TYPED_TEST(send_by_tables, a_function_that_may_send_nothing_sends_as_usual) {
  operations const all{many(40), 40, 60};
  bench<TypeParam, blocks_of<64>> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.n, some_sent<TypeParam>{all});
  later.run();
  b.on().wait();
  b.expect_each_once();
}
TYPED_TEST(send_by_tables, reports_ids_outside_the_records) {
  operations const all{many(40), 40, 0};
  bench<TypeParam, blocks_of<64>> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), stray_sent<TypeParam>{{all}});
  later.run();
  std::uint64_t const bad = (all.sent() + 4) / 8;
  EXPECT_THAT(test::error_text(b.on()), HasSubstr("(" + std::to_string(bad) + " such ids"));
  EXPECT_EQ(b.operations_ran(), all.sent() - bad);
}
TYPED_TEST(send_by_tables, counts_what_finds_no_place) {
  operations const all{many(40), 40, 0};
  bench<TypeParam, blocks_of<64>> b{all};
  warden::deferred later{b.on(), all.sent()};
  b.send_alone(later.ref(), 0, all.n);
  warden::send_async(later, all.sent(), each_sent<TypeParam>{all});
  EXPECT_THAT(test::error_text(b.on()),
              HasSubstr(std::to_string(all.sent()) + " deferred sections were refused"));
  later.run();
  b.on().wait();
  b.expect_each_once();
  EXPECT_EQ(later.explain().sections, all.sent());
}

}  // namespace
