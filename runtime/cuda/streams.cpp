// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs on CUDA.

#include "check.hpp"

#include <warden/stream.hpp>

#include <cuda_runtime_api.h>

#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

void stream_ref::synchronize(std::source_location where) const {
  check(cudaStreamSynchronize(handle_), "waiting for a stream", where);
}
void stream_ref::wait_for(event const& e, std::source_location where) const {
  check(cudaStreamWaitEvent(handle_, e.handle(), 0), "waiting for an event", where);
}

stream::stream(stream_priority priority, std::source_location where) : handle_{nullptr} {
  int usual = 0, high = 0;
  check(cudaDeviceGetStreamPriorityRange(&usual, &high), "asking for stream priorities", where);
  check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking,
                                     priority == stream_priority::high ? high : usual),
        "creating a stream", where);
}
stream::~stream() {
  if (handle_ != nullptr) cudaStreamDestroy(handle_);
}
stream::stream(stream&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
stream& stream::operator=(stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

event::event(std::source_location where) : handle_{nullptr} {
  check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "creating an event", where);
}
event::~event() {
  if (handle_ != nullptr) cudaEventDestroy(handle_);
}
event::event(event&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
event& event::operator=(event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void event::record(stream_ref s, std::source_location where) {
  check(cudaEventRecord(handle_, s.handle()), "recording an event", where);
}
void event::synchronize(std::source_location where) const {
  check(cudaEventSynchronize(handle_), "waiting for an event", where);
}

struct graph::content {
  cudaGraphExec_t runnable = nullptr;

  content() = default;
  content(content const&) = delete;
  content& operator=(content const&) = delete;
  ~content() {
    if (runnable != nullptr) cudaGraphExecDestroy(runnable);
  }
};

graph::graph(graph&& other) noexcept = default;
graph& graph::operator=(graph&& other) noexcept = default;
graph::~graph() = default;
graph::graph(std::unique_ptr<content> captured) : content_{std::move(captured)} {}

void graph::begin_capture(stream_ref s, std::source_location where) {
  check(cudaStreamBeginCapture(s.handle(), cudaStreamCaptureModeThreadLocal), "capturing a stream",
        where);
}
graph graph::end_capture(stream_ref s, std::source_location where) {
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(s.handle(), &captured), "ending a capture", where);
  auto all = std::make_unique<content>();
  cudaError_t const code = cudaGraphInstantiate(&all->runnable, captured, 0);
  cudaGraphDestroy(captured);
  check(code, "making a graph", where);
  return graph{std::move(all)};
}
void graph::abandon_capture(stream_ref s) noexcept {
  cudaGraph_t captured = nullptr;
  if (cudaStreamEndCapture(s.handle(), &captured) == cudaSuccess) {
    cudaGraphDestroy(captured);
  } else {
    cudaGetLastError();  // the error that ended it is on its way already
  }
}
void graph::launch(stream_ref s, std::source_location where) const {
  check(cudaGraphLaunch(content_->runnable, s.handle()), "launching a graph", where);
}

WARDEN_HOST_NAMESPACE_END
