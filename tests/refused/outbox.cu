// SPDX-License-Identifier: Apache-2.0
// Must not compile: a thread could stage more messages than its masks have bits.

#include <warden/fused.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
using large_outbox = warden::policy<warden::options{.tuning = {.outbox_bytes_per_thread = 512}}>;

unsigned servers(std::uint32_t* records) {
  return warden::basic_guarded<large_outbox, std::uint32_t, count>{records, 1}.servers();
}
