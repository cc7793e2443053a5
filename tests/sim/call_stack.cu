// SPDX-License-Identifier: Apache-2.0
// Call stacks of device code: functions with file and line, inlined ones included.

#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/sim/call_stack.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

namespace sim = warden::sim;

std::vector<void const*> addresses;
unsigned inner_line, inlined_line, outer_line;
bool volatile returned;  ///< written after each call, which is no tail call then

template <class T>
[[gnu::noinline]] void inner(T) {
  inner_line = __LINE__ + 1;
  addresses = sim::return_addresses();
  returned = true;
}
struct caller {
  [[gnu::always_inline]] void operator()() const {
    inlined_line = __LINE__ + 1;
    inner(1.5);
    returned = true;
  }
};
__global__ void outer(int) {
  outer_line = __LINE__ + 1;
  caller{}();
  returned = true;
}

std::vector<sim::frame> frames_of_launch() {
  sim::configure({});
  warden::launch(outer, 1, 1, {}, 7);
  warden::stream_ref{}.synchronize();
  return sim::frames_of(addresses);
}

TEST(call_stack, has_all_calls_from_the_kernel_on) {
  auto const frames = frames_of_launch();
  std::vector<std::string> functions;
  for (auto const& f : frames) functions.push_back(f.function);
  EXPECT_THAT(functions, testing::ElementsAre("inner", testing::HasSubstr("operator()"), "outer"));
}
TEST(call_stack, has_the_place_of_each_call) {
  auto const frames = frames_of_launch();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].line, inner_line);
  EXPECT_EQ(frames[1].line, inlined_line);
  EXPECT_EQ(frames[2].line, outer_line);
  for (auto const& f : frames) EXPECT_THAT(f.file, testing::EndsWith("call_stack.cu"));
}
TEST(call_stack, is_a_line_for_each_call) {
  std::vector<sim::frame> const frames{{"pop", "/src/queue.cu", 12}, {"work", {}, 0}};
  EXPECT_EQ(sim::to_string(frames), "\n    at pop, queue.cu:12\n    at work");
}
TEST(call_stack, names_code_of_shared_objects) {
  void const* const in_library = reinterpret_cast<char const*>(&qsort) + 1;
  auto const frames = sim::frames_of({&in_library, 1});
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_THAT(frames[0].function, testing::HasSubstr("qsort"));
}
TEST(call_stack, of_no_code_is_empty) {
  void const* const nowhere = reinterpret_cast<void const*>(16);
  EXPECT_EQ(sim::to_string(sim::frames_of({&nowhere, 1})), "");
}

}  // namespace
