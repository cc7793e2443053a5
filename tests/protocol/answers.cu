// SPDX-License-Identifier: Apache-2.0
// Calls bring back what their own section returned, once.

#include "tests/protocol/calls.cuh"

namespace {

using calls::by;
using calls::call_all;
using calls::echo;
using calls::echoed;
using calls::then;
using calls::with;

template <std::size_t Bytes, class Policy = test::small_policy>
void check_calls(std::uint32_t n, std::uint32_t records, by how, then what, unsigned blocks = 5,
                 unsigned launches = 3) {
  test::guarded_records<warden::basic_guarded<Policy, std::uint32_t, echo<Bytes>>> g{records,
                                                                                     with(3)};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  for (unsigned launch = 0; launch < launches; ++launch) {
    warden::launch_fused(call_all<Bytes>{n, records, how, what, wrong.data()}, blocks, 64, {},
                         g.guarded);
  }
  g.guarded.wait();
  EXPECT_EQ(wrong.to_host()[0], 0u) << "answers of other calls, or none";
  std::uint64_t runs = 0;
  for (std::uint32_t r : g.records.to_host()) runs += r;
  EXPECT_EQ(runs, std::uint64_t{launches} * n);
}

std::uint32_t operations() { return test::sized(701u, 300'007u); }

TEST(answers, of_thread_clients) { check_calls<4>(operations(), 50, by::thread, then::gets); }
TEST(answers, of_block_clients) { check_calls<4>(operations(), 50, by::block, then::gets); }
TEST(answers, of_a_hot_record) {
  check_calls<4>(operations(), 1, by::thread, then::gets);
  check_calls<4>(operations(), 1, by::block, then::gets);
}
TEST(answers, of_every_size) {
  check_calls<1>(operations(), 7, by::block, then::gets);
  check_calls<12>(operations(), 7, by::thread, then::gets);
  check_calls<13>(operations(), 7, by::block, then::gets);
  check_calls<33>(operations(), 300, by::block, then::gets);
  check_calls<48>(operations(), 300, by::thread, then::gets);
}
TEST(answers, of_others_are_dropped_with_their_futures) {
  check_calls<4>(operations(), 5, by::thread, then::drops_odd_ones);
  check_calls<4>(operations(), 5, by::block, then::drops_odd_ones);
  check_calls<20>(operations(), 200, by::block, then::drops_odd_ones);
}
TEST(answers, several_at_a_time) {
  check_calls<4>(operations(), 5, by::thread, then::keeps_four);
  check_calls<20>(operations(), 200, by::block, then::keeps_four);
}
using one_call = warden::with_values<test::small_policy, &warden::options::calls_per_thread, 1>;
// More calls by each thread than there are generations.
TEST(answers, as_generations_wrap) {
  // Each thread passes the wrap once, which takes the simulated device long enough.
  check_calls<4, one_call>(test::sized(128u * 280, 64'000u * 600), 300, by::thread, then::gets,
                           test::sized(2u, 5u), test::sized(1u, 3u));
}

/// A section that is sent and called, together with one that has no answer.
struct take_ticket {
  static constexpr bool reads_other_memory = false;
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
};
struct skip {
  static constexpr bool reads_other_memory = false;
  std::uint32_t tickets;
  __device__ void operator()(std::uint32_t& next, warden::no_context) const { next += tickets; }
};
using tickets = warden::basic_guarded<test::small_policy, std::uint32_t, take_ticket, skip>;

struct draw {
  std::uint32_t n;
  std::uint32_t* taken;  ///< [ticket] how often it was handed out
  __device__ void operator()(warden::virtual_block const& at, tickets::ref const& ref) const {
    tickets::block_client client{ref, at};
    auto const i = static_cast<std::uint32_t>(at.global_rank());
    client.send(0, take_ticket{}, i < n && i % 3 == 0);
    client.send(0, skip{2}, i < n && i % 3 == 1);
    auto ticket = client.call(0, take_ticket{}, i < n && i % 3 == 2);
    client.flush();
    auto const answer = ticket.get();
    if (answer) warden::simt::fetch_add(&taken[*answer], 1u);
  }
};

TEST(answers, with_sections_that_have_no_caller) {
  std::uint32_t const n = 600;
  test::guarded_records<tickets> g{1, with(1)};
  warden::buffer<std::uint32_t> taken{n + n / 3};
  taken.fill_bytes(0);
  warden::launch_fused(draw{n, taken.data()}, 10, 64, {}, g.guarded);
  g.guarded.wait();
  EXPECT_EQ(g.records.to_host()[0], n + n / 3);
  std::uint32_t handed_out = 0;
  for (std::uint32_t times : taken.to_host()) {
    EXPECT_LE(times, 1u);
    handed_out += times;
  }
  EXPECT_EQ(handed_out, n / 3);
}

// ---- what a section wrote is visible to the caller

struct log_of {
  std::uint32_t* words;
};
struct note_down {
  std::uint32_t place;
  __device__ std::uint32_t operator()(std::uint32_t& record, log_of log) const {
    warden::simt::store_relaxed(&log.words[place], place + 7);
    record = place + 9;
    return place;
  }
};
using logging = warden::with_parts<test::small_policy, warden::context<log_of>>;
using logs = warden::basic_guarded<logging, std::uint32_t, note_down>;

struct call_and_look {
  std::uint32_t* words;
  std::uint32_t* records;
  std::uint32_t* stale;
  __device__ void operator()(warden::virtual_block const& at, logs::ref const& ref) const {
    logs::thread_client const client{ref, at};
    for (std::uint32_t round = 0; round < 3; ++round) {
      auto const i = static_cast<std::uint32_t>(at.global_rank());
      // Only this thread uses the record, so no other thread has written it since.
      auto const answer = client.call(i, note_down{i + round}).get();
      bool const good = answer && *answer == i + round &&
                        warden::simt::load_relaxed(&words[i + round]) == i + round + 7 &&
                        warden::simt::load_relaxed(&records[i]) == i + round + 9;
      if (!good) warden::simt::fetch_add(stale, 1u);
    }
  }
};

void check_that_callers_see(unsigned grid, unsigned servers) {
  warden::buffer<std::uint32_t> words{grid * 64 + 3}, records{grid * 64}, stale{1};
  words.fill_bytes(0);
  records.fill_bytes(0);
  stale.fill_bytes(0);
  logs g{records, log_of{words.data()}, with(servers)};
  for (int launch = 0; launch < 10; ++launch)
    warden::launch_fused(call_and_look{words.data(), records.data(), stale.data()}, grid, 64, {},
                         g);
  g.wait();
  EXPECT_EQ(stale.to_host()[0], 0u);
}
TEST(answers, come_after_what_the_section_wrote) {
  check_that_callers_see(test::sized(3u, 200u), 2);
  // One record a thread at most, which the executor sorted holds in a register.
  check_that_callers_see(2, 3);
}

// ---- futures

/// Each future makes room for the next.
struct assign_over {
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, tickets::ref const& ref) const {
    tickets::thread_client const client{ref, at};
    auto future = client.call(0, take_ticket{});
    for (int k = 0; k < 20; ++k) future = client.call(0, take_ticket{});
    if (!future.get()) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, go_unheard_whose_future_is_assigned_over) {
  test::guarded_records<tickets> g{1, with(1)};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  warden::launch_fused(assign_over{wrong.data()}, 2, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  EXPECT_EQ(wrong.to_host()[0], 0u);
  EXPECT_EQ(g.records.to_host()[0], 2u * 64 * 21);
}

// ---- as one atomic

struct draw_atomically {
  static constexpr bool reads_other_memory = false;
  __device__ std::uint32_t operator()(std::uint32_t& next, warden::no_context) const {
    return next++;
  }
  __device__ std::uint32_t atomic(std::uint32_t* next, warden::no_context) const {
    return warden::simt::fetch_add(next, 1u);
  }
};
using atomic_policy = test::small<warden::executor::atomics<>>;
using atomic_tickets = warden::basic_guarded<atomic_policy, std::uint32_t, draw_atomically>;
struct draw_all {
  std::uint32_t* taken;
  __device__ void operator()(warden::virtual_block const& at,
                             atomic_tickets::ref const& ref) const {
    auto const answer = atomic_tickets::thread_client{ref, at}.call(0, draw_atomically{}).get();
    if (answer) warden::simt::fetch_add(&taken[*answer], 1u);
  }
};
TEST(answers, of_atomics) {
  test::guarded_records<atomic_tickets> g{1, with(1)};
  warden::buffer<std::uint32_t> taken{640};
  taken.fill_bytes(0);
  warden::launch_fused(draw_all{taken.data()}, 10, 64, {}, g.guarded);
  g.guarded.wait();
  for (std::uint32_t const times : taken.to_host()) EXPECT_EQ(times, 1u);
}

}  // namespace
