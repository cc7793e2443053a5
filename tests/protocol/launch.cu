// SPDX-License-Identifier: Apache-2.0
// The launch: virtual blocks, roles on every multiprocessor, statistics, moves, streams.

#include "tests/support/support.cuh"

#include <set>

namespace {

using test::record_in;
using counting_policy = warden::with_values<test::small_policy, &warden::options::statistics, true>;
using counting = warden::basic_guarded<counting_policy, test::tally, record_in<2>>;

TEST(launch, statistics_count_messages_and_batches) {
  std::uint64_t const n = test::sized<std::uint64_t>(2000, 200'000);
  test::guarded_records<counting> g{1, {.servers = 2, .capacity = 32}};
  warden::launch_fused(test::send_by_block<2>{n, 1}, 4, 64, {}, g.guarded);
  g.guarded.wait();
  auto const s = g.guarded.statistics();
  EXPECT_EQ(s.messages, n);
  EXPECT_GE(s.batches, n / (64 * 9));
  EXPECT_LE(s.batches, n);
  EXPECT_GT(s.waits, 0u) << "a channel of 32 slots must fill up";
  EXPECT_GT(s.fullest_channel, 0u);
  EXPECT_LE(s.fullest_channel, 32u);
}

TEST(launch, statistics_outlive_an_error) {
  test::guarded_records<counting> g{1, {.servers = 1}};
  warden::launch_fused(test::send_by_block<2>{300, 1}, 2, 64, {}, g.guarded);
  g.guarded.wait();
  warden::launch_fused(test::send_by_block<2>{10, 2}, 1, 64, {}, g.guarded);
  EXPECT_THROW(g.guarded.wait(), warden::limit_error);
  auto const messages = g.guarded.statistics().messages;
  EXPECT_GE(messages, 300u);
  EXPECT_LT(messages, 310u);
}

using counting_locks_policy = warden::with_values<test::locks, &warden::options::statistics, true>;

TEST(launch, statistics_count_retries) {
  std::uint64_t const n = test::sized<std::uint64_t>(2000, 200'000);
  test::guarded_records<warden::basic_guarded<counting_locks_policy, test::tally, record_in<2>>> g{
      1, {.servers = 1, .capacity = 256}};
  warden::launch_fused(test::send_by_block<2>{n, 1}, 4, 64, {}, g.guarded);
  g.guarded.wait();
  EXPECT_GT(g.guarded.statistics().retries, 0u)
      << "two warps must get into each other's way at the only record";
}

TEST(launch, statistics_of_a_threads_sends) {
  std::uint64_t const n = test::sized<std::uint64_t>(1000, 100'000);
  test::guarded_records<counting> g{5, {.servers = 2, .capacity = 32}};
  for (std::uint64_t launch = 1; launch < 3; ++launch) {
    warden::launch_fused(test::send_by_thread<2>{n, 5}, 4, 64, {}, g.guarded);
    auto const s = g.guarded.statistics();
    EXPECT_EQ(s.messages, launch * n);
    EXPECT_EQ(s.batches, launch * n);
    EXPECT_GT(s.waits, 0u);
    EXPECT_LE(s.waits, launch * n);
  }
  g.guarded.wait();
}

/// Marks where clients run; the section marks where servers run.
struct map {
  std::uint32_t* servers;
};
struct visit {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(test::tally& t, map context) const {
    t.count += 1;
    warden::simt::store_relaxed(&context.servers[warden::simt::sm_id()], 1);
  }
};
using map_policy = warden::with_parts<test::small_policy, warden::context<map>>;
using mapped = warden::basic_guarded<map_policy, test::tally, visit>;
struct visit_all {
  std::uint32_t* clients;
  std::uint32_t servers;
  __device__ void operator()(warden::virtual_block const& at, mapped::ref const& ref) const {
    mapped::block_client client{ref, at};
    if (at.thread_rank() == 0) warden::simt::store_relaxed(&clients[warden::simt::sm_id()], 1);
    for (std::uint32_t first = 0; first < servers; first += at.block_dim()) {
      std::uint32_t const k = first + at.thread_rank();
      client.send(k, visit{}, k < servers);
    }
    client.flush();
    // Long enough that one block cannot run all virtual blocks before the others begin.
    for (unsigned i = 0; i < 200; ++i) warden::simt::back_off(10);
  }
};

TEST(launch, every_multiprocessor_hosts_a_server_and_a_client) {
  auto const facts = warden::runtime::facts(0);
  auto const sms = static_cast<std::uint32_t>(facts.multiprocessors);
  warden::buffer<std::uint32_t> servers{1024}, clients{1024};
  warden::buffer<test::tally> records{sms};
  records.fill_bytes(0);
  mapped g{records, map{servers.data()}, {.servers = sms}};
  for (int launch = 0; launch < 3; ++launch) {
    SCOPED_TRACE(testing::Message() << "launch " << launch);
    servers.fill_bytes(0);
    clients.fill_bytes(0);
    warden::launch_fused(visit_all{clients.data(), sms}, test::sized(200u, 20'000u), 64, {}, g);
    g.wait();
    auto const s = servers.to_host();
    auto const c = clients.to_host();
    for (std::uint32_t m = 0; m < sms; ++m) {
      EXPECT_EQ(s[m], 1u) << "no server on multiprocessor " << m;
      EXPECT_EQ(c[m], 1u) << "no client on multiprocessor " << m;
    }
  }
}

struct mark_blocks {
  std::uint32_t* visits;
  __device__ void operator()(warden::virtual_block const& at, counting::ref const&) const {
    if (at.thread_rank() == 0) warden::simt::fetch_add(&visits[at.block_index()], 1u);
    if (at.grid_dim() != 300) warden::simt::fetch_add(&visits[0], 100u);
  }
};

TEST(launch, every_virtual_block_runs_once) {
  test::guarded_records<counting> g{1, {.servers = 2}};
  warden::buffer<std::uint32_t> visits{300};
  visits.fill_bytes(0);
  warden::launch_fused(mark_blocks{visits.data()}, 300, 64, {}, g.guarded);
  g.guarded.wait();
  EXPECT_EQ(visits.to_host(), std::vector<std::uint32_t>(300, 1));
}

TEST(launch, guarded_arrays_move) {
  test::guarded_records<counting> g{10, {.servers = 2}};
  warden::launch_fused(test::send_by_block<2>{100, 10}, 2, 64, {}, g.guarded);
  counting moved = std::move(g.guarded);
  moved.wait();
  warden::launch_fused(test::send_by_block<2>{100, 10}, 2, 64, {}, moved);
  moved.wait();
  auto wanted = test::expected<2>(100, 10);
  for (auto& t : wanted) t = {2 * t.count, 2 * t.sum, 2 * t.mixed};
  test::expect_equal(g.records.to_host(), wanted);
  EXPECT_EQ(moved.statistics().messages, 200u);
  // An error that no wait has reported moves along.
  warden::launch_fused(test::send_by_block<2>{100, 11}, 2, 64, {}, moved);
  counting again = std::move(moved);
  EXPECT_THROW(again.wait(), warden::limit_error);
  g.guarded = std::move(again);
  g.guarded.wait();
  EXPECT_EQ(g.guarded.size(), 10u);
  static_assert(!std::is_copy_constructible_v<counting>);
}

struct busy {
  unsigned rounds;
};
WARDEN_KERNEL void be_busy(busy b) {
  for (unsigned i = 0; i < b.rounds; ++i) warden::simt::back_off(10);
}

/// A launch does all its work in its own stream, however busy the default stream is.
TEST(launch, waits_for_no_other_stream) {
  warden::stream s;
  auto const n = test::sized<std::uint64_t>(500, 1'000'000);
  for (int i = 0; i < 5; ++i) {
    test::guarded_records<counting> g{10, {.servers = 2}};
    warden::simt::launch(&be_busy, 1, 1, 0, busy{test::sized(10u, 2'000u << i)}, {});
    warden::launch_fused(test::send_by_block<2>{n, 10}, 100, 64, s, g.guarded);
    g.guarded.wait(s);
    test::expect_equal(g.records.to_host(s), test::expected<2>(n, 10));
  }
  warden::stream_ref{}.synchronize();
}

TEST(launch, works_in_a_stream_of_ones_own) {
  warden::stream s;
  test::guarded_records<counting> g{10, {.servers = 2}};
  warden::launch_fused(test::send_by_block<2>{100, 10}, 2, 64, s, g.guarded);
  g.guarded.wait(s);
  test::expect_equal(g.records.to_host(s), test::expected<2>(100, 10));
}

template <int Words>
std::size_t bytes_by_default() {
  return test::guarded_records<warden::guarded<test::tally, record_in<Words>>>{10, {.servers = 132}}
      .guarded.memory_bytes();
}

/// All channels together must fit the half of a large GPU's L2 cache that lies nearer.
TEST(launch, memory_by_default) {
  EXPECT_LE(bytes_by_default<1>(), std::size_t{32} << 20);
  EXPECT_LE(bytes_by_default<5>(), std::size_t{32} << 20);
  EXPECT_LE(bytes_by_default<8>(), std::size_t{32} << 20);
  EXPECT_LE(bytes_by_default<11>(), std::size_t{32} << 20);
}

}  // namespace
