// SPDX-License-Identifier: Apache-2.0
// Streams of the simulated device: work runs late, each stream in its order, different ones in
// every order that events allow; errors come out of waits; captured work runs when it is launched.

#include "tests/support/error_text.hpp"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::HasSubstr;
namespace simt = warden::simt;

class streams : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }
};

void use(std::uint64_t seed, bool late = true) {
  warden::sim::settings s;
  s.seed = seed;
  s.late_streams = late;
  warden::sim::configure(s);
}

/// The message and the number of the error.
std::string error_of(std::function<void()> const& action) {
  try {
    action();
  } catch (warden::cuda_error const& e) {
    return std::to_string(e.code()) + ": " + e.what();
  }
  return "no error";
}

struct arguments {
  std::uint32_t* words = nullptr;
  std::uint32_t value = 0;
};
/// The words are a list: its length, then what was appended.
WARDEN_KERNEL void append(arguments a) { a.words[++a.words[0]] = a.value; }

std::vector<std::uint32_t> listed(warden::buffer<std::uint32_t> const& words) {
  auto const all = words.to_host();
  return {all.begin() + 1, all.begin() + 1 + all[0]};
}

TEST_F(streams, run_late) {
  for (bool const late : {true, false}) {
    use(1, late);
    warden::buffer<std::uint32_t> words{8};
    words.fill_bytes(0);
    std::uint32_t length = 77;
    simt::launch(&append, 1, 1, 0, {words.data(), 5}, {});
    warden::copy(&length, words.data(), 1);
    EXPECT_EQ(length, late ? 77u : 1u);
    warden::stream_ref{}.synchronize();
    EXPECT_EQ(length, 1u);
  }
}

/// Two streams append three values each; `wait` orders them.
std::vector<std::uint32_t> two_streams(std::function<void(warden::stream_ref)> const& wait,
                                       bool ordered = false) {
  warden::buffer<std::uint32_t> words{8};
  words.fill_bytes(0);
  warden::stream_ref{}.synchronize();
  warden::stream a, b;
  for (std::uint32_t i = 0; i < 3; ++i) simt::launch(&append, 1, 1, 0, {words.data(), i}, a);
  if (ordered) {
    warden::event e;
    e.record(a);
    warden::stream_ref{b}.wait_for(e);
  }
  for (std::uint32_t i = 3; i < 6; ++i) simt::launch(&append, 1, 1, 0, {words.data(), i}, b);
  wait(a);
  return listed(words);
}

TEST_F(streams, run_in_their_own_order_and_in_any_with_others) {
  std::set<std::vector<std::uint32_t>> orders;
  std::set<std::size_t> lengths;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    use(seed);
    auto const seen = two_streams([](warden::stream_ref s) { s.synchronize(); });
    lengths.insert(seen.size());
    ASSERT_THAT(seen, testing::IsSupersetOf({0u, 1u, 2u})) << "what was waited for has run";
    for (std::uint32_t const first : {0u, 3u}) {
      std::vector<std::uint32_t> mine;
      for (std::uint32_t v : seen) {
        if (v / 3 == first / 3) mine.push_back(v);
      }
      for (std::size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(mine[i], first + i);
    }
    orders.insert(seen);
    use(seed);
    ASSERT_EQ(two_streams([](warden::stream_ref s) { s.synchronize(); }), seen)
        << "seed " << seed << " does not replay";
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{3, 4, 5, 6})) << "of others now none, now all";
  EXPECT_GT(orders.size(), 15u);
}

TEST_F(streams, wait_for_events_of_others) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    use(seed);
    auto const device = [](warden::stream_ref) { warden::buffer<char>{1}; };  // freeing waits
    ASSERT_EQ(two_streams(device, true), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  }
}

TEST_F(streams, events_wait_for_what_was_recorded) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    use(seed);
    std::uint32_t seen = 0;
    warden::event e;
    e.synchronize();  // nothing recorded
    warden::buffer<std::uint32_t> word{1};
    std::optional<warden::stream> s{std::in_place};
    word.fill_bytes(1, *s);
    warden::copy(&seen, word.data(), 1, *s);
    e.record(*s);
    s.reset();  // its work still runs
    e.synchronize();
    ASSERT_EQ(seen, 0x01010101u);
  }
}

WARDEN_KERNEL void beyond_the_arena(arguments) { simt::dynamic_shared()[0] = std::byte{0}; }

TEST_F(streams, errors_come_out_of_the_wait_and_end_what_was_enqueued) {
  warden::buffer<std::uint32_t> words{8};
  words.fill_bytes(0);
  simt::launch(&append, 1, 1, 0, {words.data(), 1}, {});
  simt::launch(&beyond_the_arena, 1, 1, 0, {}, {});
  simt::launch(&append, 1, 1, 0, {words.data(), 2}, {});
  warden::event e;
  e.record({});
  EXPECT_THROW(warden::stream_ref{}.synchronize(), warden::sim::misuse_error);
  e.synchronize();
  EXPECT_EQ(listed(words), std::vector<std::uint32_t>{1});
  // Freeing memory waits, too, and has to be silent: the next wait tells.
  simt::launch(&beyond_the_arena, 1, 1, 0, {}, {});
  { warden::buffer<char> const freed{1}; }
  EXPECT_THROW(warden::stream_ref{}.synchronize(), warden::sim::misuse_error);
  EXPECT_NO_THROW(warden::stream_ref{}.synchronize());
}

TEST_F(streams, reports_and_timers_are_of_what_has_run) {
  warden::buffer<std::uint32_t> words{8};
  words.fill_bytes(0);
  auto const kernel = +[](arguments a) { simt::fetch_add(a.words, a.value); };
  warden::timer t;
  simt::launch(kernel, 1, 10, 0, {words.data(), 1}, {});
  t.start();
  simt::launch(kernel, 1, 20, 0, {words.data(), 1}, {});
  t.stop();
  simt::launch(kernel, 1, 30, 0, {words.data(), 1}, {});
  EXPECT_EQ(t.result().global_atomics, 20u);
  EXPECT_EQ(warden::sim::last_report().counts.global_atomics, 30u);
}

TEST_F(streams, are_captured_and_replayed) {
  warden::stream s;
  warden::buffer<std::uint32_t> words{20};
  words.fill_bytes(0, s);
  std::uint32_t length = 77;
  auto const g = warden::graph::capture(s, [&] {
    EXPECT_TRUE(warden::runtime::capturing(s));
    for (std::uint32_t i = 0; i < 3; ++i) simt::launch(&append, 1, 1, 0, {words.data(), i}, s);
    warden::copy(&length, words.data(), 1, s);
  });
  EXPECT_FALSE(warden::runtime::capturing(s));
  s.synchronize();
  EXPECT_EQ(length, 77u) << "captured, not run";
  simt::launch(&append, 1, 1, 0, {words.data(), 9}, s);
  g.launch(s);
  g.launch(s);
  s.synchronize();
  EXPECT_EQ(length, 7u);
  EXPECT_EQ(listed(words), (std::vector<std::uint32_t>{9, 0, 1, 2, 0, 1, 2}));
}

TEST_F(streams, what_a_capture_forbids) {
  std::string const unsupported =
      "900: allocating 1 bytes of device memory: operation not permitted when stream is capturing";
  std::string const invalidated = "failed due to a previous error during capture";
  warden::stream s, other;
  auto const ended = [&] { return error_of([&] { warden::graph::end_capture(s); }); };
  EXPECT_THAT(ended(), HasSubstr("401: ending a capture"));
  EXPECT_THAT(error_of([] { warden::graph::begin_capture({}); }), HasSubstr("900: "));
  warden::graph::begin_capture(s);
  EXPECT_THAT(error_of([&] { warden::graph::begin_capture(s); }), HasSubstr("401: "));
  other.synchronize();
  EXPECT_EQ(ended(), "no error");

  warden::graph::begin_capture(s);
  std::string text;
  std::thread{[&] { text = ended(); }}.join();
  EXPECT_THAT(text, HasSubstr("908: ending a capture: attempt to terminate a thread-local"));
  EXPECT_EQ(ended(), "no error");

  warden::graph::begin_capture(s);
  EXPECT_THAT(error_of([] { warden::buffer<char>{1}; }), HasSubstr(unsupported));
  EXPECT_THAT(ended(), HasSubstr(invalidated));

  warden::graph::begin_capture(s);
  EXPECT_THAT(error_of([&] { s.synchronize(); }), HasSubstr("900: waiting for a stream"));
  EXPECT_THAT(error_of([&] { simt::launch(&append, 1, 1, 0, {}, s); }), HasSubstr(invalidated));
  EXPECT_THAT(ended(), HasSubstr(invalidated));

  // An exception ends a capture; and then all is as it was.
  EXPECT_THROW(warden::graph::capture(s, [] { throw 1; }), int);
  EXPECT_EQ(error_of([] { warden::buffer<char>{1}; }), "no error");
  s.synchronize();
}

TEST_F(streams, that_were_destroyed_are_refused) {
  warden::stream_ref gone;
  {
    warden::stream s;
    gone = s;
  }
  std::string const refused = "400: using a stream that was destroyed: invalid resource handle";
  EXPECT_THAT(error_of([&] { simt::launch(&append, 1, 1, 0, {}, gone); }), HasSubstr(refused));
  EXPECT_THAT(error_of([&] { gone.synchronize(); }), HasSubstr(refused));
  EXPECT_THAT(error_of([&] { warden::event{}.record(gone); }), HasSubstr(refused));
  EXPECT_THAT(error_of([&] { warden::graph::begin_capture(gone); }), HasSubstr(refused));
}

TEST_F(streams, serve_several_host_threads) {
  warden::buffer<std::uint32_t> words{2};
  words.fill_bytes(0);
  warden::stream_ref{}.synchronize();
  auto const work = [&](std::uint32_t* word) {
    for (int i = 0; i < 200; ++i) {
      warden::stream s;
      warden::buffer<std::uint32_t> own{1};
      simt::launch(
          +[](arguments a) { simt::fetch_add(a.words, a.value); }, 1, 8, 0, {word, 1}, s);
      s.synchronize();
    }
  };
  std::thread one{work, words.data()}, two{work, words.data() + 1};
  one.join();
  two.join();
  EXPECT_EQ(words.to_host(), (std::vector<std::uint32_t>{1600, 1600}));
}

TEST_F(streams, are_not_waited_for_in_device_code) {
  simt::launch(
      +[](arguments) {
        simt::launch(&append, 1, 1, 0, {}, {});
        warden::stream_ref{}.synchronize();
      },
      1, 1, 0, {}, {});
  EXPECT_THAT(test::error_of<warden::sim::misuse_error>([] { warden::stream_ref{}.synchronize(); }),
              HasSubstr("device code waits for a stream"));
}

TEST_F(streams, can_be_captured_again_after_a_capture_that_failed) {
  warden::stream s;
  warden::buffer<std::uint32_t> word{1};
  word.fill_bytes(0);
  warden::graph::begin_capture(s);
  EXPECT_THROW(warden::buffer<char>{1}, warden::cuda_error);
  EXPECT_THROW(warden::graph::end_capture(s), warden::cuda_error);
  auto const g = warden::graph::capture(s, [&] { word.fill_bytes(1, s); });
  g.launch(s);
  EXPECT_EQ(word.to_host(s)[0], 0x01010101u);
}

TEST_F(streams, end_a_loop_of_the_host) {
  warden::sim::settings few;
  few.max_host_calls = 1000;
  warden::stream s;
  warden::event e;
  warden::buffer<std::uint32_t> const words{1};
  std::vector<std::function<void()>> const calls{
      [&] { s.synchronize(); },
      [&] { e.record(s), e.synchronize(); },
      [&] { e.record(s), warden::stream_ref{}.wait_for(e); },
      [&] {
        simt::launch(
            +[](arguments a) { simt::fetch_add(a.words, 1); }, 1, 1, 0, {words.data()}, s);
      },
  };
  for (auto const& call : calls) {
    warden::sim::configure(few);
    int made = 0;
    std::string const error = test::error_of<warden::sim::misuse_error>([&] {
      for (made = 0;; ++made) call();
    });
    EXPECT_LE(made, 1000);
    EXPECT_THAT(error, HasSubstr("no end after 1000 calls of streams and events"));
    EXPECT_THAT(error, HasSubstr("(streams.cu:"));
    warden::sim::configure(few);
    for (int i = 0; i < 500; ++i) call();
  }
}

}  // namespace
