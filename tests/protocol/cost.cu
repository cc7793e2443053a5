// SPDX-License-Identifier: Apache-2.0
// Costs that are promised not to be there, as the simulated device counts them.

#include "tests/support/support.cuh"

#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <utility>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

struct send_to_two {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& a,
                             small::ref const& b) const {
    test::send_by_block<2>{50, 10}(at, a);
    test::send_by_block<2>{50, 10}(at, b);
  }
};

class cost : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }
};

TEST_F(cost, launches_allocate_nothing) {
  test::guarded_records<small> g{10, {.servers = 2, .capacity = 32}};
  test::guarded_records<small> h{10, {.servers = 1, .capacity = 32}};
  warden::buffer<std::uint32_t> const ids{std::vector<std::uint32_t>(100, 3)};
  warden::buffer<record_in<2>> const sections{std::vector<record_in<2>>(100, record_in<2>::of(1))};
  g.guarded.reserve(100);
  warden::prepare_fused(g.guarded, h.guarded);
  warden::sim::settings s;
  s.global_bytes = 1;  // less than is in use already
  warden::sim::configure(s);
  EXPECT_THROW(warden::buffer<char>{1}, warden::cuda_error);
  for (int i = 0; i < 2; ++i) {
    warden::launch_fused(test::send_by_block<2>{500, 10}, 3, 64, {}, g.guarded);
    g.guarded.apply_async(ids.data(), sections.data(), 100);
    g.guarded.wait();
    warden::launch_fused(test::send_by_block<2>{500, 10}, 3, 64, {}, h.guarded);
    h.guarded.wait();
  }
  EXPECT_EQ(g.records.to_host()[3].count, 2 * (test::expected<2>(500, 10)[3].count + 100));
}

TEST_F(cost, launches_only_enqueue_and_only_in_their_stream) {
  test::guarded_records<small> g{10, {.servers = 2, .capacity = 32}};
  test::guarded_records<small> h{10, {.servers = 1, .capacity = 32}};
  warden::buffer<std::uint32_t> const ids{std::vector<std::uint32_t>(100, 3)};
  warden::buffer<record_in<2>> const sections{std::vector<record_in<2>>(100, record_in<2>::of(1))};
  warden::stream const s;
  g.guarded.reserve(100);
  h.guarded.reserve(100);
  warden::prepare_fused(g.guarded);
  warden::sim::configure({});
  for (int i = 0; i < 3; ++i) {
    warden::launch_fused(test::send_by_block<2>{500, 10}, 3, 64, s, g.guarded);
    g.guarded.apply_async(ids.data(), sections.data(), 100, s);
    h.guarded.apply_async(ids.data(), sections.data(), 100, s);
  }
  auto calls = warden::sim::calls_since_configure();
  EXPECT_EQ(calls.synchronizations, 0u);
  EXPECT_EQ(calls.in_default_stream, 0u);
  EXPECT_EQ(calls.in_other_streams, 3u * (4 + 4 + 4))
      << "a fill and a kernel between two marks; a kernel that fills the log and three that run it";
  g.guarded.wait(s);
  h.guarded.wait(s);
  calls = warden::sim::calls_since_configure();
  EXPECT_GT(calls.synchronizations, 0u);
  EXPECT_EQ(calls.in_default_stream, 0u);
}

TEST_F(cost, of_waiting_does_not_grow_with_what_was_captured) {
  test::guarded_records<small> g{10, {.servers = 2, .capacity = 32}};
  test::guarded_records<small> h{10, {.servers = 1, .capacity = 32}};
  warden::prepare_fused(g.guarded, h.guarded);
  warden::stream const s;
  auto const capture = [&] {
    return warden::graph::capture(
        s, [&] { warden::launch_fused(send_to_two{}, 3, 64, s, g.guarded, h.guarded); });
  };
  auto const calls_of_a_wait = [&] {
    warden::sim::configure({});
    g.guarded.wait(s);
    auto const calls = warden::sim::calls_since_configure();
    return std::pair{calls.synchronizations, calls.in_other_streams};
  };
  auto const before = calls_of_a_wait();
  for (int i = 0; i < 100; ++i) {
    capture().launch(s);
    ASSERT_EQ(calls_of_a_wait(), before);
  }
}

/// One warp a block, so that one message means one batch at either end.
using warp_policy = warden::with_values<test::small_policy, &warden::options::block_threads, 32>;
struct asks : record_in<2> {
  static constexpr bool reads_other_memory = true;
};
template <class Section>
struct send_one {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    client.send(0, Section{}, at.thread_rank() == 0);
    client.flush();
  }
};
template <class Section>
std::uint64_t fences_of() {
  test::guarded_records<warden::basic_guarded<warp_policy, test::tally, Section>> g{1,
                                                                                    {.servers = 1}};
  warden::launch_fused(send_one<Section>{}, 1, 32, {}, g.guarded);
  std::uint64_t const fences = warden::sim::last_report().counts.fences;
  g.guarded.wait();
  return fences;
}

TEST_F(cost, sections_that_read_no_other_memory_pay_for_no_fence) {
  constexpr std::uint64_t seeds = 40;
  std::uint64_t without = 0, with = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    warden::sim::configure(s);
    without += fences_of<record_in<2>>();
    warden::sim::configure(s);
    with += fences_of<asks>();
  }
  // 32 threads that publish and one that receives; the search for the end of work varies a little.
  EXPECT_GE(with, without + seeds * 31);
  EXPECT_LE(with, without + seeds * 37);
}

}  // namespace
