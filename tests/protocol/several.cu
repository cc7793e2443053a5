// SPDX-License-Identifier: Apache-2.0
// Sections on several records: the result of a loop, limits and errors.

#include "tests/protocol/several.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using several::cell;
using several::cells;
using several::expect_as_in_a_loop;
using several::mixed;
using several::ordered_cells;
using several::shape;
using testing::HasSubstr;
using warden::outcome;

TEST(several, two_records_are_as_in_a_loop) {
  for (std::uint32_t const records : {1u, 2u, 60u, 5000u}) {
    std::uint32_t const n =
        records > 2 ? test::sized(900u, 1'000'000u) : test::sized(300u, 100'000u);
    expect_as_in_a_loop<2>({.records = records, .positions = 2}, n);
  }
}
TEST(several, five_records_are_as_in_a_loop) {
  std::uint32_t const n = test::sized(900u, 1'000'000u);
  for (std::uint32_t const writes : {0u, 13u, 128u, 256u})
    expect_as_in_a_loop<16>({.records = 300, .positions = 5, .writes = writes, .bad = 8}, n);
}
TEST(several, sixteen_records_are_as_in_a_loop) {
  std::uint32_t const n = test::sized(250u, 300'000u);
  for (std::uint32_t const records : {10u, 20'000u})
    expect_as_in_a_loop<16>({.records = records, .positions = 16}, n);
}
TEST(several, few_sections_are_as_in_a_loop) {
  for (std::uint32_t const n : {1u, 2u, 33u})
    expect_as_in_a_loop<16>({.records = 3, .positions = 5}, n);
}
/// Most of the places of a record are in tiles without a beginning or a write.
TEST(several, readers_of_one_record_are_as_in_a_loop) {
  std::uint32_t const n = test::sized(9000u, 1'000'000u);
  expect_as_in_a_loop<2>({.records = 1, .positions = 1, .writes = 0, .aborts = 0}, n, 1);
}

/// A record that can be made, but not assigned.
struct fixed {
  std::uint32_t const key = 0;
  std::uint32_t value;
};
struct raise_fixed {
  std::uint32_t id;
  __device__ void access(warden::access_list<3>& a) const { a.write(id); }
  __device__ outcome operator()(warden::records<fixed, 3>& r) const {
    r.write(0).value += r.read(0).key;
    return outcome::commit;
  }
};
TEST(several, records_need_no_assignment) {
  warden::buffer<fixed> records{std::vector<fixed>{{1, 0}, {2, 0}}};
  warden::guarded<fixed, several::keep<fixed>> on{records};
  warden::deferred_several<decltype(on), raise_fixed> later{on, 3};
  warden::buffer<raise_fixed> const sections{std::vector<raise_fixed>{{0}, {1}, {1}}};
  later.apply_async(sections.data(), 3);
  on.wait();
  EXPECT_EQ(records.to_host()[0].value, 1u);
  EXPECT_EQ(records.to_host()[1].value, 4u);
}

// ---- what a section is handed, and what it may do

struct deposit {
  std::uint32_t id, other;
  /// 1: writes the record that it reads. 2: writes a position without a record. 3: names 4 records.
  /// Else: nanoseconds that the section takes.
  std::uint32_t how;
  __device__ void access(warden::access_list<3>& a) const {
    a.write(id);
    a.read(other);
    if (how == 3) a.read(0), a.read(1);
  }
  __device__ outcome operator()(warden::records<cell, 3>& r, std::uint32_t const& amount) const {
    r.write(0).value += amount;
    if (how == 1) r.write(1).value = 0;
    if (how == 2) r.write(2).value += 1;
    std::uint64_t const begin = how > 3 ? simt::nanoseconds() : 0;
    while (how > 3 && simt::nanoseconds() - begin < how) simt::back_off(8);
    return outcome::commit;
  }
};
using with_amount =
    warden::basic_guarded<warden::policy<warden::options{}, warden::context<std::uint32_t>>, cell,
                          several::clear>;

/// Holds the records as a run does.
WARDEN_KERNEL void occupy(std::uint32_t* at_work, std::uint32_t value) {
  if (simt::thread_rank() == 0) simt::store_relaxed(at_work, value);
}

struct deposits {
  warden::buffer<cell> records{several::first_cells(10)};
  with_amount on{records, 5u};
  warden::deferred_several<with_amount, deposit> later{on, 4};
  warden::buffer<outcome> results{4};

  void apply(std::vector<deposit> const& sections) {
    warden::buffer<deposit> const on_device{sections};
    later.apply_async(on_device.data(), sections.size(), results.data());
    warden::stream_ref{}.synchronize();
  }
  /// Applies sections while the records are in use.
  void put_off(std::vector<deposit> const& sections) {
    std::uint32_t* const at_work = warden::detail::guarded_access::shared(on)->at_work.data();
    warden::launch(&occupy, 1, 1, {}, at_work, 1u);
    apply(sections);
    warden::launch(&occupy, 1, 1, {}, at_work, 0u);
  }
  /// Returns the increase of each record.
  [[nodiscard]] std::vector<std::uint64_t> increase() const {
    auto const before = several::first_cells(10);
    auto const after = records.to_host();
    std::vector<std::uint64_t> more(10);
    for (unsigned r = 0; r < 10; ++r) more[r] = after[r].value - before[r].value;
    return more;
  }
};

TEST(several, sections_are_handed_the_context) {
  deposits d;
  d.apply({{3, 4, 0}, {4, 3, 0}, {3, 3, 0}});
  d.on.wait();
  EXPECT_THAT(d.increase(), testing::ElementsAre(0, 0, 0, 10, 5, 0, 0, 0, 0, 0));
}
TEST(several, wrong_accesses_change_nothing_and_are_reported) {
  deposits d;
  d.apply({{3, 4, 1}, {3, 4, 2}, {3, 4, 0}});
  std::string text = test::error_text(d.on);
  EXPECT_THAT(text, HasSubstr("records: 2 sections used a record that they had not named, or wrote "
                              "one that they had named for reading; they changed nothing"));
  d.apply({{3, 4, 3}, {3, 4, 0}});
  text = test::error_text(d.on);
  EXPECT_THAT(text, HasSubstr("access: 1 sections named more than 3 records, and did not run: make "
                              "their access_list larger"));
  d.apply({{3, 4, 0}, {10, 11, 0}, {3, 12, 0}});
  text = test::error_text(d.on);
  EXPECT_THAT(text, HasSubstr(" is not below 10 (3 such ids, in rows from 1 on; the other sections "
                              "were executed): correct the ids"));
  EXPECT_EQ(d.later.counts().refused, 2u);
  // A run that is put off reports no ids.
  d.put_off({{10, 11, 0}});
  text = test::error_text(d.on);
  EXPECT_THAT(text, HasSubstr("found the guarded array in another run or launch"));
  EXPECT_THAT(text, testing::Not(HasSubstr("is not below")));
  d.on.wait();
  EXPECT_THAT(d.increase(), testing::ElementsAre(0, 0, 0, 15, 0, 0, 0, 0, 0, 0));
}

struct function_of_index {
  __device__ mixed<2> operator()(std::uint64_t i) const {
    return {static_cast<std::uint32_t>(i), {.records = 7, .positions = 2}};
  }
};
TEST(several, functions_return_sections) {
  auto all = several::first_cells(7);
  warden::buffer<cell> records{all};
  ordered_cells on{records};
  warden::deferred_several<ordered_cells, mixed<2>> later{on, 500};
  later.apply_async(500, function_of_index{});
  on.wait();
  for (std::uint32_t i = 0; i < 500; ++i)
    mixed<2>{i, {.records = 7, .positions = 2}}.run_alone(all);
  several::expect_same(records.to_host(), all);
}

// ---- limits

TEST(several, limits_are_errors) {
  warden::buffer<cell> records{several::first_cells(7)};
  ordered_cells on{records};
  using log = warden::deferred_several<ordered_cells, mixed<2>>;
  EXPECT_THAT(test::refusal([&] {
                log{on, 0};
              }),
              HasSubstr("deferred_several: room for 0 sections; the limits are 1 and 1073741823"));
  EXPECT_THAT(test::refusal([&] { log{on, log::most + 1}; }), HasSubstr("room for 1073741824"));
  log later{on, 100};
  EXPECT_THAT(test::refusal([&] { later.apply_async(101, function_of_index{}); }),
              HasSubstr("apply_async: 101 sections on several records; there is room for 100: make "
                        "the deferred_several larger"));
  mixed<2> const* const none = nullptr;
  EXPECT_THAT(test::refusal([&] { later.apply_async(none, 100); }),
              HasSubstr("apply_async: sections at a null pointer, 100 of them"));
  later.apply_async(0, function_of_index{});
  later.apply_async(none, 0);
  on.wait();
  several::expect_same(records.to_host(), several::first_cells(7));
  // 24 bytes for each access and 16 for each section, without the sort.
  EXPECT_GE(later.memory_bytes(), 100u * (2 * 24 + 16));
}

TEST(several, run_finds_the_records_in_use) {
  warden::buffer<cell> records{several::first_cells(7)};
  cells on{records};
  warden::deferred_several<cells, mixed<2>> later{on, 100};
  warden::buffer<outcome> results{100};
  std::uint32_t* const at_work = warden::detail::guarded_access::shared(on)->at_work.data();
  later.apply_async(100, function_of_index{}, results.data());
  on.wait();
  std::vector<cell> const before = records.to_host();
  warden::launch(&occupy, 1, 1, {}, at_work, 1u);
  later.apply_async(100, function_of_index{}, results.data());
  warden::launch(&occupy, 1, 1, {}, at_work, 0u);
  EXPECT_THAT(test::error_text(on), HasSubstr("found the guarded array in another run or launch"));
  several::expect_same(records.to_host(), before);
  EXPECT_EQ(results.to_host(), std::vector<outcome>(100, outcome::not_run));
  EXPECT_EQ(later.counts().committed + later.counts().aborted, 0u);
  later.apply_async(100, function_of_index{}, results.data());
  on.wait();
  EXPECT_EQ(later.counts().committed + later.counts().aborted, 100u);
}
TEST(several, captures_are_refused) {
  warden::buffer<cell> records{several::first_cells(7)};
  cells on{records};
  warden::deferred_several<cells, mixed<2>> later{on, 100};
  warden::stream s;
  EXPECT_THAT(
      test::refusal([&] {
        warden::graph::capture(s, [&] { later.apply_async(100, function_of_index{}, nullptr, s); });
      }),
      HasSubstr("deferred_several: the stream is being captured into a graph, whose replays "
                "would share memory with other runs: call apply_async and run outside of "
                "the capture"));
  later.apply_async(100, function_of_index{}, nullptr, s);
  on.wait(s);
  EXPECT_EQ(later.counts().committed + later.counts().aborted, 100u);
}
TEST(several, empty_arrays_have_no_ids) {
  warden::buffer<cell> records{0};
  cells on{records};
  warden::deferred_several<cells, mixed<2>> later{on, 10};
  later.apply_async(10, function_of_index{});
  EXPECT_THAT(test::error_text(on), HasSubstr(" is not below 0"));
  EXPECT_EQ(later.counts().refused, 10u);
}

/// Stores what a read of an unnamed record returns.
struct look_around {
  std::uint64_t* seen;
  __device__ void access(warden::access_list<2>& a) const { a.read(0), a.write(1); }
  __device__ outcome operator()(warden::records<cell, 2>& r) const {
    if (seen == nullptr) {
      r.write(1).value = ~std::uint64_t{0};
    } else {
      *seen = r.read(2).value;
    }
    return outcome::abort;
  }
};
TEST(several, unnamed_records_read_as_zeros) {
  warden::buffer<cell> records{several::first_cells(2)};
  cells on{records};
  warden::deferred_several<cells, look_around> later{on, 32};
  warden::buffer<std::uint64_t> seen{1};
  seen.fill_bytes(1);
  std::vector<look_around> sections(32, look_around{nullptr});
  sections.back().seen = seen.data();
  warden::buffer<look_around> const on_device{sections};
  later.apply_async(on_device.data(), sections.size());
  EXPECT_THAT(test::error_text(on), HasSubstr("1 sections used a record that they had not named"));
  EXPECT_EQ(seen.to_host()[0], 0u);
}

// ---- logs

WARDEN_KERNEL void send_by_index(warden::several_ref<mixed<2>> log, std::uint32_t n) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < n) log.send(function_of_index{}(i));
}
TEST(several, logs_keep_sections_until_they_run) {
  warden::buffer<cell> records{several::first_cells(7)};
  cells on{records};
  std::uint32_t* const at_work = warden::detail::guarded_access::shared(on)->at_work.data();
  {
    warden::deferred_several<cells, mixed<2>> later{on, 300};
    warden::buffer<warden::outcome> outcomes{300};
    outcomes.fill_bytes(0xff);
    later.run(outcomes.data());
    EXPECT_THAT(outcomes.to_host(), testing::Each(warden::outcome::not_run));
    warden::launch(&send_by_index, 3, 128, {}, later.ref(), 299u);
    warden::launch(&occupy, 1, 1, {}, at_work, 1u);
    later.run();
    warden::launch(&occupy, 1, 1, {}, at_work, 0u);
    EXPECT_THAT(test::error_text(on), HasSubstr("found the guarded array in another run"));
    later.run();
    on.wait();
    warden::outcome_counts const counts = later.counts();
    EXPECT_EQ(counts.committed + counts.aborted, 299u);
    later.run();
    on.wait();
    EXPECT_EQ(later.counts().committed, 0u) << "the log is empty after a run";
    warden::launch(&send_by_index, 3, 128, {}, later.ref(), 310u);
    later.run();
    EXPECT_THAT(test::error_text(on), HasSubstr("10 deferred sections were refused: their log "
                                                "holds 300, and takes none while it is run"));
    warden::launch(&send_by_index, 1, 32, {}, later.ref(), 20u);
  }
  EXPECT_THAT(test::error_text(on), HasSubstr("20 deferred sections were never run: their log was "
                                              "destroyed without a run after them"));
}

// ---- time limit

TEST(several, waits_end_at_the_time_limit) {
  warden::buffer<cell> records{several::first_cells(41)};
  with_amount on{records, 5u, {.time_limit_seconds = 1e-4, .minimum_polls = 64}};
  warden::deferred_several<with_amount, deposit> later{on, 40};
  // The last section waits for the first one, which another warp runs.
  std::vector<deposit> sections(40);
  for (std::uint32_t i = 0; i < 40; ++i) sections[i] = {i % 39, 40, i == 0 ? 4'000'000u : 0u};
  warden::buffer<deposit> const on_device{sections};
  warden::buffer<outcome> results{40};
  later.apply_async(on_device.data(), 40, results.data());
  EXPECT_THAT(test::error_of<warden::timeout_error>([&] { on.wait(); }),
              HasSubstr("waited with section 39 on several records until 1 accesses to one of them "
                        "had finished; if sections run longer, raise time_limit_seconds"));
  // The results tell which sections have run.
  std::vector<outcome> const seen = results.to_host();
  std::vector<cell> const before = several::first_cells(41), after = records.to_host();
  for (std::uint32_t r = 0; r < 39; ++r) {
    std::uint64_t const runs =
        (seen[r] == outcome::commit) + (r == 0 && seen[39] == outcome::commit);
    EXPECT_EQ(after[r].value, before[r].value + 5 * runs) << "record " << r;
  }
  EXPECT_EQ(seen[39], outcome::not_run);
  EXPECT_EQ(later.counts().committed,
            static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), outcome::commit)));
  // The guarded array is usable again.
  sections[0].how = 0;
  warden::buffer<deposit> const again{sections};
  later.apply_async(again.data(), 40);
  on.wait();
  EXPECT_EQ(later.counts().committed, 40u);
}

}  // namespace
