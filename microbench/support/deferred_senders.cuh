// SPDX-License-Identifier: Apache-2.0
// Plain kernels that defer sections whose ids lie in memory: all threads of a block together, or
// each by itself.
#pragma once

#include <warden/deferred.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bench {

namespace simt = warden::simt;

/// What a kernel that sends is given: operations 0 to n - 1, whose sections are made by `Make`.
template <class Ref, class Make>
struct to_send {
  Ref ref;
  std::uint32_t const* ids;
  std::uint32_t n;
};

/// All threads of a block together. Several ids are loaded before the first is sent; unrolled over
/// a batch, so that the client's flush stands in the code once.
template <class Ref, class Make, unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 3) send_by_blocks(to_send<Ref, Make> a) {
  using block = warden::deferred_block<Ref, Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  // All of a batch would not fit the registers of three blocks.
  constexpr unsigned rounds = block::rounds, at_once = (rounds + 1) / 2;
  // 32 bits do: a run has 2^26 operations at most.
  std::uint32_t const step = simt::block_count() * Threads;
  for (std::uint32_t base = simt::block_rank() * Threads; base < a.n; base += rounds * step) {
    std::uint32_t const first = base + simt::thread_rank();
    WARDEN_UNROLL
    for (unsigned begin = 0; begin < rounds; begin += at_once) {
      std::uint32_t ids[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const i = first + (begin + k) * step;
        ids[k] = a.ids[i < a.n ? i : 0];
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once && begin + k < rounds; ++k) {
        std::uint32_t const i = first + (begin + k) * step;
        client.send(ids[k], Make{}(i), i < a.n);
      }
    }
  }
  client.flush();
}
/// As many blocks as are resident together, of 512 threads.
template <class Ref, class Make>
class by_blocks {
 public:
  static constexpr unsigned threads = 512;
  static constexpr std::size_t shared_bytes =
      sizeof(typename warden::deferred_block<Ref, threads>::storage);
  static warden::runtime::kernel kernel() {
    return simt::make_kernel(&send_by_blocks<Ref, Make, threads>);
  }
  void send_async(to_send<Ref, Make> const& all) const {
    simt::launch(&send_by_blocks<Ref, Make, threads>,
                 std::min(resident_, (all.n + threads - 1) / threads), threads, shared_bytes, all,
                 {});
  }

 private:
  unsigned resident_ =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel(), threads, shared_bytes));
};

/// One section a thread, as a kernel that was written for locks has it.
template <class Ref, class Make>
WARDEN_KERNEL void send_by_threads(to_send<Ref, Make> a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) a.ref.send(a.ids[i], Make{}(i));
}
/// Blocks of 256 threads.
template <class Ref, class Make>
class by_threads {
 public:
  static constexpr unsigned threads = 256;
  static constexpr std::size_t shared_bytes = 0;
  static warden::runtime::kernel kernel() { return simt::make_kernel(&send_by_threads<Ref, Make>); }
  void send_async(to_send<Ref, Make> const& all) const {
    simt::launch(&send_by_threads<Ref, Make>, (all.n + threads - 1) / threads, threads, 0, all, {});
  }
};

}  // namespace bench
