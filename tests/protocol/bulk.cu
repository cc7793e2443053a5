// SPDX-License-Identifier: Apache-2.0
// apply_async of sections that combine on few records, which goes through no log.

#include "tests/protocol/bulk.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

#include <cstdint>

namespace {

using namespace bulk;
using usual = warden::policy<>;
using small_blocks = warden::policy<warden::options{.block_threads = 32}>;

TEST(bulk, any_number_of_records_and_rows) {
  for (std::uint32_t const records : {1u, 7u, 64u, 300u, 1000u, 3000u, 6000u}) {
    for (std::uint64_t const n : {1u, 33u, 2000u}) {
      expect_as_in_a_loop<1, small_blocks>({n, records});
      expect_as_in_a_loop<4, small_blocks>({n, records, 100});
    }
  }
}
TEST(bulk, payloads_up_to_many_words) {
  for (std::uint32_t const records : {50u, 900u}) {
    expect_as_in_a_loop<2, small_blocks>({4000, records, 50});
    expect_as_in_a_loop<3, small_blocks>({4000, records, 50});
    expect_as_in_a_loop<5, small_blocks>({4000, records, 50});
  }
}
TEST(bulk, partials_of_up_to_64_bytes) {
  static_assert(sizeof(wide<6>::section::partial) == 52);
  static_assert(sizeof(wide<7, std::uint64_t>::section::partial) == 64);
  for (std::uint32_t const records : {1u, 20u, 50u, 300u, 1500u, 20'000u}) {
    expect_as_in_a_loop<6, small_blocks>({2000, records, 50});
    expect_as_in_a_loop<7, small_blocks, std::uint64_t>({2000, records, 50});
  }
}
/// A log does not combine to such partials, and runs each section.
TEST(bulk, sections_with_wide_partials_in_a_log) {
  using section = wide<7, std::uint64_t>::section;
  rows const all{3000, 40, 100};
  warden::buffer<wide<7, std::uint64_t>::total> records{all.records};
  records.fill_bytes(0);
  warden::guarded<wide<7, std::uint64_t>::total, section> on{records};
  warden::deferred log{on, all.n};
  warden::send_async(log, all.n, send_rows<section>{all});
  log.run();
  on.wait();
  std::uint64_t sent = 0, ran = 0;
  for (std::uint64_t i = 0; i < all.n; ++i) sent += all.sends(i) ? 1 : 0;
  for (auto const& record : records.to_host()) {
    EXPECT_EQ(record.rows, record.runs);
    ran += record.rows;
  }
  EXPECT_EQ(ran, sent);
}
TEST(bulk, all_rows_on_one_record) {
  for (std::uint32_t const records : {1u, 200u, 4000u})
    expect_as_in_a_loop<4, small_blocks>({test::sized(5000u, 4'000'000u), records, 256});
}
TEST(bulk, large_blocks_and_several_calls) {
  for (std::uint32_t const records : {100u, 4000u})
    expect_as_in_a_loop<4, usual>({test::sized(4000u, 4'000'000u), records, 40}, 3);
}
/// More records than a table holds: rows are sorted by part first. `few_bytes` makes several passes
/// on a GPU.
TEST(bulk, records_in_parts) {
  using few_bytes =
      warden::policy<warden::options{.block_threads = 32, .tuning = {.apply_bytes = 100'000}}>;
  for (std::uint32_t const records : {20'000u, 70'001u}) {
    for (std::uint64_t const n : {1u, 3000u, 20'000u})
      expect_as_in_a_loop<4, small_blocks>({n, records, 30});
    expect_as_in_a_loop<4, small_blocks>({20'000, records, 250}, 2);
    expect_as_in_a_loop<1, few_bytes>({test::sized(60'000u, 4'000'000u), records, 100, 97});
  }
}
/// A pass has 32 rows for each record, so few records in parts need fewer rows for a second pass.
TEST(bulk, records_in_parts_take_several_passes) {
  using few_bytes =
      warden::policy<warden::options{.block_threads = 32, .tuning = {.apply_bytes = 100'000}}>;
  expect_as_in_a_loop<7, few_bytes, std::uint64_t>({test::on_chip(140'000u, 5000u), 3500, 50, 997});
}
TEST(bulk, ids_outside_are_counted) {
  for (std::uint32_t const records : {100u, 2000u})
    expect_as_in_a_loop<1, small_blocks>({5000, records, 0, 97}, 2);
}
/// Rows of calls that are put off, one after another, have no pieces.
TEST(bulk, calls_in_parts_that_are_put_off_write_nothing) {
  using section = wide<4>::section;
  rows const all{20'000, 20'000};
  warden::buffer<wide<4>::total> records{all.records};
  records.fill_bytes(0);
  warden::basic_guarded<small_blocks, wide<4>::total, section> on{records};
  auto& in_use = warden::detail::guarded_access::shared(on)->at_work;
  on.apply_async(all.n, send_rows<section>{all});
  on.wait();
  auto const before = records.to_host();
  in_use.fill_bytes(1);
  for (int call = 0; call < 20; ++call) on.apply_async(all.n, send_rows<section>{all});
  warden::stream_ref{}.synchronize();
  in_use.fill_bytes(0);
  EXPECT_THAT(test::error_text(on), testing::HasSubstr("20 runs of logs found the guarded array"));
  on.apply_async(all.n, send_rows<section>{all});
  on.wait();
  auto const after = records.to_host();
  for (std::size_t i = 0; i < after.size(); ++i)
    ASSERT_EQ(after[i].rows, 2 * before[i].rows) << "record " << i;
}
/// A call that finds the records taken by a graph's replay has no effect, and the replay frees
/// them.
TEST(bulk, calls_amid_replays_leave_the_records_free) {
  using section = wide<1>::section;
  rows const all{2000, 100};
  warden::buffer<wide<1>::total> records{all.records};
  records.fill_bytes(0);
  warden::basic_guarded<small_blocks, wide<1>::total, section> on{records};
  on.reserve(all.n);
  warden::stream replaying, other;
  warden::graph const replay = warden::graph::capture(
      replaying, [&] { on.apply_async(all.n, send_rows<section>{all}, replaying); });
  for (int turn = 0; turn < 4; ++turn) {
    replay.launch(replaying);
    on.apply_async(all.n, send_rows<section>{all}, other);
    replaying.synchronize();
    other.synchronize();
    try {
      on.wait();
    } catch (warden::error const&) {
      // One of the two was put off.
    }
    on.apply_async(all.n, send_rows<section>{all});
    EXPECT_NO_THROW(on.wait()) << "the records are free again";
  }
}

}  // namespace
