// SPDX-License-Identifier: Apache-2.0
// Deferred sections in order: what a sequential loop over launches, blocks, sends and threads
// gives, bit for bit.

#include "tests/protocol/order.cuh"
#include "tests/support/error_text.hpp"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

namespace {

using ordering::append;
using ordering::expect_order;
using ordering::traced;
using ordering::traces;
using test::error_text;
using test::refusal;
using testing::HasSubstr;
using warden::placement;

TEST(order, is_that_of_a_loop_for_any_number_of_partitions) {
  std::uint32_t const n = test::sized(3000u, 2'000'000u);
  for (unsigned const partitions : {1u, 2u, 16u, 128u, 512u}) {
    expect_order<placement::on_chip, 32>(3, n, 5, partitions, 1);
    expect_order<placement::in_memory, 64>(700, n, 9, partitions, 1);
  }
}
TEST(order, is_that_of_a_loop_where_the_log_is_split) {
  std::uint32_t const n = test::sized(3000u, 2'000'000u);
  for (unsigned const partitions : {1u, 4u, 64u}) {
    expect_order<placement::on_chip, 32>(70, n, 5, partitions, 8);
    expect_order<placement::in_memory, 64>(7000, n, 9, partitions, 64);
  }
}
TEST(order, is_that_of_a_loop_where_blocks_are_many) {
  // More than eight bits tell apart.
  expect_order<placement::on_chip, 32>(3, test::sized(20'000u, 10'000'000u), 1, 2, 1);
}
TEST(order, is_that_of_a_loop_in_large_blocks) {
  std::uint32_t const n = test::sized(3000u, 10'000'000u);
  expect_order<placement::on_chip, 512>(test::sized(500u, 100'000u), n, 20, 0, 0);
}

TEST(order, holds_over_several_runs_and_replays) {
  ordering::bench<placement::on_chip, 32> o{10, 400};
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    o.send(o.log().ref(), 0, 200, 2, s);
    o.send(o.log().ref(), 200, 400, 3, s);
    o.log().run(s);
  });
  for (int i = 0; i < 3; ++i) {
    captured.launch(s);
    o.expect_next(0, 400);
    o.send(o.log().ref(), 400, 500, 1, s);
    o.log().run(s);
    o.expect_next(400, 500);
  }
  o.on().wait(s);
  o.check();
}

/// A policy whose `apply_async` goes in pieces of 64 sections.
using in_pieces =
    warden::with_values<ordering::in_order<placement::on_chip>, &warden::tuning::apply_bytes, 512>;
TEST(order, of_apply_async_is_that_of_the_arrays) {
  constexpr std::uint32_t keys = 7;
  std::uint32_t const n = test::sized(1000u, 100'000u);
  warden::buffer<traced> records{keys};
  records.fill_bytes(0);
  warden::basic_guarded<in_pieces, traced, append> on{records};
  std::vector<std::uint32_t> ids;
  std::vector<append> sections;
  std::vector<traced> expected(keys);
  for (std::uint32_t i = 0; i < n; ++i) {
    ids.push_back(ordering::id_of(i, keys));
    sections.push_back({i});
    sections.back()(expected[ids.back()]);
  }
  warden::buffer<std::uint32_t> const device_ids{ids};
  warden::buffer<append> const device_sections{sections};
  constexpr std::uint32_t piece = 64;
  on.apply_async(device_ids.data(), device_sections.data(), piece);
  std::size_t const memory_bytes = on.memory_bytes();
  on.apply_async(device_ids.data() + piece, device_sections.data() + piece, n - piece);
  on.wait();
  auto const found = records.to_host();
  for (std::uint32_t k = 0; k < keys; ++k) {
    EXPECT_EQ(found[k].count, expected[k].count) << "lost or doubled section on record " << k;
    EXPECT_EQ(found[k].trace, expected[k].trace) << "wrong order on record " << k;
  }
  EXPECT_EQ(on.memory_bytes(), memory_bytes) << "the log grew beyond a piece, or was made anew";
}

TEST(order, of_two_launches_with_one_ref_is_reported) {
  ordering::bench<placement::on_chip, 32> o{10, 400};
  auto const ref = o.log().ref();
  o.send(ref, 0, 100, 2);
  o.send(ref, 100, 200, 2);
  o.log().run();
  EXPECT_THAT(error_text(o.on()), HasSubstr("2 batches came from blocks of one number"));
  // All have run, and the next run is in order again.
  o.send(o.log().ref(), 200, 300, 2);
  o.log().run();
  EXPECT_EQ(error_text(o.on()), "");
}

TEST(order, batches_beyond_what_the_log_has_room_for_are_refused_and_reported) {
  ordering::bench<placement::on_chip, 32> o{10, 1000, {.batches = 4}};
  // A batch each, none of which straddles the end: five and one more have room.
  o.send(o.log().ref(), 0, 320, 1);
  o.log().run();
  EXPECT_THAT(error_text(o.on()), HasSubstr("its blocks flushed more than 5 batches"));
}

TEST(order, choices_that_cannot_be_are_refused) {
  warden::buffer<traced> records{10};
  traces<placement::on_chip> on{records};
  EXPECT_THAT(refusal([&] {
                warden::deferred{on, 10, {.partitions = 24}};
              }),
              HasSubstr("24 partitions; a log has a power of two, at most 512"));
  EXPECT_THAT(refusal([&] {
                warden::deferred{on, 10, {.partitions = 1024}};
              }),
              HasSubstr("1024 partitions"));
  EXPECT_THAT(
      refusal([&] {
        warden::deferred{on, 10, {.split = 1024}};
      }),
      HasSubstr("1024 parts of a partition that is split; there are a power of two, at most "
                "512"));
  traces<placement::on_chip> large{test::no_records<traced>(), 1u << 20};
  EXPECT_THAT(refusal([&] {
                warden::deferred{large, 10, {.partitions = 2, .split = 1}};
              }),
              HasSubstr("1048576 records of 16 bytes in 2 partitions do not fit the chip"));
}

}  // namespace
