// SPDX-License-Identifier: Apache-2.0
// The report that `explain` returns about the last run of a log.

#include "tests/protocol/deferred.cuh"
#include "tests/protocol/deferred_combining.cuh"
#include "tests/support/error_text.hpp"

#include <warden/run_report.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace {

namespace simt = warden::simt;
using testing::HasSubstr;
using warden::placement;
using warden::run_report;

using chip_policy = deferring::small_blocks<warden::executor::sorted<>, placement::on_chip>;

template <class Log>
std::string text_of_refusal(Log const& log) {
  return test::refusal([&] { static_cast<void>(log.explain()); });
}

TEST(explain, needs_a_run_and_a_wait) {
  deferring::bench<deferring::small_blocks<>> b{100};
  warden::deferred later{b.on(), 1000};
  EXPECT_THAT(text_of_refusal(later), HasSubstr("explain: the log has no run to explain"));
  for (int k = 0; k < 2; ++k) {
    b.send_alone(later, 0, 500);
    later.run();
    EXPECT_THAT(text_of_refusal(later),
                HasSubstr("wait has not returned since the log's last run"));
    b.on().wait();
    EXPECT_EQ(later.explain().sections, 500u);
  }
}

TEST(explain, counts_what_was_sent) {
  deferring::bench<deferring::small_blocks<>> b{1000};
  warden::deferred later{b.on(), 20'000, {.partitions = 8, .split = 1}};
  b.send_alone(later, 0, 1000);
  b.send_together(later, 1000, 11'000, 2);
  later.run();
  b.on().wait();
  run_report const r = later.explain();
  EXPECT_EQ(r.room, 20'000u);
  EXPECT_EQ(r.sections, 11'000u);
  EXPECT_EQ(r.sections_run, 11'000u);
  EXPECT_EQ(r.combined_away, 0u);
  // send_together appends each 61st section.
  EXPECT_GE(r.flat, 1000u + 10'000 / 61);
  EXPECT_LT(r.flat, 1000u + 10'000 / 60 + 200);
  EXPECT_GT(r.batches, 1u);
  EXPECT_EQ(r.partitions, 8u);
  EXPECT_EQ(r.split, 1u);
  EXPECT_EQ(r.in_memory, 8u);
  EXPECT_EQ(r.on_chip + r.untouched, 0u);
  EXPECT_GE(r.largest_partition, 11'000u / 8);
  EXPECT_LT(r.largest_partition, 2 * 11'000u / 8);
}

TEST(explain, tells_where_partitions_ran) {
  deferring::bench<chip_policy> b{4};
  warden::deferred later{b.on(), 100, {.partitions = 2, .split = 4}};
  b.send_alone(later, 0, 100);
  later.run();
  b.on().wait();
  run_report const r = later.explain();
  EXPECT_EQ(r.partitions, 8u);
  EXPECT_EQ(r.split, 4u);
  EXPECT_EQ(r.on_chip, 4u) << "one for each record";
  EXPECT_EQ(r.untouched, 4u);
  EXPECT_EQ(r.in_memory, 0u);
  // The partitions of the run before are forgotten.
  later.run();
  b.on().wait();
  EXPECT_EQ(later.explain().untouched, 8u);
  EXPECT_EQ(later.explain().sections_run, 0u);
}

/// Returns the names of the phases that the last run of a log has noted.
template <class Log>
std::string phases_of(Log& log) {
  constexpr char const* names[] = {"close", "sort", "split", "run", "partials", "open", "end"};
  warden::detail::log_control control{};
  warden::copy(&control, log.ref().log.control, 1);
  warden::stream_ref{}.synchronize();
  std::string found;
  for (unsigned p = 0; p < std::size(names); ++p) {
    if (control.trace.begins[p] != 0) found += std::string{" "} + names[p];
  }
  return found;
}

TEST(explain, knows_when_phases_began) {
  for (unsigned const split : {1u, 2u}) {
    deferring::bench<deferring::small_blocks<>> b{100};
    warden::deferred later{b.on(), 1000, {.partitions = 2, .split = split}};
    b.send_alone(later, 0, 1000);
    later.run();
    b.on().wait();
    EXPECT_EQ(phases_of(later),
              split == 1 ? " close sort run open end" : " close sort split run open end");
    double const total = later.explain().microseconds.total();
    EXPECT_EQ(total > 0, !test::simulated());
    EXPECT_LT(total, 1e7);
  }
}

TEST(explain, gives_each_phase_the_time_until_the_next_one) {
  warden::run_times const all =
      warden::detail::run_trace{{1000, 1500, 3500, 7500, 15'500, 31'500, 63'500}, 1, 0, 0}.times();
  EXPECT_EQ(all.close, 0.5);
  EXPECT_EQ(all.sort, 2);
  EXPECT_EQ(all.split, 4);
  EXPECT_EQ(all.run, 8);
  EXPECT_EQ(all.partials, 16);
  EXPECT_EQ(all.open, 32);
  EXPECT_EQ(all.total(), 62.5);
  warden::run_times const few =
      warden::detail::run_trace{{1000, 1500, 0, 7500, 0, 31'500, 63'500}, 1, 0, 0}.times();
  EXPECT_EQ(few.sort, 6);
  EXPECT_EQ(few.split, 0);
  EXPECT_EQ(few.run, 24);
  EXPECT_EQ(few.partials, 0);
}

/// Record of section i: `hot` of 100 are for record 77, the others are for all records.
WARDEN_HOST_DEVICE std::uint32_t often_77(std::uint32_t i, std::uint32_t keys, std::uint32_t hot) {
  return test::mix(i) % 100 < hot ? 77 : deferring::id_of(i, keys);
}
template <class Guarded>
struct hot_sends {
  typename Guarded::deferred_ref ref;
  std::uint32_t n, keys, hot;
};
template <class Guarded>
WARDEN_KERNEL void send_hot(hot_sends<Guarded> a) {
  using block = typename Guarded::template deferred_block<32>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t base = simt::block_rank() * 32; base < a.n; base += simt::block_count() * 32) {
    std::uint32_t const i = base + simt::thread_rank();
    client.send(often_77(i, a.keys, a.hot), deferring::add<1>::of(i), i < a.n);
  }
  client.flush();
}
/// Returns the report on a run of `n` sections, `hot` of 100 of which are for record 77.
template <class Policy>
run_report report_on(std::uint32_t n, std::uint32_t hot, warden::deferred_options chosen = {}) {
  constexpr std::uint32_t keys = 1000;
  deferring::bench<Policy> b{keys};
  using guarded = typename deferring::bench<Policy>::guarded;
  warden::deferred later{b.on(), n, chosen};
  using storage = typename guarded::template deferred_block<32>::storage;
  simt::launch(&send_hot<guarded>, 4, 32, sizeof(storage), {later.ref(), n, keys, hot}, {});
  later.run();
  b.on().wait();
  return later.explain();
}

TEST(explain, summarizes_a_run_that_no_partition_has_begun) {
  run_report r;
  warden::detail::summarize(r, {});
  EXPECT_EQ(r.partitions, 0u);
  EXPECT_FALSE(r.hottest);
}

template <class Policy>
void expect_hot_record() {
  std::uint32_t const n = test::sized(10'000u, 4'000'000u);
  for (std::uint32_t const hot : {20u, 60u, 97u}) {
    run_report const r = report_on<Policy>(n, hot, {.partitions = 16, .split = 1});
    ASSERT_TRUE(r.hottest) << hot << "% are for one record";
    EXPECT_EQ(r.hottest->id, 77u);
    double const share = 100. * static_cast<double>(r.hottest->sections) / n;
    EXPECT_NEAR(share, hot, 2);
    EXPECT_GE(r.most_of_one_record, n / 100 * hot);
  }
  run_report const even = report_on<Policy>(n, 0, {.partitions = 16, .split = 1});
  EXPECT_FALSE(even.hottest);
  EXPECT_GE(even.most_of_one_record, n / 1000);
  EXPECT_LE(even.most_of_one_record, n / 16);
}
TEST(explain, finds_a_hot_record_in_memory) { expect_hot_record<deferring::small_blocks<>>(); }
TEST(explain, finds_a_hot_record_in_a_log_that_is_split) {
  run_report const r =
      report_on<deferring::small_blocks<>>(5000, 60, {.partitions = 4, .split = 4});
  EXPECT_EQ(r.split, 4u);
  ASSERT_TRUE(r.hottest);
  EXPECT_EQ(r.hottest->id, 77u);
  EXPECT_NEAR(static_cast<double>(r.hottest->sections), 3000, 150);
}
TEST(explain, finds_a_hot_record_on_chip) { expect_hot_record<chip_policy>(); }
using in_order = warden::with_parts<deferring::small_blocks<>, warden::order::sequential>;
TEST(explain, finds_a_hot_record_in_order) { expect_hot_record<in_order>(); }
TEST(explain, finds_no_hot_record_if_warps_run_by_themselves) {
  using policy = deferring::small_blocks<warden::executor::locks<>>;
  run_report const r = report_on<policy>(5000, 60, {.partitions = 16, .split = 1});
  EXPECT_FALSE(r.hottest);
  EXPECT_EQ(r.most_of_one_record, r.largest_partition);
}

TEST(explain, describes_the_last_replay) {
  deferring::bench<deferring::small_blocks<>> b{100};
  warden::deferred later{b.on(), 1000};
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] { later.run(s); });
  EXPECT_THAT(text_of_refusal(later), HasSubstr("wait has not returned"));
  b.on().wait(s);
  EXPECT_THAT(text_of_refusal(later), HasSubstr("no run to explain")) << "captured, not run";
  for (std::uint32_t n : {300u, 700u}) {
    b.send_alone(later, 0, n, s);
    captured.launch(s);
    b.on().wait(s);
    EXPECT_EQ(later.explain(s).sections, n);
  }
}

template <class Section>
class explain_combining : public testing::Test {};
using one_width_and_two = testing::Types<combined::add_up, combined::sample>;
TYPED_TEST_SUITE(explain_combining, one_width_and_two);

TYPED_TEST(explain_combining, counts_what_was_combined_away) {
  std::uint32_t const n = test::sized(8000u, 1'000'000u);
  for (std::uint32_t const hot : {0u, 200u}) {
    combined::operations const all{n, n, hot};
    combined::bench<TypeParam> b{all};
    // Only batches of at least 24 bytes for each byte of a row have wide partials: few partitions
    // let those of a small block have them.
    warden::deferred later{b.on(), all.sent(), {.partitions = 4}};
    for (int k = 0; k < 2; ++k) {
      b.template send_together<64>(later.ref(), 0, n, 3);
      later.run();
      b.on().wait();
      run_report const r = later.explain();
      EXPECT_EQ(r.sections, all.sent());
      EXPECT_EQ(r.sections_run + r.combined_away, all.sent());
      EXPECT_GE(r.combined_away, hot == 0 ? 0 : n / 4);
      EXPECT_LE(r.combined_away, hot == 0 ? 0 : n);
    }
  }
}

/// A run takes less time for few sections of a record than a block takes to combine them.
TYPED_TEST(explain_combining, leaves_a_small_batch_of_few_blocks) {
  for (std::uint32_t const blocks : {1u, 64u}) {
    combined::operations const all{blocks * 4 * 64, 2, 0};
    combined::bench<TypeParam> b{all};
    warden::deferred later{b.on(), all.sent(), {.partitions = 1}};
    b.template send_together<64>(later.ref(), 0, all.n, blocks);
    later.run();
    b.on().wait();
    std::uint64_t const away = later.explain().combined_away;
    if (blocks == 1) {
      EXPECT_EQ(away, 0u);
    } else {
      EXPECT_GT(away, all.sent() / 2);
    }
  }
}

TEST(explain, is_text_too) {
  run_report r;
  r.room = 20'000;
  r.sections = 10'000;
  r.combined_away = 1000;
  r.sections_run = 9000;
  r.flat = 500;
  r.batches = 12;
  r.partitions = 8;
  r.split = 2;
  r.on_chip = 5;
  r.in_memory = 2;
  r.untouched = 1;
  r.largest_partition = 4500;
  r.most_of_one_record = 450;
  r.microseconds = {1.25, 2, 0, 4.5, 0, 1};
  r.advice = {"do this", "do that"};
  EXPECT_EQ(r.text(),
            "sections: 10000 of at most 20000, 500 of them flat, the others in 12 batches\n"
            "combined away: 1000 (10.0 %), which leaves 9000\n"
            "partitions: 8 (each of 4 split by 2), 5 on chip, 2 in memory, 1 untouched; the "
            "largest has 50.0 % of the sections\n"
            "hottest record: none has more than about 5.0 % of the sections\n"
            "time: 8.8 us: close 1.2, sort 2.0, run 4.5, open 1.0\n"
            "advice: do this\n"
            "advice: do that\n");
  r.hottest = {17, 4000};
  EXPECT_THAT(r.text(), HasSubstr("hottest record: 17, with about 44.4 % of the sections\n"));
}

/// Returns the advice on a report with these changes.
template <class Change>
std::string advice_on(warden::section_facts const& sections, Change change) {
  run_report r;
  r.room = r.sections = r.sections_run = 10'000;
  r.batches = 4;
  r.partitions = 8;
  r.split = 1;
  change(r);
  warden::add_advice(r, sections);
  std::string all;
  for (std::string const& one : r.advice) all += one + "\n";
  return all;
}

TEST(explain, gives_advice) {
  auto const nothing = [](run_report&) {};
  auto const hot = [](run_report& r) { r.hottest = {17, 9700}; };
  EXPECT_EQ(advice_on({}, nothing), "");
  EXPECT_EQ(advice_on({},
                      [](run_report& r) {
                        r.hottest = {17, 2500};
                      }),
            "")
      << "twice the average of a partition";
  EXPECT_EQ(advice_on({}, hot),
            "97.0 % of the sections are for record 17: give the section a combine\n");
  EXPECT_EQ(advice_on({.declines_combining = true}, hot),
            "97.0 % of the sections are for record 17: let the section not say combines = false\n");
  EXPECT_EQ(advice_on({.combines = true}, hot),
            "97.0 % of the sections are for record 17 although they combine: let each block send "
            "more before it flushes\n");
  EXPECT_EQ(advice_on({.in_order = true}, hot),
            "97.0 % of the sections are for record 17, which runs them one after another: without "
            "an order they could combine\n");
  EXPECT_EQ(advice_on({}, [](run_report& r) { r.flat = 6000; }),
            "60.0 % of the sections were sent one by one: send by a deferred_block\n");
  EXPECT_EQ(advice_on({}, [](run_report& r) { r.batches = 1000; }),
            "a batch has 10.0 sections on average, for 8 partitions: let each block send more "
            "before it flushes\n");
  EXPECT_EQ(advice_on({.is_atomic = true}, nothing),
            "each section is one atomic: plain atomics may be faster\n");
  EXPECT_EQ(advice_on({}, [](run_report& r) { r.room = 40'000; }),
            "the log has room for 40000 sections, but the run had 10000: make a smaller log\n");
  EXPECT_EQ(advice_on({}, [](run_report& r) { r.sections = r.sections_run = 0; }),
            "the log was empty: send sections before the run\n");
}

TEST(explain, follows_a_log_that_moves) {
  deferring::bench<deferring::small_blocks<>> b{100};
  warden::deferred first{b.on(), 1000};
  b.send_alone(first, 0, 400);
  first.run();
  auto second = std::move(first);
  b.on().wait();
  EXPECT_EQ(second.explain().sections_run, 400u);
  warden::deferred third{b.on(), 10};
  third = std::move(second);
  EXPECT_EQ(third.explain().sections_run, 400u);
}

}  // namespace
