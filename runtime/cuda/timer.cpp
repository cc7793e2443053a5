// SPDX-License-Identifier: Apache-2.0
// Timers as pairs of CUDA events.

#include <warden/error.hpp>
#include <warden/timer.hpp>

#include <cuda_runtime_api.h>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  throw cuda_error{static_cast<int>(code),
                   std::string{"timing a stream: "} + cudaGetErrorString(code),
                   std::source_location::current()};
}
cudaEvent_t event(void* handle) { return static_cast<cudaEvent_t>(handle); }

}  // namespace

timer::timer() {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  start_ = start;
  stop_ = stop;
}
timer::~timer() {
  cudaEventDestroy(event(start_));
  cudaEventDestroy(event(stop_));
}
void timer::start(stream_ref s) { check(cudaEventRecord(event(start_), s.handle())); }
void timer::stop(stream_ref s) { check(cudaEventRecord(event(stop_), s.handle())); }
measurement timer::result() const {
  check(cudaEventSynchronize(event(stop_)));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event(start_), event(stop_)));
  measurement m;
  m.seconds = static_cast<double>(milliseconds) * 1e-3;
  return m;
}

WARDEN_HOST_NAMESPACE_END
