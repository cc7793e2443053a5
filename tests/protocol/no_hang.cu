// SPDX-License-Identifier: Apache-2.0
// Every wait ends: launches without progress are poisoned within their time limit, and report the
// reason.

#include "tests/support/support.cuh"

#include <chrono>
#include <optional>
#include <type_traits>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;
constexpr double limit_seconds = 1;

/// Runs `action`, which must end in a timeout_error within the limit and a second.
template <class Action>
warden::diagnosis dump_of(Action action) {
  auto const start = std::chrono::steady_clock::now();
  std::optional<warden::diagnosis> dump;
  try {
    action();
  } catch (warden::timeout_error const& e) {
    dump = e.dump();
    EXPECT_NE(std::string{e.what()}.find("no progress for 1 s"), std::string::npos) << e.what();
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), limit_seconds + 1);
  EXPECT_TRUE(dump.has_value()) << "no timeout_error";
  return dump.value_or(warden::diagnosis{});
}

warden::guarded_options options(unsigned servers, unsigned capacity) {
  warden::guarded_options o;
  o.servers = servers;
  o.capacity = capacity;
  o.time_limit_seconds = limit_seconds;
  o.minimum_polls = 64;
  return o;
}

/// One thread takes three slots of channel 1 and never fills the second.
struct reserve_and_forget {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    if (at.global_rank() != 0) return;
    auto const channel = ref.channel_of(1);
    std::uint64_t const first = channel.reserve(3);
    channel.publish(first, small::ref::format::pack(0, record_in<2>::of(1)));
    channel.publish(first + 2, small::ref::format::pack(0, record_in<2>::of(1)));
  }
};

TEST(no_hang, a_client_reserves_and_never_publishes) {
  test::guarded_records<small> g{10, options(2, 64)};
  auto const d = dump_of([&] {
    warden::launch_fused(reserve_and_forget{}, 3, 64, {}, g.guarded);
    g.guarded.wait();
  });
  EXPECT_EQ(d.wait.kind, warden::wait_kind::message);
  ASSERT_EQ(d.channels.size(), 2u);
  // The second server has nothing to do and leaves; the first missing slot is the one forgotten.
  auto const& c = d.channels[1];
  EXPECT_TRUE(c.started);
  EXPECT_EQ(c.reserved, 64u + 3);
  EXPECT_EQ(c.published, 64u + 1);
  // By slices later messages were executed, but no slot of the slice was given back; by windows
  // both are counted up to the gap.
  bool const slices = !std::is_same_v<test::small_policy, test::sorted>;
  EXPECT_EQ(c.executed, slices ? 64u + 2 : 64u + 1);
  EXPECT_EQ(c.released, slices ? 64u : 64u + 1);
  EXPECT_EQ(d.channels[0].reserved, d.channels[0].released);
  EXPECT_EQ(d.client_blocks_done, d.client_blocks);
  // Usable again.
  g.records.fill_bytes(0);
  warden::launch_fused(test::send_by_block<2>{500, 10}, 3, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(500, 10));
}

enum class by { block, thread };

/// Tells the servers that all clients are done, waits until they have left, then sends.
struct send_after_servers_left {
  by how;
  std::uint32_t* left;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    test::send_servers_home(at, ref);
    small::block_client client{ref, at};
    small::thread_client const thread{ref, at};
    bool alive = true;
    for (std::uint32_t i = 0; alive && i < 40; ++i) {
      if (how == by::block) alive = client.send(0, record_in<2>::of(i));
      if (how == by::thread) alive = thread.send(0, record_in<2>::of(i));
    }
    bool const flushed = client.flush();
    if (!alive && !(how == by::block && flushed)) warden::simt::fetch_add(left, 1u);
  }
};

TEST(no_hang, a_server_leaves_early) {
  for (by const how : {by::block, by::thread}) {
    test::guarded_records<small> g{10, options(1, 32)};
    warden::buffer<std::uint32_t> left{1};
    left.fill_bytes(0);
    auto const d = dump_of([&] {
      warden::launch_fused(send_after_servers_left{how, left.data()}, 1, 64, {}, g.guarded);
      g.guarded.wait();
    });
    EXPECT_EQ(d.wait.kind, warden::wait_kind::credit);
    EXPECT_EQ(d.wait.channel, 0u);
    ASSERT_EQ(d.channels.size(), 1u);
    EXPECT_TRUE(d.channels[0].started);
    EXPECT_EQ(d.channels[0].published, 32u + 32) << "a channel full of messages";
    EXPECT_EQ(d.channels[0].released, 32u);
    EXPECT_EQ(d.channels[0].executed, 32u);
    EXPECT_GT(d.channels[0].reserved, 32u + 32);
    EXPECT_EQ(left.to_host()[0], 64u) << "send must say false once poisoned";
  }
}

/// A kernel of clients only: its channels have no servers.
struct clients_only {
  small::ref ref;
};
WARDEN_KERNEL void run_clients_only(clients_only a) {
  warden::virtual_block const at{0, 1, 0, &a.ref.launch, nullptr, 0, 0};
  small::thread_client const client{a.ref, at};
  for (std::uint32_t i = 0; i < 40; ++i) {
    if (!client.send(4, record_in<2>::of(i))) return;
  }
}

TEST(no_hang, no_server_starts) {
  test::guarded_records<small> g{10, options(2, 32)};
  auto const d = dump_of([&] {
    using warden::detail::guarded_access;
    auto& fused = guarded_access::fused(g.guarded);
    auto const state = fused.own();
    warden::detail::launch_ref launch{};
    launch.control = guarded_access::shared(g.guarded)->control->data();
    launch.limit = guarded_access::limit(g.guarded);
    clients_only a{fused.begin({&state, 1}, {}, 0, launch)};
    a.ref.launch = launch;
    warden::simt::launch(&run_clients_only, 1, 32, 0, a, {});
    g.guarded.wait();
  });
  EXPECT_EQ(d.wait.kind, warden::wait_kind::credit);
  EXPECT_EQ(d.wait.channel, 0u);
  ASSERT_EQ(d.channels.size(), 2u);
  EXPECT_FALSE(d.channels[0].started);
  EXPECT_FALSE(d.channels[1].started);
  EXPECT_EQ(d.channels[0].reserved, 32u + 64)
      << "32 fitted, and each of 32 threads waits with one more on top of that";
  EXPECT_EQ(d.channels[0].published, 32u + 32);
  EXPECT_NE(to_string(d).find("server 0 (never started): reserved 96, published 64"),
            std::string::npos)
      << to_string(d);
}

std::uint64_t count_of(std::vector<test::tally> const& records) {
  std::uint64_t count = 0;
  for (test::tally const& t : records) count += t.count;
  return count;
}

TEST(no_hang, an_unreported_failure_is_not_lost) {
  test::guarded_records<small> g{10, options(2, 64)};
  warden::launch_fused(reserve_and_forget{}, 3, 64, {}, g.guarded);
  // Launched onto a poisoned guarded: nothing runs, and the error is still there.
  warden::launch_fused(test::send_by_block<2>{500, 10}, 5, 64, {}, g.guarded);
  warden::launch_fused(test::send_by_block<2>{500, 10}, 5, 64, {}, g.guarded);
  auto const d = dump_of([&] { g.guarded.wait(); });
  // It tells of the launch that failed, not of the later ones.
  EXPECT_EQ(d.client_blocks, 3u);
  EXPECT_EQ(d.client_blocks_done, 3u);
  ASSERT_EQ(d.channels.size(), 2u);
  EXPECT_TRUE(d.channels[0].started);
  EXPECT_TRUE(d.channels[1].started);
  EXPECT_EQ(d.channels[1].published, 64u + 1);
  EXPECT_EQ(count_of(g.records.to_host()), 2u) << "only the first launch's two messages may run";
  g.guarded.wait();
}

struct one_each {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& a,
                             small::ref const& b) const {
    small::thread_client{a, at}.send(at.thread_rank() % 10, record_in<2>::of(1));
    small::thread_client{b, at}.send(at.thread_rank() % 10, record_in<2>::of(1));
  }
};
struct forget_in_second {
  __device__ void operator()(warden::virtual_block const& at, small::ref const&,
                             small::ref const& b) const {
    reserve_and_forget{}(at, b);
  }
};

/// A guarded array's launches with others keep their health in different places.
TEST(no_hang, nothing_runs_after_a_failure_with_other_guarded_arrays) {
  for (bool const failing_comes_first : {true, false}) {
    test::guarded_records<small> g{10, options(2, 64)};
    test::guarded_records<small> h{10, options(1, 64)};
    if (failing_comes_first) {
      warden::launch_fused(reserve_and_forget{}, 3, 64, {}, g.guarded);
      warden::launch_fused(one_each{}, 1, 64, {}, h.guarded, g.guarded);
    } else {
      warden::launch_fused(forget_in_second{}, 3, 64, {}, h.guarded, g.guarded);
      warden::launch_fused(test::send_by_block<2>{500, 10}, 3, 64, {}, g.guarded);
    }
    auto const of_g = dump_of([&] { g.guarded.wait(); });
    EXPECT_EQ(of_g.wait.kind, warden::wait_kind::message);
    try {
      h.guarded.wait();
      ADD_FAILURE() << "no timeout_error";
    } catch (warden::timeout_error const& e) {
      if (failing_comes_first) {
        EXPECT_EQ(e.dump().wait.kind, warden::wait_kind::earlier);
        EXPECT_NE(std::string{e.what()}.find("a launch did not run"), std::string::npos);
      }
    }
    EXPECT_LE(count_of(g.records.to_host()), 2u) << "what was sent before the failure";
    EXPECT_EQ(count_of(h.records.to_host()), 0u);
    // Usable again, together and alone.
    g.records.fill_bytes(0);
    warden::launch_fused(one_each{}, 1, 64, {}, h.guarded, g.guarded);
    warden::launch_fused(one_each{}, 1, 64, {}, g.guarded, h.guarded);
    g.guarded.wait();
    h.guarded.wait();
    EXPECT_EQ(count_of(g.records.to_host()), 128u);
    EXPECT_EQ(count_of(h.records.to_host()), 128u);
  }
}

TEST(no_hang, a_dump_outlives_the_other_guarded) {
  test::guarded_records<small> g{10, options(2, 64)};
  {
    test::guarded_records<small> h{10, options(1, 64)};
    warden::launch_fused(forget_in_second{}, 3, 64, {}, h.guarded, g.guarded);
    warden::stream_ref{}.synchronize();
  }
  auto const d = dump_of([&] { g.guarded.wait(); });
  EXPECT_EQ(d.channels.size(), 3u);
}

}  // namespace
