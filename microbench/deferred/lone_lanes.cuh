// SPDX-License-Identifier: Apache-2.0
// Sender with the worst control flow for sends of single threads.
#pragma once

#include "microbench/support/deferred_senders.cuh"

namespace deferred_bench {

namespace simt = warden::simt;

/// Sends one section per thread. The lanes of a warp send one by one, each alone.
template <class Ref, class Make>
WARDEN_KERNEL void send_by_lone_lanes(bench::send_arguments<Ref, Make> a) {
  simt::assume_one_dimension();
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint32_t const id = i < a.n ? a.ids[i] : 0;
  for (unsigned lane = 0; lane < simt::warp_size; ++lane) {
    if (lane == simt::lane_id() && i < a.n) a.ref.send(id, Make{}(i));
    simt::sync_warp(simt::full_warp);
  }
}
/// Sender with blocks of 256 threads.
template <class Ref, class Make>
class lone_lane_sender {
 public:
  static constexpr unsigned threads = 256;
  static constexpr std::size_t storage_bytes = 0, shared_bytes = 0;
  static warden::runtime::kernel kernel() {
    return simt::make_kernel(&send_by_lone_lanes<Ref, Make>);
  }
  void send_async(bench::send_arguments<Ref, Make> const& all) const {
    simt::launch(&send_by_lone_lanes<Ref, Make>, (all.n + threads - 1) / threads, threads, 0, all,
                 {});
  }
};

}  // namespace deferred_bench
