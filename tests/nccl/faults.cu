// SPDX-License-Identifier: Apache-2.0
// Ranks with a GPU each, the last of which fails: as processes, or as threads of one process. The
// calls of all others end within their time limit, and so do the destructors after them.

#include "tests/nccl/process_rank.hpp"
#include "tests/protocol/spread.cuh"

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>

#include <gmock/gmock.h>
#include <nccl.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using bench = spreading::rank_bench<deferring::small_blocks<>>;
using spreading::told;
using testing::HasSubstr;

constexpr std::uint32_t keys = 3000, n = 100'000;
/// Seconds that a call may take in addition to its limit, until NCCL has ended.
constexpr double margin = 15;

[[nodiscard]] double seconds_of(std::function<void()> const& action) {
  auto const begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
void sleep_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
}
bool is_last(warden::communicator const& world) { return world.rank() + 1 == world.size(); }

/// Each rank does this with a communicator of its own, which the library owns.
void on_each(double limit, spreading::body const& of_each) {
  warden::communicator_options const chosen{.time_limit_seconds = limit, .owned = true};
  if (test::process_rank* const mine = test::process_rank::of_job()) {
    of_each(warden::communicator{mine->make(mine->size(), false), chosen});
  } else if (int const gpus = warden::runtime::device_count(); gpus > 1) {
    EXPECT_EQ(told([&] { warden::run_on_gpus(gpus, of_each, chosen); }), "");
  } else {
    GTEST_SKIP() << "there are not 2 GPUs";
  }
}

/// One rank's records and log.
class worker {
 public:
  explicit worker(warden::communicator const& world)
      : bench_{world, keys}, later_{bench_.on(), n} {}
  void run() {
    bench_.send_alone(later_, 0, n);
    later_.run();
    bench_.on().wait();
  }
  /// Some call of the next runs fails in time, and every one after that at once.
  std::string expect_error(double limit, std::string const& words) {
    std::string text;
    double const took = seconds_of([&] { text = told([&] { run(); }); });
    EXPECT_THAT(text, testing::ContainsRegex(words));
    EXPECT_LT(took, limit + margin);
    EXPECT_LT(seconds_of([&] { EXPECT_NE(told([&] { later_.run(); }), ""); }), 1);
    EXPECT_LT(seconds_of([&] { EXPECT_NE(told([&] { bench_.on().wait(); }), ""); }), 1);
    return text;
  }

 private:
  bench bench_;
  warden::deferred<bench::guarded::policy, deferring::entry, deferring::add<1>, deferring::tick>
      later_;
};
/// The destructors end in time, too.
void destroy(std::optional<worker>& one) {
  EXPECT_LT(seconds_of([&] { one.reset(); }), margin);
}

constexpr char const* any_end =
    "no end within|remote process|system error|internal error|another rank has failed|has failed";

/// The last process ends by SIGKILL in the midst of its runs; processes.py expects that.
TEST(nccl_faults, a_killed_process_ends_the_runs_of_the_others) {
  test::process_rank* const mine = test::process_rank::of_job();
  if (mine == nullptr || mine->size() < 2) GTEST_SKIP() << "a job of one process";
  constexpr double limit = 10;
  on_each(limit, [](warden::communicator const& world) {
    std::optional<worker> one{world};
    for (int k = 0; k < 3; ++k) one->run();
    std::thread killer;
    if (is_last(world)) {
      killer = std::thread{[] {
        sleep_seconds(0.03);
        kill(getpid(), SIGKILL);
      }};
    }
    std::string text;
    double took = 0;
    while (text.empty()) took = seconds_of([&] { text = told([&] { one->run(); }); });
    if (killer.joinable()) killer.join();
    EXPECT_THAT(text, testing::ContainsRegex(any_end));
    EXPECT_LT(took, limit + margin);
    one->expect_error(0, "the communicator has failed: ");
    destroy(one);
  });
}

TEST(nccl_faults_alive, a_rank_that_is_late_by_30_s_is_waited_for) {
  on_each(90, [](warden::communicator const& world) {
    worker one{world};
    one.run();
    if (is_last(world)) sleep_seconds(30);
    EXPECT_EQ(told([&] { one.run(); }), "");
  });
}
TEST(nccl_faults_alive, a_rank_that_is_later_than_the_limit_ends_the_runs_of_the_others) {
  constexpr double limit = 5;
  on_each(limit, [](warden::communicator const& world) {
    std::optional<worker> one{world};
    one->run();
    if (is_last(world)) sleep_seconds(30);
    // If several threads wait, the first one that reaches its limit ends the waits of the others.
    bool const threads = test::process_rank::of_job() == nullptr;
    bool const alone = !is_last(world) && (!threads || world.size() == 2);
    std::string const text =
        one->expect_error(limit, alone ? "no end within 5 s of a gathering" : any_end);
    if (threads && alone) EXPECT_THAT(text, HasSubstr("rank 1;"));
    destroy(one);
  });
}
TEST(nccl_faults_alive, a_rank_that_aborts_ends_the_runs_of_the_others) {
  constexpr double limit = 10;
  on_each(limit, [](warden::communicator const& world) {
    std::optional<worker> one{world};
    one->run();
    if (is_last(world)) {
      // While it waits for the others.
      std::thread aborter{[&] {
        sleep_seconds(1);
        world.abort();
      }};
      EXPECT_LT(seconds_of([&] { one->expect_error(limit, "aborted by this rank"); }), 5);
      aborter.join();
    } else {
      sleep_seconds(3);
      one->expect_error(limit, any_end);
    }
    destroy(one);
  });
}
TEST(nccl_faults_alive, a_gpu_without_memory_ends_the_calls_of_the_other_ranks) {
  constexpr double limit = 10;
  on_each(limit, [](warden::communicator const& world) {
    std::optional<bench> b{std::in_place, world, keys};
    std::vector<warden::buffer<std::byte>> taken;
    for (std::size_t bytes = std::size_t{1} << 40; is_last(world) && bytes >= 1 << 20;) {
      if (told([&] { taken.emplace_back(bytes); }) != "") bytes /= 2;
    }
    std::string text;
    double const took = seconds_of([&] {
      text = told([&] { warden::deferred{b->on(), std::size_t{1} << 24}; });
    });
    EXPECT_THAT(text, testing::ContainsRegex(is_last(world) ? "out of memory" : any_end));
    EXPECT_LT(took, limit + margin);
    // Acts like a program that ends after the error.
    if (is_last(world)) world.abort();
    EXPECT_LT(seconds_of([&] { b.reset(); }), margin);
  });
}

}  // namespace
