// SPDX-License-Identifier: Apache-2.0
// A function of send_async that does not say to which record its section goes.
#include <warden/deferred.cuh>

struct add {
  int amount;
  __device__ void operator()(int& sum) const { sum += amount; }
};
struct one {
  __device__ add operator()(std::uint64_t) const { return {1}; }
};

void send(warden::deferred<warden::policy<>, int, add>& log) { warden::send_async(log, 10, one{}); }
