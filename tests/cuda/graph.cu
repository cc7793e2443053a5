// SPDX-License-Identifier: Apache-2.0
// Launches captured into a CUDA graph. There is nothing like it on the simulated device.

#include "tests/support/support.cuh"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

TEST(graph, a_captured_launch_can_be_replayed) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  std::uint64_t const n = 10'000;
  test::guarded_records<small> g{10, {.servers = 2}};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  warden::launch_fused(test::send_by_block<2>{n, 10}, 20, 64, stream, g.guarded);
  try {
    g.guarded.wait(stream);
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("wait: the stream is being captured into a graph"));
  }
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(g.records.to_host()[0].count, 0u) << "captured, not run";
  cudaGraphExec_t runnable;
  ASSERT_EQ(cudaGraphInstantiate(&runnable, graph, 0), cudaSuccess);
  int const replays = 20;
  for (int i = 0; i < replays; ++i) ASSERT_EQ(cudaGraphLaunch(runnable, stream), cudaSuccess);
  g.guarded.wait(stream);
  auto wanted = test::expected<2>(n, 10);
  for (auto& t : wanted) t = {replays * t.count, replays * t.sum, replays * t.mixed};
  test::expect_equal(g.records.to_host(), wanted);
  // And between replays an ordinary launch.
  warden::launch_fused(test::send_by_block<2>{n, 10}, 20, 64, stream, g.guarded);
  ASSERT_EQ(cudaGraphLaunch(runnable, stream), cudaSuccess);
  g.guarded.wait(stream);
  wanted = test::expected<2>(n, 10);
  for (auto& t : wanted)
    t = {(replays + 2) * t.count, (replays + 2) * t.sum, (replays + 2) * t.mixed};
  test::expect_equal(g.records.to_host(), wanted);
  cudaGraphExecDestroy(runnable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

/// One message, published unless the flag says otherwise.
struct publish_or_forget {
  std::uint32_t const* forget;
  __device__ void operator()(warden::client_block const& at, small::ref const& ref) const {
    if (at.global_rank() != 0) return;
    if (*forget != 0) {
      ref.channel_of(0).reserve(1);
    } else {
      small::thread_client{ref, at}.send(3, record_in<2>::of(1));
    }
  }
};

TEST(graph, a_failure_in_a_replay_is_reported) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  warden::buffer<std::uint32_t> forget{1};
  forget.fill_bytes(0);
  test::guarded_records<small> g{10, {.servers = 1, .time_limit_seconds = 0.2}};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  warden::launch_fused(publish_or_forget{forget.data()}, 2, 64, stream, g.guarded);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t runnable;
  ASSERT_EQ(cudaGraphInstantiate(&runnable, graph, 0), cudaSuccess);
  // Every time, before and after a wait that found nothing; and the graph stays usable.
  for (unsigned char const fails : {0, 1, 0, 0, 1, 1, 0}) {
    forget.fill_bytes(fails, stream);
    ASSERT_EQ(cudaGraphLaunch(runnable, stream), cudaSuccess);
    if (fails != 0) {
      EXPECT_THROW(g.guarded.wait(stream), warden::timeout_error);
    } else {
      EXPECT_NO_THROW(g.guarded.wait(stream));
    }
  }
  EXPECT_EQ(g.records.to_host()[3].count, 4u);
  cudaGraphExecDestroy(runnable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace
