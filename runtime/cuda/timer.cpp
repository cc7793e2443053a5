// SPDX-License-Identifier: Apache-2.0
// Timers as pairs of CUDA events.

#include "check.hpp"

#include <warden/stream.hpp>

#include <cuda_runtime_api.h>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

constexpr char const* what = "timing a stream";
cudaEvent_t moment(void* mark) { return static_cast<cudaEvent_t>(mark); }

}  // namespace

timer::timer(std::source_location where) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), what, where);
  check(cudaEventCreate(&stop), what, where);
  start_ = start;
  stop_ = stop;
}
timer::~timer() {
  cudaEventDestroy(moment(start_));
  cudaEventDestroy(moment(stop_));
}
void timer::start(stream_ref s, std::source_location where) {
  check(cudaEventRecord(moment(start_), s.handle()), what, where);
}
void timer::stop(stream_ref s, std::source_location where) {
  check(cudaEventRecord(moment(stop_), s.handle()), what, where);
}
measurement timer::result(std::source_location where) const {
  check(cudaEventSynchronize(moment(stop_)), what, where);
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, moment(start_), moment(stop_)), what, where);
  measurement m;
  m.seconds = static_cast<double>(milliseconds) * 1e-3;
  return m;
}

WARDEN_HOST_NAMESPACE_END
