// SPDX-License-Identifier: Apache-2.0
// Deferred sections: each accepted one runs once, by every executor, at every size, also if the log
// is moved, assigned or destroyed.

#include "tests/protocol/deferred.cuh"
#include "tests/support/error_text.hpp"

#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace simt = warden::simt;
using deferring::entry;
using test::error_text;
using test::refusal;
using testing::HasSubstr;
using warden::placement;

template <class Policy>
class deferred_by : public testing::Test {};
using policies =
    testing::Types<deferring::small_blocks<>,
                   deferring::small_blocks<warden::executor::sorted<>, placement::on_chip>,
                   deferring::small_blocks<warden::executor::locks<64>, placement::on_chip>>;
TYPED_TEST_SUITE(deferred_by, policies);

TYPED_TEST(deferred_by, every_section_runs_once) {
  std::uint32_t const most = test::sized(4000u, 400'000u);
  for (std::uint32_t const keys : {1u, 3u, 5000u}) {
    for (std::uint32_t const n : {1u, 31u, 500u, most}) {
      deferring::bench<TypeParam> b{keys};
      warden::deferred later{b.on(), 2 * n};
      b.send_alone(later, 0, n);
      b.send_together(later, n, 2 * n, 3);
      later.run();
      b.on().wait();
      b.expect_ran(0, 2 * n);
      EXPECT_EQ(b.refused(), 0u);
    }
  }
}

TYPED_TEST(deferred_by, every_section_runs_once_where_the_log_is_split) {
  std::uint32_t const most = test::sized(4000u, 400'000u);
  for (unsigned const partitions : {1u, 8u}) {
    for (std::uint32_t const n : {1u, 500u, most}) {
      deferring::bench<TypeParam> b{5000};
      warden::deferred later{b.on(), 2 * n, {.partitions = partitions, .split = 16}};
      for (std::uint32_t first : {0u, 2 * n}) {
        b.send_alone(later, first, first + n);
        b.send_together(later, first + n, first + 2 * n, 3);
        later.run();
      }
      b.on().wait();
      b.expect_ran(0, 4 * n);
    }
  }
}

using by_default = deferring::small_blocks<>;

/// Messages of 8 to 48 bytes.
template <unsigned Words>
void run_of_width() {
  std::uint32_t const n = 1000;
  deferring::bench<by_default, Words> b{77};
  warden::deferred later{b.on(), n};
  b.send_alone(later, 0, n / 2);
  b.send_together(later, n / 2, n, 2);
  later.run();
  b.on().wait();
  b.expect_ran(0, n);
}
TEST(deferred, runs_sections_of_every_width) {
  run_of_width<2>();
  run_of_width<5>();
  run_of_width<7>();
  run_of_width<11>();
}

/// A section that is one atomic.
struct add_atomically {
  std::uint64_t amount;
  __device__ void operator()(std::uint64_t& sum) const { sum += amount; }
  __device__ void atomic(std::uint64_t* sum, warden::no_context) const {
    simt::fetch_add(sum, amount);
  }
};
using sums = warden::basic_guarded<deferring::small_blocks<warden::executor::atomics<>>,
                                   std::uint64_t, add_atomically>;
struct sum_arguments {
  sums::deferred_ref ref;
  std::uint32_t n;
};
WARDEN_KERNEL void send_amounts(sum_arguments a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) a.ref.send(i % 10, add_atomically{i});
}
TEST(deferred, runs_sections_as_atomics) {
  constexpr std::uint32_t n = 1000;
  warden::buffer<std::uint64_t> records{10};
  records.fill_bytes(0);
  sums all{records};
  warden::deferred later{all, n};
  simt::launch(&send_amounts, (n + 31) / 32, 32, 0, {later.ref(), n}, {});
  later.run();
  all.wait();
  std::vector<std::uint64_t> expected(10);
  for (std::uint32_t i = 0; i < n; ++i) expected[i % 10] += i;
  EXPECT_EQ(records.to_host(), expected);
}

TEST(deferred, a_full_log_holds_what_it_was_made_for_and_says_who_was_refused) {
  for (std::uint32_t const capacity : {1u, 40u, 1000u, test::sized(3000u, 300'000u)}) {
    deferring::bench<by_default> b{50};
    warden::deferred later{b.on(), capacity};
    std::uint32_t const n = capacity + 100;
    // The batch that straddles the end is cut; single threads find the places left elsewhere.
    b.send_together(later, 0, n / 2, 2);
    b.send_alone(later, n / 2, 3 * n / 4);
    b.send_together(later, 3 * n / 4, n, 3);
    later.run();
    EXPECT_THAT(error_text(b.on()),
                HasSubstr("100 deferred sections were refused: their log holds " +
                          std::to_string(capacity)));
    EXPECT_EQ(b.refused(), 100u);
    EXPECT_EQ(b.ran(), capacity);
    // Reported once, and empty again.
    b.send_together(later, 0, capacity, 2);
    later.run();
    EXPECT_EQ(error_text(b.on()), "");
    EXPECT_EQ(b.ran(), 2u * capacity);
  }
}

TEST(deferred, ids_outside_the_records_are_counted_and_the_others_run) {
  deferring::bench<by_default> b{50};
  warden::deferred later{b.on(), 100};
  auto ref = later.ref();
  // Half of the ids are none.
  ref.size = 25;
  simt::launch(&deferring::send_alone<decltype(b)::guarded, 1>, 2, 32, 0, {ref, 0, 64, 50, nullptr},
               {});
  later.run();
  std::uint32_t bad = 0;
  for (std::uint32_t i = 0; i < 64; ++i) bad += deferring::id_of(i, 50) >= 25 ? 1 : 0;
  EXPECT_THAT(error_text(b.on()), HasSubstr("(" + std::to_string(bad) + " such ids"));
  EXPECT_EQ(b.ran(), 64 - bad);
}

template <class Guarded>
WARDEN_KERNEL void forget_to_flush(deferring::arguments<Guarded> a) {
  using block = typename Guarded::template deferred_block<32>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  client.send(simt::thread_rank(), deferring::add<1>::of(1), simt::thread_rank() < 20);
}
TEST(deferred, what_was_never_flushed_is_reported) {
  using bench = deferring::bench<by_default>;
  bench b{50};
  warden::deferred later{b.on(), 100};
  using storage = bench::guarded::deferred_block<32>::storage;
  simt::launch(&forget_to_flush<bench::guarded>, 1, 32, sizeof(storage),
               {later.ref(), 0, 0, 50, nullptr}, {});
  later.run();
  EXPECT_THAT(error_text(b.on()), HasSubstr("20 messages were staged but never flushed"));
  EXPECT_EQ(b.ran(), 0u);
}

TEST(deferred, a_run_of_nothing_and_a_second_run_do_nothing) {
  deferring::bench<by_default> b{50};
  warden::deferred later{b.on(), 1000};
  later.run();
  b.on().wait();
  EXPECT_EQ(b.ran(), 0u);
  b.send_alone(later, 0, 300);
  later.run();
  later.run();
  b.on().wait();
  b.expect_ran(0, 300);
}

TEST(deferred, several_logs_of_one_guarded_and_several_streams) {
  deferring::bench<by_default> b{50};
  warden::deferred first{b.on(), 1000}, second{b.on(), 1000};
  warden::stream one, other;
  b.send_alone(first, 0, 300, one);
  b.send_together(first, 300, 600, 2, other);
  b.send_together(second, 600, 900, 2, other);
  warden::event there;
  there.record(other);
  warden::stream_ref{one}.wait_for(there);
  first.run(one);
  second.run(one);
  b.on().wait(one);
  b.expect_ran(0, 900);
}

TEST(deferred, guarded_arrays_and_logs_are_moved_between_sends_and_runs) {
  deferring::bench<by_default> b{50};
  std::optional<warden::deferred<by_default, entry, deferring::add<1>, deferring::tick>> later;
  later.emplace(b.on(), 1000);
  b.send_alone(*later, 0, 300);
  auto moved_guarded = std::move(b.on());
  auto moved = std::move(*later);
  later.reset();
  moved.run();
  moved_guarded.wait();
  b.expect_ran(0, 300);
}

TEST(deferred, a_log_that_is_gone_with_sections_never_run_is_reported) {
  deferring::bench<by_default> b{50};
  {
    warden::deferred ran{b.on(), 1000}, never{b.on(), 1000};
    b.send_alone(ran, 0, 300);
    ran.run();
    b.send_alone(never, 0, 40);
    b.send_together(never, 40, 170, 2);
    // The log that is assigned over is destroyed with the other one.
    warden::deferred other{b.on(), 10};
    b.send_alone(other, 0, 3);
    other = std::move(never);
  }
  EXPECT_THAT(error_text(b.on()), HasSubstr("173 deferred sections were never run"));
  EXPECT_EQ(error_text(b.on()), "");
  b.expect_ran(0, 300);
}

TEST(deferred, kernel_and_run_are_captured_and_replayed) {
  deferring::bench<by_default> b{50};
  warden::deferred later{b.on(), 600};
  warden::stream s;
  auto const captured = warden::graph::capture(s, [&] {
    b.send_alone(later, 0, 300, s);
    b.send_together(later, 300, 600, 2, s);
    later.run(s);
  });
  EXPECT_EQ(b.ran(), 0u) << "captured, not run";
  int const replays = test::sized(10, 100);
  for (int i = 0; i < replays; ++i) captured.launch(s);
  b.on().wait(s);
  EXPECT_EQ(b.ran(), 600u * static_cast<unsigned>(replays));
  // An ordinary run between replays.
  b.send_alone(later, 0, 300, s);
  later.run(s);
  captured.launch(s);
  b.on().wait(s);
  EXPECT_EQ(b.ran(), 600u * static_cast<unsigned>(replays + 1) + 300u);
}

TEST(deferred, a_fused_launch_of_the_guarded_and_a_run_of_its_log_in_one_stream) {
  deferring::bench<deferring::small_blocks<>> b{50};
  warden::deferred later{b.on(), 1000};
  b.send_alone(later, 0, 500);
  warden::launch_fused(deferring::send_fused<decltype(b)::guarded>{}, 1, {}, b.on());
  later.run();
  warden::launch_fused(deferring::send_fused<decltype(b)::guarded>{}, 1, {}, b.on());
  b.on().wait();
  EXPECT_EQ(b.ran(), 564u);
}

TEST(deferred, wait_on_another_stream_waits_for_the_run) {
  deferring::bench<by_default> b{50};
  warden::deferred later{b.on(), 1000};
  warden::stream s;
  b.send_alone(later, 0, 300, s);
  later.run(s);
  b.on().wait();
  b.expect_ran(0, 300);
}

TEST(deferred, a_fused_guarded_defers_as_well) {
  deferring::bench<deferring::small_blocks<>> b{50};
  warden::deferred later{b.on(), 1000};
  b.send_together(later, 0, 500, 2);
  later.run();
  b.on().wait();
  b.expect_ran(0, 500);
}

TEST(deferred, apply_async_on_more_records_than_a_log_can_name_is_refused) {
  // No record is touched, so none has memory.
  deferring::table<deferring::small_blocks<>> on{test::no_records<entry>(), 0xfffffffe};
  warden::buffer<std::uint32_t> const ids{1};
  warden::buffer<deferring::add<1>> const sections{1};
  EXPECT_THAT(
      test::error_of<warden::limit_error>([&] { on.apply_async(ids.data(), sections.data(), 1); }),
      HasSubstr("4294967294 records; the limit with these sections is 2147483648"));
}

template <unsigned Bytes>
struct large {
  unsigned count;
  unsigned char bytes[Bytes - sizeof(unsigned)];
};
struct touch {
  template <unsigned Bytes>
  __device__ void operator()(large<Bytes>& l) const {
    ++l.count;
  }
};
using on_chip = deferring::small_blocks<warden::executor::sorted<>, placement::on_chip>;

/// More than 512 partitions hold.
template <class Guarded>
WARDEN_KERNEL void touch_all(typename Guarded::deferred_ref ref, std::uint32_t n) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < n) ref.send(i % ref.size, touch{});
}
TEST(deferred, records_on_chip_that_are_too_many_for_512_partitions_are_split) {
  using guarded = warden::basic_guarded<on_chip, large<4096>, touch>;
  std::uint32_t const records = 30'000, n = 45'000;
  warden::buffer<large<4096>> memory{records};
  memory.fill_bytes(0);
  guarded all{memory};
  warden::deferred later{all, n};
  warden::launch(touch_all<guarded>, (n + 31) / 32, 32, {}, later.ref(), n);
  later.run();
  all.wait();
  auto const found = memory.to_host();
  for (std::uint32_t k = 0; k < records; ++k)
    ASSERT_EQ(found[k].count, k < n - records ? 2u : 1u) << "record " << k;
  // The messages twice.
  EXPECT_GT(later.memory_bytes(), 2u * n * 8);
}
TEST(deferred, impossible_logs_are_refused) {
  deferring::bench<by_default> b{50};
  EXPECT_THAT(refusal([&] {
                warden::deferred{b.on(), 0};
              }),
              HasSubstr("deferred: a log of 0 sections; the limits are 1 and 1073741824"));
  EXPECT_THAT(refusal([&] {
                warden::deferred{b.on(), (std::size_t{1} << 30) + 1};
              }),
              HasSubstr("deferred: a log of 1073741825 sections"));
  EXPECT_THAT(refusal([&] { warden::deferred{b.on(), 0}; }), HasSubstr("deferred.cu:"));
  constexpr std::uint64_t beyond = (std::uint64_t{1} << 31) + 1;
  deferring::table<by_default> huge{test::no_records<entry>(), beyond};
  EXPECT_THAT(refusal([&] {
                warden::deferred{huge, 10};
              }),
              HasSubstr("2147483649 records; the limit with these sections is 2147483648"));
  using larger = large<(1 << 18)>;
  warden::basic_guarded<on_chip, larger, touch> too_large{test::no_records<larger>(), 600};
  EXPECT_THAT(refusal([&] {
                warden::deferred{too_large, 10};
              }),
              HasSubstr("600 records of 262144 bytes in 1024 partitions do not fit the chip"));
}

}  // namespace
