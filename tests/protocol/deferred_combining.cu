// SPDX-License-Identifier: Apache-2.0
// Deferred sections that combine, to their like or to wider partials: every operation has its
// effect once, hot records get few sections, and where nothing repeats nothing is combined.

#include "tests/protocol/deferred_combining.cuh"

#include <gmock/gmock.h>

#include <cstdint>

namespace {

using namespace combined;
using testing::HasSubstr;
using warden::placement;

template <class Section>
class deferred_combining : public testing::Test {};
using all_sections = testing::Types<add_up, sample, keyed_add, keyed_sample, pair_of_values>;
TYPED_TEST_SUITE(deferred_combining, all_sections);

/// Sections that a record gets at least, where all of its combine.
template <class Section>
constexpr std::uint64_t keys_of = warden::has_combine_key<Section> ? 4 : 1;

/// On a GPU a log has many partitions, so the batches of small blocks have no wide messages.
template <class Section>
std::uint64_t expect_of_usual_blocks(operations const& all) {
  return test::simulated() ? expect_each_once<Section, 64>(all, 3)
                           : expect_each_once<Section, 512>(all, 3);
}

TYPED_TEST(deferred_combining, one_record_gets_few_runs_for_each_block) {
  std::uint32_t const n = test::sized(8000u, 4'000'000u);
  operations const all{n, 1, 0};
  // A block combines from its first batch to its last; some stay by themselves where threads meet.
  EXPECT_LE(expect_of_usual_blocks<TypeParam>(all), 3 * keys_of<TypeParam> + n / 10);
  for (std::uint32_t const few : {1u, 3u, 31u, 64u, 65u})
    expect_each_once<TypeParam, 64>({few, 1, 0}, 1);
}

TYPED_TEST(deferred_combining, hot_records_get_few_runs_and_the_others_all) {
  std::uint32_t const n = test::sized(8000u, 4'000'000u);
  for (std::uint32_t const keys : {2u, 40u, 5000u}) {
    for (std::uint32_t const hot : {60u, 128u, 250u}) {
      operations const all{n, keys, hot};
      std::uint64_t const runs = expect_of_usual_blocks<TypeParam>(all);
      // Half of the hot ones, at least, are saved.
      EXPECT_LT(runs, all.sent() - all.sent() * hot / 256 / 2) << keys << " records, hot " << hot;
    }
  }
}

/// Threads' own sends are combined by the run, in a window each, wherever its owner is.
TYPED_TEST(deferred_combining, a_run_combines_what_threads_sent) {
  std::uint32_t const n = test::sized(8000u, 4'000'000u);
  for (std::uint32_t const keys : {1u, 2u, 40u, 5000u}) {
    operations const all{n, keys, 200};
    bench<TypeParam> b{all};
    warden::deferred later{b.on(), all.sent()};
    b.send_alone(later.ref(), 0, n);
    later.run();
    b.on().wait();
    // None of four keys has many more sections than the others in a window, so they may stay.
    std::uint64_t const runs = b.expect_each_once();
    std::uint64_t const most = keys_of<TypeParam> == 1 ? all.sent() / 2 : all.sent();
    EXPECT_LE(runs, most) << keys << " records";
  }
}

TYPED_TEST(deferred_combining, of_records_that_do_not_repeat_nothing_is_combined) {
  operations const all{test::sized(4000u, 1'000'000u), test::sized(4000u, 1'000'000u), 0};
  EXPECT_EQ((expect_each_once<TypeParam, 64>(all, 3)), all.sent());
  // On a device whose blocks can have that client.
  using client = typename bench<TypeParam>::guarded::template deferred_block<512>;
  if (sizeof(typename client::storage) <= warden::runtime::facts(0).shared_bytes_per_block) {
    EXPECT_EQ((expect_each_once<TypeParam, 512>(all, 3)), all.sent());
  }
}

TYPED_TEST(deferred_combining, what_repeats_late_is_found) {
  if (test::simulated()) {
    expect_late_repeats_are_found<TypeParam, 64>();
  } else {
    expect_late_repeats_are_found<TypeParam, 512>();
  }
}

/// True if the client combines in static shared memory, or has no room to.
template <class Section, unsigned Threads>
constexpr bool fits_static(bool combines) {
  using client = typename totals_of<Section>::template deferred_block<Threads>;
  return client::combines == combines && sizeof(typename client::storage) <= 48 << 10;
}
static_assert(fits_static<sample, 256>(true) && fits_static<sample, 512>(true));
static_assert(fits_static<wide_sample, 256>(true) && fits_static<wide_sample, 512>(true));
static_assert(fits_static<sample, 1024>(true) && fits_static<wide_sample, 1024>(false));

/// The storage has no room for what combining needs: no batch combines, in a log that does.
TYPED_TEST(deferred_combining, a_client_without_room_to_combine) {
  operations const all{test::sized(4000u, 1'000'000u), 40, 200};
  bench<TypeParam> b{all};
  static_assert(!bench<TypeParam>::guarded::template deferred_block<64, 64>::combines);
  warden::deferred later{b.on(), all.sent()};
  b.template send_together<64, 64>(later.ref(), 0, all.n, 3);
  later.run();
  b.on().wait();
  b.expect_each_once();
}

using in_order = warden::with_parts<policy, warden::order::sequential>;
template <class Policy, class... Sections>
constexpr bool combines = warden::basic_guarded<Policy, total, Sections...>::deferred_ref::combines;
static_assert(combines<policy, add_up> && combines<policy, sample>);
static_assert(!combines<policy, single_add> && !combines<policy, add_up, keyed_add>);
static_assert(!combines<in_order, add_up> && !combines<in_order, sample>);

/// Messages stay narrow: a log of samples takes little more than their bytes.
TEST(deferred_combining_memory, a_log_has_the_width_of_its_sections) {
  std::uint32_t const n = 1u << 18;
  bench<sample> b{{n, 1000, 0}};
  warden::deferred later{b.on(), n};
  EXPECT_LT(later.memory_bytes(), std::size_t{n} * 8 * 5 / 4);
}

template <class Policy>
class deferred_partials : public testing::Test {};
using all_policies = testing::Types<policy_of<warden::executor::sorted<>, placement::in_memory>,
                                    policy_of<warden::executor::sorted<>, placement::on_chip>,
                                    policy_of<warden::executor::locks<>, placement::in_memory>,
                                    policy_of<warden::executor::locks<>, placement::on_chip>>;
TYPED_TEST_SUITE(deferred_partials, all_policies);

TYPED_TEST(deferred_partials, run_by_every_executor) {
  std::uint32_t const n = test::sized(6000u, 2'000'000u);
  for (std::uint32_t const hot : {0u, 100u, 250u}) {
    expect_each_once<sample, 64, TypeParam>({n, 300, hot}, 3);
    expect_each_once<keyed_sample, 64, TypeParam>({n, 300, hot}, 3);
  }
}

/// A log of n takes n, however they are sent: by blocks that combine, by threads, in batches that
/// the ends of shards cut.
TYPED_TEST(deferred_combining, a_log_of_n_takes_n_sections) {
  std::uint32_t const n = test::sized(40'000u, 1'000'000u);
  for (std::uint32_t const hot : {0u, 30u, 250u}) {
    operations const all{n, 700, hot};
    bench<TypeParam> b{all};
    warden::deferred later{b.on(), all.sent()};
    b.send_alone(later.ref(), 0, n / 5);
    b.template send_together<128>(later.ref(), n / 5, n / 2, 4);
    b.send_alone(later.ref(), n / 2, n / 2 + n / 7);
    b.template send_together<128>(later.ref(), n / 2 + n / 7, n, 3);
    later.run();
    b.on().wait();
    b.expect_each_once();
  }
}

/// Nothing repeats: a log of n takes n, and not one more.
TYPED_TEST(deferred_combining, a_full_log_refuses) {
  std::uint32_t const n = test::sized(3000u, 200'000u);
  operations const all{n, n, 0};
  bench<TypeParam> b{all};
  warden::deferred later{b.on(), all.sent() - 10};
  b.template send_together<64>(later.ref(), 0, n, 3);
  later.run();
  try {
    b.on().wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("10 deferred sections were refused"));
  }
  EXPECT_EQ(b.operations_ran(), all.sent() - 10);
}

/// Batches of two widths are not split, and the log refuses to.
TEST(deferred_combining_memory, a_log_of_partials_is_not_split) {
  bench<sample> b{{100, 64, 0}};
  try {
    warden::deferred later{b.on(), 1000, {.split = 4}};
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("a split by 4; a log of sections that combine to wider "
                                    "partials is not split"));
  }
  bench<add_up> narrow{{100, 64, 0}};
  warden::deferred later{narrow.on(), 1000, {.split = 4}};
}

/// A section more is not lost in silence where partials fill the log, either.
TEST(deferred_combining_memory, a_log_that_is_full_of_partials_refuses) {
  std::uint32_t const n = test::sized(20'000u, 1'000'000u);
  operations const all{n, 2000, 60};
  for (std::uint32_t const part : {40u, 7u, 3u}) {
    bench<sample> b{all};
    std::uint64_t const capacity = all.sent() / part;
    warden::deferred later{b.on(), capacity};
    b.send_together<64>(later.ref(), 0, n, 3);
    later.run();
    EXPECT_THROW(b.on().wait(), warden::limit_error);
    EXPECT_GE(b.operations_ran(), capacity);
    EXPECT_LT(b.operations_ran(), all.sent());
  }
}

TYPED_TEST(deferred_combining, blocks_that_flush_often) {
  std::uint32_t const n = test::sized(6000u, 1'000'000u);
  for (std::uint32_t const each : {1u, 3u, 16u}) {
    for (std::uint32_t const hot : {0u, 128u, 256u}) {
      operations const all{n, 50, hot};
      bench<TypeParam> b{all};
      warden::deferred later{b.on(), all.sent()};
      b.template send_together<64>(later.ref(), 0, n, 2, each);
      later.run();
      b.on().wait();
      b.expect_each_once();
    }
  }
}

/// The second of two runs of one log has the sections that were sent after the first.
TYPED_TEST(deferred_combining, run_after_run) {
  std::uint32_t const n = test::sized(6000u, 1'000'000u);
  operations const all{n, 90, 128};
  bench<TypeParam> b{all};
  warden::deferred later{b.on(), n};
  for (std::uint32_t part = 0; part < 3; ++part) {
    b.template send_together<64>(later.ref(), part * (n / 3), part == 2 ? n : (part + 1) * (n / 3),
                                 2);
    later.run();
  }
  b.on().wait();
  b.expect_each_once();
}

template <class Ref>
WARDEN_KERNEL void send_some_bad(Ref ref) {
  using block = warden::deferred_block<Ref, 64>;
  block client{ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t i = 0; i < 40; ++i) {
    bool const bad = (simt::thread_rank() + i) % 4 == 0;
    client.send(bad ? 10 + simt::thread_rank() : i % 2, sample::of(i));
  }
  client.flush();
}

TEST(deferred_combining_memory, ids_outside_the_records) {
  using guarded = totals_of<sample>;
  warden::buffer<total> memory{30};
  memory.fill_bytes(0);
  guarded g{memory.data() + 10, 10};
  warden::deferred later{g, 10'000};
  warden::launch(&send_some_bad<guarded::deferred_ref>,
                 {2, 64, sizeof(guarded::deferred_block<64>::storage)}, {}, later.ref());
  later.run();
  try {
    g.wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("1280 such ids; the other sections were executed"));
  }
  auto const seen = memory.to_host();
  std::uint64_t count = 0;
  for (std::uint32_t k = 0; k < 30; ++k) {
    EXPECT_TRUE(k == 10 || k == 11 || seen[k].runs == 0) << "memory outside the records";
    count += seen[k].operations;
  }
  EXPECT_EQ(count, 2u * 40 * 64 - 1280);
}

}  // namespace
