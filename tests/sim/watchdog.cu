// SPDX-License-Identifier: Apache-2.0
// Loops without a scheduling point: the program ends with a message instead of hanging.

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

void watch_for(std::uint64_t seconds) {
  warden::sim::settings s;
  s.watchdog_seconds = seconds;
  warden::sim::configure(s);
}

__device__ void wait_for(unsigned const volatile* flag) {
  while (*flag == 0) {
  }
}
__global__ void wait_for_a_flag(unsigned* flag) {
  atomicAdd(flag + 1, 1u);
  wait_for(flag);
}
void run_without_end() {
  watch_for(1);
  warden::buffer<unsigned> words{2};
  words.fill_bytes(0);
  warden::launch(wait_for_a_flag, 1, 2, {}, words.data());
  warden::stream_ref{}.synchronize();
}
TEST(watchdog_death_test, ends_a_loop_by_volatile_loads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      run_without_end(), testing::ExitedWithCode(EXIT_FAILURE),
      "warden: no scheduling point for 1 s: block 0, thread [01]: runs, watchdog.cu:[0-9]+; "
      "a loop .* let it poll by __ldcg .*\n    at .*wait_for");
}
/// A forked process has no thread that watches.
TEST(watchdog_death_test, watches_a_forked_process) {
  watch_for(1);
  warden::launch(
      +[](int) {}, 1, 1, {}, 0);
  warden::stream_ref{}.synchronize();
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(run_without_end(), testing::ExitedWithCode(EXIT_FAILURE), "no scheduling point");
}

__global__ void begin_and_end(int) { std::this_thread::sleep_for(std::chrono::milliseconds{50}); }
/// Threads that begin are a sign of life, too.
TEST(watchdog, lets_threads_without_scheduling_points_run) {
  watch_for(1);
  warden::launch(begin_and_end, 1, 24, {}, 0);
  EXPECT_NO_THROW(warden::stream_ref{}.synchronize());
  warden::sim::configure({});
}

}  // namespace
