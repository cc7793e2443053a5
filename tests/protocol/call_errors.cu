// SPDX-License-Identifier: Apache-2.0
// Calls that bring no answer say why, at once or within the time limit.

#include "tests/protocol/calls.cuh"

#include <string>
#include <utility>

namespace {

using calls::by;
using calls::call_all;
using calls::echo;
using calls::echoed;
using calls::then;
using calls::with;
using warden::call_error;

using echoes = warden::basic_guarded<test::small_policy, std::uint32_t, echo<4>>;

/// Runs `kernel`, which counts surprises, and returns what `wait` said.
template <class Kernel>
std::string error_text(Kernel kernel, unsigned grid = 2,
                       warden::guarded_options options = with(2)) {
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
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
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
TEST(call_errors, before_flush_are_an_error_at_once) {
  expect_in("128 answers were asked for before flush()", error_text(get_before_flush{}));
}

struct hold_too_many {
  std::uint32_t* wrong;
  by how;
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
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
TEST(call_errors, too_many_at_a_time) {
  std::string const text = "128 calls were not sent: the call 4 calls before";
  expect_in(text, error_text(hold_too_many{nullptr, by::thread}));
  expect_in(text, error_text(hold_too_many{nullptr, by::block}));
}

struct call_no_record {
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
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
TEST(call_errors, of_bad_ids) { expect_in("(256 such ids", error_text(call_no_record{})); }

struct never_flush {
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
    echoes::block_client client{ref, at};
    static_cast<void>(client.call(3, echo<4>{5}));
  }
};
TEST(call_errors, of_calls_never_flushed) {
  expect_in("128 calls were staged but never flushed", error_text(never_flush{}));
}

/// A call is lost; a second client of the same threads flushes its own and comes round to its
/// place.
struct lose_and_go_on {
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
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
TEST(call_errors, of_lost_calls_keep_their_place) {
  auto const said = error_text(lose_and_go_on{});
  expect_in("128 calls were staged but never flushed", said);
  expect_in("128 calls were not sent", said);
}

/// A function with a client of its own calls while its caller's call is staged.
struct call_next_to_a_staged_call {
  std::uint32_t* wrong;
  __device__ static bool one_more(warden::virtual_block const& at, echoes::ref const& ref) {
    echoes::block_client client{ref, at};
    auto future = client.call(4, echo<4>{6});
    auto const answer = future.get();
    auto const again = client.call(4, echo<4>{7}).get();
    return client.flush() && answer && *answer == echoed<4>::of(6) && again &&
           *again == echoed<4>::of(7);
  }
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
    echoes::block_client client{ref, at};
    auto future = client.call(3, echo<4>{5});
    bool good = one_more(at, ref);
    client.flush();
    auto const answer = future.get();
    good = good && answer && *answer == echoed<4>::of(5);
    if (!good) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(call_errors, not_of_a_second_client) {
  EXPECT_EQ(error_text(call_next_to_a_staged_call{}), "");
}

/// Tells the servers that all clients are done, waits until they have left, then calls.
struct call_those_who_left {
  std::uint32_t* wrong;
  __device__ void operator()(warden::virtual_block const& at, echoes::ref const& ref) const {
    test::send_servers_home(at, ref);
    echoes::block_client client{ref, at};
    auto future = client.call(3, echo<4>{5}, at.thread_rank() < 8);
    client.flush();
    auto const error = future.get().error();
    auto const wanted = at.thread_rank() < 8 ? call_error::poisoned : call_error::not_called;
    if (error != wanted) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(call_errors, that_never_come_are_waited_for_no_longer_than_the_limit) {
  auto options = with(1, 256);
  options.time_limit_seconds = 1;
  options.minimum_polls = 64;
  expect_in("waited for the answer to its call", error_text(call_those_who_left{}, 1, options));
}

}  // namespace
