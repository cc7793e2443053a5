// SPDX-License-Identifier: Apache-2.0
// The benchmark of deferred sections: its verification accepts sections that ran once each on their
// records, and nothing else; its rows have the right contents.

#include "microbench/deferred/lone_lanes.cuh"
#include "microbench/deferred/points.hpp"
#include "microbench/deferred/samples.cuh"
#include "microbench/deferred/sections.cuh"
#include "tests/support/support.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace deferred_bench;

std::vector<std::uint32_t> some_ids(std::uint32_t n, std::uint32_t keys) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = static_cast<std::uint32_t>(test::mix(i) % keys);
  return ids;
}

/// The section of operation i, but of another one at `wrong`.
template <class Section, std::uint32_t Wrong>
struct make_one_wrong {
  __device__ Section operator()(std::uint32_t i) const { return Section::of(i == Wrong ? 1 : i); }
};

template <class Section>
class deferred_sections : public testing::Test {
 protected:
  static constexpr std::uint32_t n = 300, keys = 50;
  using ref = typename table<Section>::deferred_ref;

  /// Sends and runs them, once or twice; whether the oracle expects `times` of `expected` many.
  template <template <class, class> class Sender, class Make = make<Section>>
  bool verified(std::uint32_t sent, unsigned runs, std::uint32_t expected, unsigned times,
                std::uint32_t other_id = keys) {
    auto ids = some_ids(n, keys);
    warden::buffer<std::uint32_t> const told{ids};
    if (other_id != keys) ids[7] = other_id;
    warden::buffer<std::uint32_t> const used{ids};
    warden::buffer<record> records{keys};
    records.fill_bytes(0);
    table<Section> on{records};
    deferred_log<Section> later{on, n};
    Sender<ref, Make> const sender{};
    for (unsigned run = 0; run < runs; ++run) {
      sender.send_async({later.ref(), used.data(), sent});
      later.run();
    }
    on.wait();
    return oracle{keys}.template holds<Section>(records, told.data(), expected, times);
  }
};
using section_types = testing::Types<count_one, add_value>;
TYPED_TEST_SUITE(deferred_sections, section_types);

TYPED_TEST(deferred_sections, that_ran_once_are_verified) {
  using self = deferred_sections<TypeParam>;
  for (std::uint32_t const sent : {33u, self::n}) {
    EXPECT_TRUE((this->template verified<bench::block_sender>(sent, 1, sent, 1))) << sent;
    EXPECT_TRUE((this->template verified<bench::thread_sender>(sent, 1, sent, 1))) << sent;
    EXPECT_TRUE((this->template verified<lone_lane_sender>(sent, 1, sent, 1))) << sent;
  }
  EXPECT_TRUE((this->template verified<lone_lane_sender>(self::n, 2, self::n, 2)));
}

TYPED_TEST(deferred_sections, take_their_messages_of_memory_and_a_twentieth_more) {
  std::size_t const n = std::size_t{1} << 26, messages = n * TypeParam::message_bytes;
  warden::buffer<record> records{1};
  table<TypeParam> on{records};
  warden::deferred_options chosen{};
  chosen.partitions = 256;
  deferred_log<TypeParam> const later{on, n, chosen};
  EXPECT_LE(later.memory_bytes(), messages + messages / 20 + (std::size_t{2} << 20));
}

TYPED_TEST(deferred_sections, that_were_lost_doubled_or_on_another_record_are_not) {
  constexpr std::uint32_t n = deferred_sections<TypeParam>::n;
  EXPECT_FALSE((this->template verified<bench::thread_sender>(n - 1, 1, n, 1))) << "lost";
  EXPECT_FALSE((this->template verified<bench::thread_sender>(n, 1, n - 1, 1))) << "one too many";
  EXPECT_FALSE((this->template verified<bench::thread_sender>(n, 2, n, 1))) << "doubled";
  EXPECT_FALSE((this->template verified<bench::thread_sender>(n, 1, n, 2))) << "not repeated";
  std::uint32_t const other = (some_ids(n, 50)[7] + 1) % 50;
  EXPECT_FALSE((this->template verified<bench::thread_sender>(n, 1, n, 1, other))) << "elsewhere";
}

TEST(deferred_bench, one_lost_and_another_doubled_is_not_verified) {
  using ref = table<add_value>::deferred_ref;
  // On one record, so that the numbers are right.
  warden::buffer<std::uint32_t> ids{10};
  ids.fill_bytes(0);
  warden::buffer<record> records{1};
  records.fill_bytes(0);
  table<add_value> on{records};
  deferred_log<add_value> later{on, 10};
  bench::thread_sender<ref, make_one_wrong<add_value, 3>> const sender{};
  sender.send_async({later.ref(), ids.data(), 10});
  later.run();
  on.wait();
  EXPECT_EQ(records.to_host()[0].count, 10u);
  EXPECT_FALSE(oracle{1}.holds<add_value>(records, ids.data(), 10));
}

TEST(deferred_bench, messages_are_as_large_as_rows_say) {
  static_assert(sizeof(table<count_one>::deferred_ref::message_type) == count_one::message_bytes);
  static_assert(sizeof(table<add_value>::deferred_ref::message_type) == add_value::message_bytes);
}

/// Sends `sent` samples by operation, one of them on `other_id`; whether the oracle expects n.
template <class Section>
bool verified_samples(std::uint32_t sent, std::uint32_t n, std::uint32_t other_id) {
  constexpr std::uint32_t keys = 50, most = 300;
  auto ids = some_ids(most, keys);
  warden::buffer<std::uint32_t> const told{ids};
  if (other_id != keys) ids[7] = other_id;
  warden::buffer<std::uint32_t> const used{ids};
  warden::buffer<summary> records{keys};
  records.fill_bytes(0);
  sampled<Section> on{records};
  sample_log<Section> later{on, most};
  using ref = typename sampled<Section>::deferred_ref;
  bench::block_sender<ref, make<Section>> const sender{};
  sender.send_async({later.ref(), used.data(), sent});
  later.run();
  on.wait();
  return sample_oracle{keys}.holds(records, told.data(), n);
}

TEST(deferred_bench, samples_that_were_added_once_are_verified_and_no_others) {
  constexpr std::uint32_t n = 300, keys = 50;
  EXPECT_TRUE(verified_samples<single_sample>(n, n, keys));
  EXPECT_TRUE(verified_samples<samples>(n, n, keys));
  EXPECT_TRUE(verified_samples<sample>(n, n, keys));
  EXPECT_FALSE(verified_samples<sample>(n - 1, n, keys)) << "lost";
  EXPECT_FALSE(verified_samples<sample>(n, n - 1, keys)) << "one too many";
  std::uint32_t const other = (some_ids(n, keys)[7] + 1) % keys;
  EXPECT_FALSE(verified_samples<sample>(n, n, other)) << "elsewhere";
}

TEST(deferred_bench, samples_are_as_wide_as_arms_say) {
  static_assert(sizeof(sampled<single_sample>::deferred_ref::message_type) == 8);
  static_assert(sizeof(sampled<sample>::deferred_ref::message_type) == 8);
  static_assert(sizeof(sampled<samples>::deferred_ref::message_type) == 24);
}

TEST(deferred_bench, rows_of_every_point) {
  bench::sweep const all{senders, 300, 1};
  auto const measured = [&](bench::point& p, std::string const& arm) {
    EXPECT_TRUE(p.has(arm));
    auto const& row = p.measure(arm, all);
    EXPECT_TRUE(row.verified) << p.name(arm);
    return row;
  };
  for (unsigned const bytes : sizes) {
    auto const send = make_send_point(bytes, 1000), memory = make_memory_point(bytes, 1000);
    EXPECT_EQ(send->name("thread"), "send/thread/bytes:" + std::to_string(bytes));
    for (std::string const& arm : senders) {
      auto row = measured(*send, arm);
      if (test::simulated()) {
        EXPECT_EQ(row.counters["messages"], 1) << arm;
        EXPECT_EQ(row.counters.count("sectors"), 0u) << arm;
      } else {
        EXPECT_GT(row.counters["registers"], 0) << arm;
        EXPECT_EQ(row.counters["local_bytes"], 0) << arm;
        EXPECT_GE(row.counters["multiprocessor_threads"], row.counters["block_threads"]) << arm;
      }
    }
    EXPECT_FALSE(memory->has("thread"));
    auto row = measured(*memory, "block");
    EXPECT_EQ(memory->name("block"), "memory/block/bytes:" + std::to_string(bytes));
    EXPECT_GE(row.counters["memory_bytes"], 300. * bytes);
  }
  for (bool const uniform : {true, false}) {
    auto const point = make_sample_point(uniform, 100);
    EXPECT_FALSE(point->has("block"));
    EXPECT_EQ(point->name("uncombined"),
              std::string{"samples/"} + (uniform ? "uniform" : "zipf099") + "/uncombined/keys:100");
    bench::sweep const samples_of{sample_arms, 300, 1};
    for (std::string const& arm : sample_arms) {
      auto row = point->measure(arm, samples_of);
      EXPECT_TRUE(point->has(arm) && row.verified) << arm;
      EXPECT_EQ(row.counters.count("sectors"), 0u) << arm;
    }
  }
  for (bool const on_chip : {false, true}) {
    auto const small = make_small_point(on_chip, 100);
    EXPECT_FALSE(small->has("lone_lanes"));
    EXPECT_EQ(small->name("block"),
              std::string{"small/block/"} + (on_chip ? "on_chip" : "in_memory") + "/keys:100");
    for (std::string const arm : {"block", "thread"}) {
      auto row = measured(*small, arm);
      EXPECT_EQ(row.counters["sections"], 300);
      EXPECT_EQ(row.counters["median_us"] > 0, !test::simulated());
      EXPECT_EQ(row.counters["back_to_back_us"] > 0, !test::simulated());
    }
  }
}

}  // namespace
