// SPDX-License-Identifier: Apache-2.0
// Must not compile: shared memory has no place that is aligned so.

#include <warden/fused.cuh>

struct alignas(256) wide {
  unsigned n;
};
struct count {
  __device__ void operator()(wide& w, warden::no_context) const { w.n += 1; }
};
using on_chip = warden::policy<warden::options{.records = warden::placement::on_chip}>;

unsigned servers(wide* records) {
  return warden::basic_guarded<on_chip, wide, count>{records, 1}.servers();
}
