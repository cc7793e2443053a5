// SPDX-License-Identifier: Apache-2.0
// Calls bring back what their own section returned, once, and say why when they cannot.

#include "tests/support/support.cuh"

namespace {

using test::mix;
using warden::call_error;

warden::guarded_options with(unsigned servers, unsigned capacity = 64) {
  warden::guarded_options o;
  o.servers = servers;
  o.capacity = capacity;
  return o;
}

/// `Bytes` bytes that nobody but the caller of `argument` expects, and the record's turn.
template <std::size_t Bytes>
struct echoed {
  unsigned char bytes[Bytes];

  WARDEN_HOST_DEVICE static echoed of(std::uint32_t argument) {
    echoed e;
    for (std::size_t i = 0; i < Bytes; ++i)
      e.bytes[i] = static_cast<unsigned char>(mix(argument * 64ull + i));
    return e;
  }
  WARDEN_HOST_DEVICE bool operator==(echoed const& other) const {
    bool same = true;
    for (std::size_t i = 0; i < Bytes; ++i) same = same && bytes[i] == other.bytes[i];
    return same;
  }
};
template <std::size_t Bytes>
struct echo {
  static constexpr bool reads_other_memory = false;
  std::uint32_t argument;
  __device__ echoed<Bytes> operator()(std::uint32_t& runs, warden::no_context) const {
    runs += 1;
    return echoed<Bytes>::of(argument);
  }
};

enum class by { thread, block };
enum class then { gets, drops_odd_ones, keeps_four };

/// Operation i calls for its answer; a drop leaves the answer behind.
template <std::size_t Bytes>
struct call_all {
  std::uint32_t n, records;
  by how;
  then what;
  std::uint32_t* wrong;

  template <class Ref>
  __device__ void operator()(warden::client_block const& at, Ref const& ref) const {
    warden::block_client<Ref> block{ref, at};
    warden::thread_client<Ref> const thread{ref, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    using future = warden::future<Ref, echoed<Bytes>>;
    auto const call = [&](std::uint32_t i) {
      bool const valid = i < n;
      auto const id = test::id_of(i, records);
      if (how == by::block) return block.call(id, echo<Bytes>{i}, valid);
      return valid ? thread.call(id, echo<Bytes>{i}) : future{};
    };
    auto const check = [&](auto& future, std::uint32_t i) {
      auto const answer = future.get();
      bool const good = i < n ? answer && *answer == echoed<Bytes>::of(i)
                              : answer.error() == call_error::not_called;
      if (!good) warden::simt::fetch_add(wrong, 1u);
    };
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += what == then::keeps_four ? 4 * step : step) {
      std::uint32_t const i = first + at.thread_rank();
      if (what == then::keeps_four) {
        auto a = call(i), b = call(i + step), c = call(i + 2 * step), d = call(i + 3 * step);
        block.flush();
        // In another order than they were called.
        check(c, i + 2 * step);
        check(a, i);
        check(d, i + 3 * step);
        check(b, i + step);
      } else {
        auto future = call(i);
        block.flush();
        if (what == then::gets || i % 2 == 0) check(future, i);
      }
    }
  }
};

template <std::size_t Bytes, class Policy = test::small_policy>
void check_calls(std::uint32_t n, std::uint32_t records, by how, then what) {
  test::guarded_records<warden::basic_guarded<Policy, std::uint32_t, echo<Bytes>>> g{records,
                                                                                     with(3)};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  for (int launch = 0; launch < 3; ++launch) {
    warden::launch_fused(call_all<Bytes>{n, records, how, what, wrong.data()}, 5, 64, {},
                         g.guarded);
  }
  g.guarded.wait();
  EXPECT_EQ(wrong.to_host()[0], 0u) << "answers of other calls, or none";
  std::uint64_t runs = 0;
  for (std::uint32_t r : g.records.to_host()) runs += r;
  EXPECT_EQ(runs, 3ull * n);
}

std::uint32_t calls() { return test::sized(701u, 300'007u); }

TEST(answers, of_thread_clients) { check_calls<4>(calls(), 50, by::thread, then::gets); }
TEST(answers, of_block_clients) { check_calls<4>(calls(), 50, by::block, then::gets); }
TEST(answers, of_a_hot_record) {
  check_calls<4>(calls(), 1, by::thread, then::gets);
  check_calls<4>(calls(), 1, by::block, then::gets);
}
TEST(answers, of_every_size) {
  check_calls<1>(calls(), 7, by::block, then::gets);
  check_calls<12>(calls(), 7, by::thread, then::gets);
  check_calls<13>(calls(), 7, by::block, then::gets);
  check_calls<33>(calls(), 300, by::block, then::gets);
  check_calls<48>(calls(), 300, by::thread, then::gets);
}
TEST(answers, of_others_are_dropped_with_their_futures) {
  check_calls<4>(calls(), 5, by::thread, then::drops_odd_ones);
  check_calls<4>(calls(), 5, by::block, then::drops_odd_ones);
  check_calls<20>(calls(), 200, by::block, then::drops_odd_ones);
}
TEST(answers, several_at_a_time) {
  check_calls<4>(calls(), 5, by::thread, then::keeps_four);
  check_calls<20>(calls(), 200, by::block, then::keeps_four);
}
struct one_call : test::small_policy {
  static constexpr unsigned calls_per_thread = 1;
};
// More calls by each thread than there are generations.
TEST(answers, as_generations_wrap) {
  check_calls<4, one_call>(test::sized(320u * 280, 64'000u * 600), 300, by::thread, then::gets);
}

/// A section that is sent and called, beside one without an answer.
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
  __device__ void operator()(warden::client_block const& at, tickets::ref const& ref) const {
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

TEST(answers, beside_sections_that_nobody_waits_for) {
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
struct logging : test::small_policy {
  using context = log_of;
};
using logs = warden::basic_guarded<logging, std::uint32_t, note_down>;

struct call_and_look {
  std::uint32_t* words;
  std::uint32_t* records;
  std::uint32_t* stale;
  __device__ void operator()(warden::client_block const& at, logs::ref const& ref) const {
    logs::thread_client const client{ref, at};
    for (std::uint32_t round = 0; round < 3; ++round) {
      auto const i = static_cast<std::uint32_t>(at.global_rank());
      // The record is this thread's alone, so nobody has written it since.
      auto const answer = client.call(i, note_down{i + round}).get();
      bool const good = answer && *answer == i + round &&
                        warden::simt::load_relaxed(&words[i + round]) == i + round + 7 &&
                        warden::simt::load_relaxed(&records[i]) == i + round + 9;
      if (!good) warden::simt::fetch_add(stale, 1u);
    }
  }
};

TEST(answers, come_after_what_the_section_wrote) {
  unsigned const grid = test::sized(3u, 200u);
  warden::buffer<std::uint32_t> words{grid * 64 + 3}, records{grid * 64}, stale{1};
  words.fill_bytes(0);
  records.fill_bytes(0);
  stale.fill_bytes(0);
  logs g{records, log_of{words.data()}, with(2)};
  for (int launch = 0; launch < 10; ++launch)
    warden::launch_fused(call_and_look{words.data(), records.data(), stale.data()}, grid, 64, {},
                         g);
  g.wait();
  EXPECT_EQ(stale.to_host()[0], 0u);
}

// ---- what goes wrong

using echoes = warden::basic_guarded<test::small_policy, std::uint32_t, echo<4>>;

/// Runs `kernel`, which counts surprises, and returns what `wait` said.
template <class Kernel>
std::string complaint(Kernel kernel, unsigned grid = 2, warden::guarded_options options = with(2)) {
  test::guarded_records<echoes> g{10, options};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  kernel.wrong = wrong.data();
  std::string said;
  warden::launch_fused(kernel, grid, 64, {}, g.guarded);
  try {
    g.guarded.wait();
  } catch (warden::error const& e) {
    said = e.what();
  }
  EXPECT_EQ(wrong.to_host()[0], 0u);
  // Usable again.
  warden::launch_fused(call_all<4>{500, 10, by::block, then::gets, wrong.data()}, 3, 64, {},
                       g.guarded);
  g.guarded.wait();
  EXPECT_EQ(wrong.to_host()[0], 0u);
  return said;
}
void expect_in(std::string const& what, std::string const& said) {
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

struct get_before_flush {
  std::uint32_t* wrong;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    echoes::block_client client{ref, at};
    auto future = client.call(3, echo<4>{5});
    bool good = future.get().error() == call_error::not_flushed;
    client.flush();
    auto const answer = future.get();
    good = good && answer && *answer == echoed<4>::of(5);
    good = good && future.get().error() == call_error::taken;
    if (!good) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, before_flush_are_an_error_at_once) {
  expect_in("128 answers were asked for before flush()", complaint(get_before_flush{}));
}

struct hold_too_many {
  std::uint32_t* wrong;
  by how;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    echoes::thread_client const thread{ref, at};
    echoes::block_client block{ref, at};
    auto const call = [&] {
      return how == by::thread ? thread.call(3, echo<4>{5}) : block.call(3, echo<4>{5});
    };
    if (how == by::block) {
      // Staged, their futures dropped.
      for (int k = 0; k < 3; ++k) static_cast<void>(call());
    }
    auto a = call();
    auto b = how == by::thread ? call() : std::move(a);
    auto c = how == by::thread ? call() : std::move(b);
    auto d = how == by::thread ? call() : std::move(c);
    auto e = call();
    bool good = e.get().error() == call_error::too_many;
    block.flush();
    // The oldest: its place is the next call's.
    auto const answer = how == by::thread ? a.get() : d.get();
    good = good && answer && *answer == echoed<4>::of(5);
    auto f = call();
    block.flush();
    good = good && f.get();
    if (!good) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, too_many_at_a_time) {
  std::string const text = "128 calls were not sent: the call 4 calls before";
  expect_in(text, complaint(hold_too_many{nullptr, by::thread}));
  expect_in(text, complaint(hold_too_many{nullptr, by::block}));
}

struct call_nobody {
  std::uint32_t* wrong;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    echoes::block_client client{ref, at};
    bool good =
        echoes::thread_client{ref, at}.call(10, echo<4>{1}).get().error() == call_error::bad_id;
    auto bad = client.call(~std::uint64_t{0}, echo<4>{1});
    auto none = client.call(1, echo<4>{1}, false);
    client.flush();
    good = good && bad.get().error() == call_error::bad_id &&
           none.get().error() == call_error::not_called;
    if (!good) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, of_bad_ids) { expect_in("(256 such ids", complaint(call_nobody{})); }

struct never_flush {
  std::uint32_t* wrong;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    echoes::block_client client{ref, at};
    static_cast<void>(client.call(3, echo<4>{5}));
  }
};
TEST(answers, of_calls_never_flushed) {
  expect_in("128 calls were staged but never flushed", complaint(never_flush{}));
}

/// A call is lost; a second client of the same threads flushes its own and comes round to its
/// place.
struct lose_and_go_on {
  std::uint32_t* wrong;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    {
      echoes::block_client client{ref, at};
      static_cast<void>(client.call(3, echo<4>{5}));
    }
    echoes::block_client client{ref, at};
    bool good = true;
    for (std::uint32_t k = 0; k < 3; ++k) {
      auto future = client.call(3, echo<4>{k});
      client.flush();
      auto const answer = future.get();
      good = good && answer && *answer == echoed<4>::of(k);
    }
    auto last = client.call(3, echo<4>{5});
    client.flush();
    good = good && last.get().error() == call_error::too_many;
    if (!good) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, of_lost_calls_keep_their_place) {
  auto const said = complaint(lose_and_go_on{});
  expect_in("128 calls were staged but never flushed", said);
  expect_in("128 calls were not sent", said);
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
struct atomic_policy : test::small<warden::default_policy> {
  using executor = warden::executor::atomics<>;
};
using atomic_tickets = warden::basic_guarded<atomic_policy, std::uint32_t, draw_atomically>;
struct draw_all {
  std::uint32_t* taken;
  __device__ void operator()(warden::client_block const& at, atomic_tickets::ref const& ref) const {
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

/// Tells the servers that all clients are done, waits until they have left, then calls.
struct call_those_who_left {
  std::uint32_t* wrong;
  __device__ void operator()(warden::client_block const& at, echoes::ref const& ref) const {
    test::send_servers_home(at, ref);
    echoes::block_client client{ref, at};
    auto future = client.call(3, echo<4>{5}, at.thread_rank() < 8);
    client.flush();
    auto const error = future.get().error();
    auto const wanted = at.thread_rank() < 8 ? call_error::poisoned : call_error::not_called;
    if (error != wanted) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(answers, that_never_come_are_waited_for_no_longer_than_the_limit) {
  auto options = with(1, 256);
  options.time_limit_seconds = 1;
  options.minimum_polls = 64;
  expect_in("waited for the answer to its call", complaint(call_those_who_left{}, 1, options));
}

}  // namespace
