// SPDX-License-Identifier: Apache-2.0
// Bad input gets one line that names the value and the limit, and harms no other block or launch.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace {

using test::record_in;
using testing::HasSubstr;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

std::string error_of(std::function<void()> const& action) {
  try {
    action();
  } catch (warden::error const& e) {
    EXPECT_EQ(std::string{e.what()}.find('\n'), std::string::npos) << "more than one line";
    std::string const file = e.file();
    EXPECT_THAT(e.what(), testing::EndsWith(" (" + file.substr(file.rfind('/') + 1) + ":" +
                                            std::to_string(e.line()) + ")"));
    return e.what();
  }
  return "no error";
}

struct send_some_bad {
  std::uint32_t n;
  std::uint64_t bad;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    small::block_client client{ref, at};
    std::uint32_t const i = static_cast<std::uint32_t>(at.global_rank());
    client.send(i == 70 ? bad : i % 10, record_in<2>::of(1), i < n);
    if (i == 71) client.append(bad, record_in<2>::of(1));
    client.flush();
    if (i == 72) small::thread_client{ref, at}.send(bad, record_in<2>::of(1));
  }
};

TEST(bad_input, an_id_outside_the_records) {
  for (std::uint64_t const bad : {10ull, 11ull, 0xffffffffull, 1ull << 32, ~0ull - 1}) {
    // A frame of canaries around the records: memory outside them is never touched.
    std::vector<test::tally> memory(30, test::tally{7, 7, 7});
    for (int k = 10; k < 20; ++k) memory[k] = {};
    warden::buffer<test::tally> records{memory};
    small g{records.data() + 10, 10, {.servers = 2}};
    warden::launch_fused(send_some_bad{200, bad}, 4, 64, {}, g);
    EXPECT_THAT(error_of([&] { g.wait(); }),
                HasSubstr("record id " + std::to_string(bad) + " is not below 10 (3 such ids"));
    auto const after = records.to_host();
    std::uint64_t count = 0;
    for (int k = 0; k < 30; ++k) {
      if (k >= 10 && k < 20) {
        count += after[k].count;
      } else {
        EXPECT_EQ(after[k].count, 7u) << "memory outside the records was touched";
      }
    }
    EXPECT_EQ(count, 199u) << "the other sections must have run";
    g.wait();  // reported once
  }
}

/// One thread, so that the order of the bad ids is known.
struct send_bad_in_order {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    if (at.global_rank() != 0) return;
    small::thread_client client{ref, at};
    client.send(~std::uint64_t{0}, record_in<2>::of(1));  // a negative number, converted
    client.send(12, record_in<2>::of(1));
    client.send(11, record_in<2>::of(1));
  }
};

TEST(bad_input, keeps_the_first_bad_id) {
  test::guarded_records<small> g{10, {.servers = 1}};
  warden::launch_fused(send_bad_in_order{}, 2, 64, {}, g.guarded);
  EXPECT_THAT(error_of([&] { g.guarded.wait(); }),
              HasSubstr("record id 18446744073709551615 is not below 10 (3 such ids"));
}

struct no_flush {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    small::block_client client{ref, at};
    client.send(0, record_in<2>::of(1), at.thread_rank() < 9);
  }
};

TEST(bad_input, staged_messages_without_flush) {
  test::guarded_records<small> g{10, {.servers = 1}};
  warden::launch_fused(no_flush{}, 3, 64, {}, g.guarded);
  EXPECT_THAT(error_of([&] { g.guarded.wait(); }),
              HasSubstr("27 messages were staged but never flushed"));
  // The next launch starts afresh: the lost messages do not turn up in it.
  warden::launch_fused(test::send_by_block<2>{100, 10}, 2, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(100, 10));
}

/// Even virtual blocks append and never flush; the others, which may run after them on the same
/// block, send one message and flush.
struct append_without_flush {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    small::block_client client{ref, at};
    if (at.block_index() % 2 == 0) {
      // Fewer than any sender's buffer holds: none of them is sent at once.
      if (at.thread_rank() < 30) client.append(0, record_in<2>::of(1));
    } else {
      client.send(1, record_in<2>::of(1), at.thread_rank() == 0);
      client.flush();
    }
  }
};

TEST(bad_input, appended_messages_without_flush) {
  unsigned const grid = test::sized(200u, 20'000u);
  test::guarded_records<small> g{2, {.servers = 1}};
  warden::launch_fused(append_without_flush{}, grid, 64, {}, g.guarded);
  EXPECT_THAT(error_of([&] { g.guarded.wait(); }),
              HasSubstr(std::to_string(grid / 2 * 30) + " messages were staged but never flushed"));
  auto const records = g.records.to_host();
  EXPECT_EQ(records[0].count, 0u) << "what is reported as lost must not run";
  EXPECT_EQ(records[1].count, grid / 2);
}

/// One client of every thread appends and is never flushed; a later one of the same virtual block
/// is.
struct append_and_go_on {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    {
      small::block_client client{ref, at};
      // Exactly as many as fit, together with those that the other client appends: none is sent at
      // once.
      if (at.thread_rank() % 4 == 0) client.append(0, record_in<2>::of(1));
      if (at.thread_rank() % 8 == 0) client.append(0, record_in<2>::of(1));
    }
    small::block_client client{ref, at};
    if (at.thread_rank() % 2 == 0) client.append(1, record_in<2>::of(1));
    client.send(1, record_in<2>::of(1));
    client.flush();
  }
};

TEST(bad_input, what_one_client_never_flushed_is_lost_or_sent_by_the_next_but_not_both) {
  test::guarded_records<small> g{2, {.servers = 1}};
  warden::launch_fused(append_and_go_on{}, 20, 64, {}, g.guarded);
  auto const said = error_of([&] { g.guarded.wait(); });
  auto const records = g.records.to_host();
  EXPECT_EQ(records[1].count, 20u * 96);
  if (small::ref::outbox::sends_full_buffers) {
    // Its buffers belong to no client in particular.
    EXPECT_EQ(said, "no error");
    EXPECT_EQ(records[0].count, 20u * 24);
  } else {
    EXPECT_THAT(said, HasSubstr("480 messages were staged but never flushed"));
    EXPECT_EQ(records[0].count, 0u);
  }
}

struct bad_and_unflushed {
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    small::block_client client{ref, at};
    client.send(at.thread_rank() == 0 ? 99 : 0, record_in<2>::of(1), at.thread_rank() < 2);
  }
};

TEST(bad_input, a_bad_id_does_not_hide_what_was_not_flushed) {
  test::guarded_records<small> g{10, {.servers = 1}};
  warden::launch_fused(bad_and_unflushed{}, 1, 64, {}, g.guarded);
  EXPECT_THAT(
      test::error_text(g.guarded),
      HasSubstr("record id 99 is not below 10 (1 such id): correct the ids\n1 messages were "
                "staged but never flushed"));
}

struct on_two {
  __device__ void operator()(warden::virtual_block const&, small::ref const&,
                             small::ref const&) const {}
};

TEST(bad_input, a_guarded_twice_in_one_launch) {
  test::guarded_records<small> g{10, {.servers = 1}};
  EXPECT_THAT(error_of([&] { warden::launch_fused(on_two{}, 1, 64, {}, g.guarded, g.guarded); }),
              HasSubstr("one guarded array occurs twice among the arguments"));
}

TEST(bad_input, a_grid_beyond_all_counting) {
  test::guarded_records<small> g{10, {.servers = 1}};
  EXPECT_THAT(error_of([&] { warden::launch_fused(no_flush{}, ~0u, 64, {}, g.guarded); }),
              HasSubstr("a grid of 4294967295 virtual blocks; the limit is 4294901760"));
}

TEST(bad_input, a_block_of_the_wrong_size) {
  test::guarded_records<small> g{10, {.servers = 1}};
  EXPECT_THAT(error_of([&] { warden::launch_fused(no_flush{}, 3, 200, {}, g.guarded); }),
              testing::AllOf(HasSubstr("blocks of 200 threads, but the policy promises 64"),
                             HasSubstr("bad_input.cu:")));
}

TEST(bad_input, impossible_plans) {
  warden::buffer<test::tally> records{10};
  auto const make = [&](warden::guarded_options o) {
    return error_of([&] { static_cast<void>(small{records, o}.servers()); });
  };
  EXPECT_THAT(make({.capacity = 48}),
              HasSubstr("capacity 48 is not a power of two from 32 to 1048576"));
  EXPECT_THAT(make({.capacity = 16}), HasSubstr("capacity 16 is not a power of two"));
  EXPECT_THAT(make({.capacity = 1u << 21}), HasSubstr("capacity 2097152 is not a power of two"));
  EXPECT_THAT(make({.servers = 65'535}), HasSubstr("65535 servers; the limit is 65534"));
  EXPECT_THAT(make({.servers = 60'000}),
              HasSubstr("bytes of shared memory for each block; the device has"));
  EXPECT_THAT(make({.time_limit_seconds = 0}), HasSubstr("time limit of 0"));
  EXPECT_THAT(make({.time_limit_seconds = 2e6}), HasSubstr("time limit of 2000000"));
  EXPECT_THAT(make({.time_limit_seconds = std::nan("")}), HasSubstr("time limit of nan"));
  EXPECT_THAT(make({.time_limit_seconds = 1e300}), HasSubstr("time limit of 1e+300 s;"));
  EXPECT_THAT(make({.capacity = 64, .first_index = 63}),
              HasSubstr("first index 63 is below the channel's capacity, 64"));
  EXPECT_THAT(make({.capacity = 64, .first_index = ~std::uint64_t{0} - 64}),
              HasSubstr("first index 18446744073709551551; the limit is 9223372036854775808"));
  EXPECT_THAT(error_of([&] {
                static_cast<void>(small(records.data(), 0xffffffffu, {.servers = 1}).servers());
              }),
              HasSubstr("4294967295 records; the limit is 4294967294"));
  // The limits themselves are possible.
  EXPECT_EQ(make({.servers = 1, .capacity = 32, .time_limit_seconds = 1e6}), "no error");
  EXPECT_EQ(make({.servers = 1, .capacity = 64, .first_index = 64}), "no error");
}

TEST(bad_input, a_buffer_of_more_bytes_than_there_are_addresses) {
  using words = warden::buffer<std::uint64_t>;
  EXPECT_THAT(error_of([] { words{(std::size_t{1} << 61) + 1}; }),
              HasSubstr("allocating 18446744073709551615 bytes of device memory: "));
  words const some{std::vector<std::uint64_t>{1, 2}}, others{2};
  EXPECT_THAT(
      error_of([&] { warden::copy(others.data(), some.data(), (std::size_t{1} << 61) + 1); }),
      HasSubstr("copying "));
}

TEST(bad_input, too_many_servers_for_the_device) {
  auto const facts = warden::runtime::facts(0);
  // As many as 227 KB of shared memory have room for, or in proportion.
  auto const most = static_cast<unsigned>(test::limits<test::small_policy>.most_servers *
                                          facts.shared_bytes_per_block / (std::size_t{227} << 10));
  unsigned const servers = std::min(static_cast<unsigned>(facts.multiprocessors) * 64, most);
  test::guarded_records<small> g{10, {.servers = servers, .capacity = 32}};
  EXPECT_THAT(error_of([&] { warden::launch_fused(no_flush{}, 3, 64, {}, g.guarded); }),
              HasSubstr(std::to_string(servers) + " servers and a client block do not fit"));
}

struct wants_shared {
  struct shared_storage {
    std::uint32_t words[16];
  };
  struct larger {
    std::uint32_t words[17];
  };
  std::uint32_t* out;
  bool too_much;
  __device__ void operator()(warden::virtual_block const& at, small::ref const&) const {
    if (too_much) {
      if (at.shared<larger>() == nullptr && at.thread_rank() == 0) out[0] = 1;
      return;
    }
    shared_storage* const s = at.shared<shared_storage>();
    if (at.thread_rank() < 16) s->words[at.thread_rank()] = at.thread_rank();
    warden::simt::sync_block();
    if (at.thread_rank() == 0) {
      std::uint32_t sum = 0;
      for (std::uint32_t w : s->words) sum += w;
      out[0] = sum;
    }
  }
};

TEST(bad_input, more_shared_memory_than_declared) {
  test::guarded_records<small> g{10, {.servers = 1}};
  warden::buffer<std::uint32_t> out{1};
  warden::launch_fused(wants_shared{out.data(), false}, 1, 64, {}, g.guarded);
  g.guarded.wait();
  EXPECT_EQ(out.to_host()[0], 120u);
  warden::launch_fused(wants_shared{out.data(), true}, 1, 64, {}, g.guarded);
  EXPECT_THAT(error_of([&] { g.guarded.wait(); }),
              HasSubstr("68 bytes asked for, but the kernel's shared_storage has 64"));
  EXPECT_EQ(out.to_host()[0], 1u);
  g.guarded.wait();
}

/// The virtual block's own shared memory lies next to that of the clients of two guarded arrays.
struct own_shared_memory {
  struct alignas(128) shared_storage {
    std::uint32_t words[64];
  };
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& a,
                             small::ref const& b) const {
    auto* const storage = at.shared<shared_storage>();
    if (reinterpret_cast<std::uintptr_t>(storage) % alignof(shared_storage) != 0)
      warden::simt::fetch_add(wrong, 1u);
    std::uint32_t& mine = storage->words[at.thread_rank()];
    std::uint32_t const value = at.block_index() * 1000 + at.thread_rank();
    mine = value;
    small::block_client to_a{a, at}, to_b{b, at};
    for (std::uint32_t i = 0; i < 20; ++i) {
      to_a.send((at.thread_rank() + i) % 10, record_in<2>::of(i));
      to_b.send((at.thread_rank() + i) % 10, record_in<2>::of(i));
      to_b.append(i % 10, record_in<2>::of(i));
    }
    to_a.flush();
    to_b.flush();
    if (mine != value) warden::simt::fetch_add(wrong, 1u);
  }
};

TEST(launch, the_users_shared_memory_is_its_own) {
  test::guarded_records<small> a{10, {.servers = 2}}, b{10, {.servers = 1}};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  warden::launch_fused(own_shared_memory{wrong.data()}, 9, 64, {}, a.guarded, b.guarded);
  a.guarded.wait();
  b.guarded.wait();
  EXPECT_EQ(wrong.to_host()[0], 0u);
  std::uint64_t count = 0;
  for (auto const& t : a.records.to_host()) count += t.count;
  for (auto const& t : b.records.to_host()) count += t.count;
  EXPECT_EQ(count, 9u * 64 * 60);
}

TEST(bad_input, not_enough_memory) {
  EXPECT_THROW(warden::buffer<char>{std::size_t{1} << 46}, warden::cuda_error);
}

}  // namespace
