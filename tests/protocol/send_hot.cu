// SPDX-License-Identifier: Apache-2.0
// Many sections on more records than tables hold: `send_async` combines those on hot records before
// it logs them.

#include "tests/protocol/deferred_combining.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

namespace {

using namespace combined;
using testing::HasSubstr;
using policy = warden::policy<>;

/// Records that fit no table.
constexpr std::uint32_t many_records = 40'000;
/// Operations of which each block gets enough.
std::uint32_t many() { return test::sized(60'000u, 6'000'000u); }
/// Operations of which 1/4 is for one record.
operations with_hot_record() { return {many(), many_records, 64}; }
/// True if blocks with tables of hot records fill the device.
template <class Section>
bool has_tables() {
  constexpr unsigned threads = 512;
  using ref = typename bench<Section, policy>::ref;
  return warden::detail::resident_by_memory(warden::detail::hot_sender<ref, threads>::shared_bytes,
                                            threads, warden::runtime::facts(0)) >= 1024 / threads;
}

/// Sends one operation for each element; every 8th id is outside the records.
template <class Section>
struct stray_sent {
  each_sent<Section> each;
  __device__ auto operator()(std::uint64_t j) const {
    auto sent = each(j);
    if (j % 8 == 3) sent.id += each.all.keys;
    return sent;
  }
};
/// Sends one operation for each element. Each record comes twice, too far apart for a warp.
template <class Section>
struct paired_sent {
  each_sent<Section> each;
  __device__ auto operator()(std::uint64_t j) const {
    auto sent = each(j);
    sent.id = (j / 1200 * 600 + j % 600) % each.all.keys;
    return sent;
  }
};
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

/// Two values whose partial needs a wider message.
struct values {
  std::uint32_t value, same;
  WARDEN_HOST_DEVICE static values of(std::uint32_t i) { return {value_of(i), value_of(i)}; }
  __device__ void operator()(total& t) const { partial{*this}(t); }

  struct partial {
    std::uint64_t sums[2];
    std::uint32_t operations;
    __device__ explicit partial(values const& one) : sums{one.value, one.same}, operations{1} {}
    __device__ void operator()(total& t) const {
      t.sum += (sums[0] + sums[1]) / 2;
      t.operations += operations;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial const& b) {
      a.sums[0] += b.sums[0];
      a.sums[1] += b.sums[1];
      a.operations += b.operations;
      return a;
    }
  };
};

template <class Section>
class send_hot : public testing::Test {};
using sections = testing::Types<add_up, values, pair_of_values>;
TYPED_TEST_SUITE(send_hot, sections);

/// Sends all operations to a log with as many places. Returns how many places combining freed.
template <class Section>
std::uint64_t expect_all_run(operations const& all) {
  bench<Section, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), each_sent<Section>{all});
  later.run();
  b.on().wait();
  b.expect_each_once();
  warden::run_report const r = later.explain();
  EXPECT_EQ(r.sections, all.sent());
  return r.combined_away;
}
TYPED_TEST(send_hot, a_hot_record_is_combined) {
  operations const all = with_hot_record();
  std::uint64_t const freed = expect_all_run<TypeParam>(all);
  if (has_tables<TypeParam>()) {
    EXPECT_GE(freed, all.sent() / 256 * all.hot * 9 / 10);
  }
}
TYPED_TEST(send_hot, records_that_come_seldom_are_not_combined) {
  operations const all{many(), many_records, 0};
  EXPECT_LE(expect_all_run<TypeParam>(all), all.sent() / 8);
}
TYPED_TEST(send_hot, fills_a_log_to_its_last_place) {
  operations const all = with_hot_record();
  bench<TypeParam, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  // Few elements, which go without tables, before many.
  warden::send_async(later, 100, each_sent<TypeParam>{all, 0});
  warden::send_async(later, all.sent() - 100, each_sent<TypeParam>{all, 100});
  later.run();
  b.on().wait();
  b.expect_each_once();
}
/// The partial of two sections may take more places than they do.
TYPED_TEST(send_hot, pairs_of_sections_find_their_places) {
  operations const all{many(), many_records, 0};
  bench<TypeParam, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), paired_sent<TypeParam>{{all}});
  later.run();
  b.on().wait();
  EXPECT_EQ(b.operations_ran(), all.sent());
}
TYPED_TEST(send_hot, a_function_that_may_send_nothing_sends_as_usual) {
  operations const all = with_hot_record();
  bench<TypeParam, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.n, some_sent<TypeParam>{all});
  later.run();
  b.on().wait();
  b.expect_each_once();
}
TYPED_TEST(send_hot, reports_ids_outside_the_records) {
  operations const all = with_hot_record();
  bench<TypeParam, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), stray_sent<TypeParam>{{all}});
  later.run();
  std::uint64_t const bad = (all.sent() + 4) / 8;
  EXPECT_THAT(test::error_text(b.on()), HasSubstr("(" + std::to_string(bad) + " such ids"));
  EXPECT_EQ(b.operations_ran(), all.sent() - bad);
}
TYPED_TEST(send_hot, counts_what_finds_no_place) {
  operations const all = with_hot_record();
  bench<TypeParam, policy> b{all};
  warden::deferred later{b.on(), all.sent()};
  b.send_alone(later.ref(), 0, all.n);
  warden::send_async(later, all.sent(), each_sent<TypeParam>{all});
  // Without tables blocks combine within their batches, and count a partial once.
  EXPECT_THAT(test::error_text(b.on()),
              HasSubstr((has_tables<TypeParam>() ? std::to_string(all.sent()) : std::string{}) +
                        " deferred sections were refused"));
  later.run();
  b.on().wait();
  b.expect_each_once();
}

}  // namespace
