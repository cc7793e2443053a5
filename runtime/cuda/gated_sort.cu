// SPDX-License-Identifier: Apache-2.0
// A sort that the device may skip: a graph with a conditional node around CUB's kernels.

#include "check.hpp"

#include <warden/runtime.hpp>

#include <cuda_runtime.h>

#include <string>
#include <utility>

// CUDA has conditional nodes from 12.4 on. The kernel that sets a condition calls a function of
// CUDA's device library, which only relocatable device code can be linked with.
#if CUDART_VERSION >= 12040 && defined(__CUDACC_RDC__)
#  define WARDEN_CONDITIONAL_NODES 1
#else
#  define WARDEN_CONDITIONAL_NODES 0
#endif

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {

#if WARDEN_CONDITIONAL_NODES

namespace {

/// Sets the condition to what the gate says, and prepares the gate for the next run. One thread.
__global__ void read_gate(cudaGraphConditionalHandle condition, std::uint32_t* words) {
  std::uint32_t const is_open = words[0];
  words[1] = is_open;
  words[0] = 0;
  cudaGraphSetConditional(condition, is_open != 0 ? 1 : 0);
}

/// Lets this thread make graphs while another one captures a stream.
class relaxed_capture {
 public:
  relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  relaxed_capture(relaxed_capture const&) = delete;
  relaxed_capture& operator=(relaxed_capture const&) = delete;
  ~relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace

struct gated_sort::content {
  pair_arrays arrays{};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runnable = nullptr;

  content() = default;
  content(content const&) = delete;
  content& operator=(content const&) = delete;
  // If the graph is running, CUDA frees it when it ends.
  ~content() {
    if (runnable != nullptr) cudaGraphExecDestroy(runnable);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
};

bool gated_sort::prepare(pair_arrays const& a, unsigned bits, void* temporary,
                         std::size_t temporary_bytes, std::uint32_t* gate, stream_ref s,
                         std::source_location where) {
  if (!is_supported_ || capturing(s, where)) return false;
  if (content_ == nullptr || content_->arrays != a) {
    content_ = std::make_unique<content>();
    content_->arrays = a;
    return false;
  }
  if (content_->runnable != nullptr) return true;
  relaxed_capture const relaxed;
  auto made = std::make_unique<content>();
  made->arrays = a;
  std::string const what = "making a graph that sorts " + std::to_string(a.n) + " pairs";
  check(cudaGraphCreate(&made->graph, 0), what, where);
  cudaGraphConditionalHandle condition{};
  if (cudaGraphConditionalHandleCreate(&condition, made->graph, 0, 0) != cudaSuccess) {
    cudaGetLastError();  // the driver is older than the toolkit
    is_supported_ = false;
    return false;
  }
  cudaGraphNode_t read = nullptr, sort = nullptr;
  void* arguments[] = {&condition, &gate};
  cudaKernelNodeParams reading{};
  reading.func = reinterpret_cast<void*>(&read_gate);
  reading.gridDim = reading.blockDim = dim3{1, 1, 1};
  reading.kernelParams = arguments;
  check(cudaGraphAddKernelNode(&read, made->graph, nullptr, 0, &reading), what, where);
  cudaGraphNodeParams sorting{};
  sorting.type = cudaGraphNodeTypeConditional;
  sorting.conditional.handle = condition;
  sorting.conditional.type = cudaGraphCondTypeIf;
  sorting.conditional.size = 1;
#  if CUDART_VERSION >= 13000
  check(cudaGraphAddNode(&sort, made->graph, &read, nullptr, 1, &sorting), what, where);
#  else
  check(cudaGraphAddNode(&sort, made->graph, &read, 1, &sorting), what, where);
#  endif
  stream const own{where};
  stream_ref const captured = own;
  check(cudaStreamBeginCaptureToGraph(captured.handle(), sorting.conditional.phGraph_out[0],
                                      nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed),
        what, where);
  sort_pairs(a, bits, temporary, temporary_bytes, captured, where);
  cudaGraph_t body = nullptr;
  check(cudaStreamEndCapture(captured.handle(), &body), what, where);
  check(cudaGraphInstantiate(&made->runnable, made->graph, 0), what, where);
  content_ = std::move(made);
  return true;
}
void gated_sort::launch(stream_ref s, std::source_location where) const {
  check(cudaGraphLaunch(content_->runnable, s.handle()), "launching a graph that sorts", where);
}

#else

struct gated_sort::content {};
bool gated_sort::prepare(pair_arrays const&, unsigned, void*, std::size_t, std::uint32_t*,
                         stream_ref, std::source_location) {
  return false;
}
void gated_sort::launch(stream_ref, std::source_location) const {}

#endif

gated_sort::gated_sort() = default;
gated_sort::gated_sort(gated_sort&& other) noexcept = default;
gated_sort& gated_sort::operator=(gated_sort&& other) noexcept = default;
gated_sort::~gated_sort() = default;

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
