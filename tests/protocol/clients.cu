// SPDX-License-Identifier: Apache-2.0
// Every client delivers every message exactly once, alone and mixed with the others.

#include "tests/support/support.cuh"

#include <warden/stream.hpp>

#include <cstddef>
#include <new>
#include <string>

namespace {

using test::record_in;
using test::tally;
using small = warden::basic_guarded<test::small_policy, tally, record_in<2>>;

warden::guarded_options with(unsigned servers, unsigned capacity) {
  warden::guarded_options o;
  o.servers = servers;
  o.capacity = capacity;
  return o;
}

TEST(block_client, delivers_exactly_once) {
  std::uint64_t const n = test::sized<std::uint64_t>(3001, 3'000'001);
  test::guarded_records<small> g{100, with(3, 64)};
  warden::launch_fused(test::send_by_block<2>{n, 100}, 9, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(n, 100));
}

TEST(thread_client, delivers_exactly_once) {
  std::uint64_t const n = test::sized<std::uint64_t>(2003, 1'000'003);
  test::guarded_records<small> g{100, with(3, 64)};
  warden::launch_fused(test::send_by_thread<2>{n, 100}, 9, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(n, 100));
}

/// Odd operations are appended by diverging threads, the others sent, between them a barrier or
/// not.
struct send_and_append {
  std::uint64_t n;
  std::uint32_t records;

  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    small::block_client client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const section = record_in<2>::of(static_cast<std::uint32_t>(i));
      if (i < n && i % 2 == 1) client.append(test::id_of(i, records), section);
      client.send(test::id_of(i, records), section, i < n && i % 2 == 0);
    });
    client.flush();
  }
};

TEST(block_client, append_overflows_to_the_thread_path) {
  std::uint64_t const n = test::sized<std::uint64_t>(4001, 1'000'001);
  test::guarded_records<small> g{77, with(2, 32)};
  warden::launch_fused(send_and_append{n, 77}, 5, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(n, 77));
}

/// Virtual blocks that return early, one of them before it makes a client.
struct return_early {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    if (at.block_index() == 0) return;
    small::block_client client{ref, at};
    client.send(0, record_in<2>::of(1), at.thread_rank() == 0);
    client.flush();
    if (at.thread_rank() % 2 == 0) return;
    small::thread_client{ref, at}.send(1, record_in<2>::of(1));
  }
};

TEST(launch, early_return_is_harmless) {
  test::guarded_records<small> g{2, with(1, 32)};
  warden::launch_fused(return_early{}, 11, 64, {}, g.guarded);
  g.guarded.wait();
  auto const records = g.records.to_host();
  EXPECT_EQ(records[0].count, 10u);
  EXPECT_EQ(records[1].count, 320u);
}

/// Functions that make their own clients while their caller has staged, one in another and one
/// after another; the last is still there when the first is gone, and other threads have left.
struct clients_at_once {
  std::uint64_t n;
  std::uint32_t records;

  template <class Ref>
  __device__ void send_by_one_more(warden::virtual_block const& at, Ref const& ref,
                                   std::uint64_t i) const {
    warden::block_client<Ref> client{ref, at};
    auto const section = record_in<2>::of(static_cast<std::uint32_t>(i));
    client.send(test::id_of(i, records), section, i < n && i % 4 == 1);
    if (i < n && i % 4 == 2) client.append(test::id_of(i, records), section);
    client.flush();
  }
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const section = record_in<2>::of(static_cast<std::uint32_t>(i));
      alignas(warden::block_client<Ref>) std::byte room[sizeof(warden::block_client<Ref>)];
      auto* const first = new (room) warden::block_client<Ref>{ref, at};
      first->send(test::id_of(i, records), section, i < n && i % 4 == 0);
      send_by_one_more(at, ref, i);
      warden::block_client<Ref> last{ref, at};
      first->flush();
      first->~block_client();
      last.send(test::id_of(i, records), section, i < n && i % 4 == 3);
      last.flush();
    });
    warden::block_client<Ref> client{ref, at};
    if (at.thread_rank() % 2 == 0) return;
    client.append(records, record_in<2>::of(1));
  }
};

TEST(block_client, several_at_once_deliver_exactly_once) {
  std::uint64_t const n = test::sized<std::uint64_t>(1501, 500'001);
  test::guarded_records<small> g{51, with(2, 32)};
  warden::launch_fused(clients_at_once{n, 50}, 7, 64, {}, g.guarded);
  try {
    g.guarded.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    // Appended by the last one of each virtual block alone, and never flushed.
    EXPECT_NE(std::string{e.what()}.find("224 messages were staged"), std::string::npos)
        << e.what();
  }
  auto records = g.records.to_host();
  records.pop_back();
  test::expect_equal(records, test::expected<2>(n, 50));
}

// Two section types of different sizes, and two guarded arrays in one kernel.
struct add_one {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(tally& t, warden::no_context) const { t.count += 1; }
};
using two_types = warden::basic_guarded<test::small_policy, tally, add_one, record_in<7>>;

struct send_to_both {
  std::uint64_t n;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& a,
                             two_types::ref const& b) const {
    small::block_client to_a{a, at};
    two_types::block_client to_b{b, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const value = static_cast<std::uint32_t>(i);
      to_a.send(test::id_of(i, 10), record_in<2>::of(value), i < n);
      to_b.send(test::id_of(i, 20), record_in<7>::of(value), i < n);
      to_b.send(20, add_one{}, i < n && i % 3 == 0);
    });
    to_a.flush();
    to_b.flush();
  }
};

TEST(launch, several_guarded_arrays_and_section_types) {
  std::uint64_t const n = test::sized<std::uint64_t>(1500, 500'000);
  test::guarded_records<small> a{10, with(2, 64)};
  test::guarded_records<two_types> b{21, with(3, 32)};
  warden::launch_fused(send_to_both{n}, 7, 64, {}, a.guarded, b.guarded);
  a.guarded.wait();
  b.guarded.wait();
  test::expect_equal(a.records.to_host(), test::expected<2>(n, 10));
  auto records = b.records.to_host();
  EXPECT_EQ(records[20].count, (n + 2) / 3);
  records.pop_back();
  test::expect_equal(records, test::expected<7>(n, 20));
}

TEST(apply_async, runs_sections_from_arrays) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{1777}}) {
    test::guarded_records<small> g{50, with(2, 64)};
    std::vector<std::uint32_t> ids;
    std::vector<record_in<2>> sections;
    for (std::size_t i = 0; i < n; ++i) {
      ids.push_back(test::id_of(i, 50));
      sections.push_back(record_in<2>::of(static_cast<std::uint32_t>(i)));
    }
    warden::buffer<std::uint32_t> const device_ids{ids};
    warden::buffer<record_in<2>> const device_sections{sections};
    g.guarded.apply_async(device_ids.data(), device_sections.data(), n);
    g.guarded.wait();
    test::expect_equal(g.records.to_host(), test::expected<2>(n, 50));
  }
}

TEST(apply_async, is_captured_once_there_is_a_log) {
  test::guarded_records<small> g{50, with(2, 64)};
  warden::buffer<std::uint32_t> const ids{std::vector<std::uint32_t>(100, 3)};
  warden::buffer<record_in<2>> const sections{std::vector<record_in<2>>(100, record_in<2>::of(1))};
  warden::stream s;
  auto const capture = [&] {
    return warden::graph::capture(
        s, [&] { g.guarded.apply_async(ids.data(), sections.data(), 100, s); });
  };
  try {
    capture();
    ADD_FAILURE() << "memory was made while the stream was captured";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("no log of 4096 sections yet: call reserve(100) before"),
              std::string::npos)
        << e.what();
  }
  g.guarded.reserve(100);
  auto const captured = capture();
  // A larger log in addition.
  g.guarded.reserve(5000);
  captured.launch(s);
  captured.launch(s);
  g.guarded.wait(s);
  EXPECT_EQ(g.records.to_host()[3].count, 200u);
}

}  // namespace
