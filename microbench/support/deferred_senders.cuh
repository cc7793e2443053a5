// SPDX-License-Identifier: Apache-2.0
// Plain kernels that defer sections whose ids lie in memory: all threads of a block together, or
// each by itself.
#pragma once

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench {

namespace simt = warden::simt;

/// Arguments of a kernel that sends operations 0 to n - 1, whose sections `make` makes.
template <class Ref, class Make>
struct to_send {
  Ref ref;
  std::uint32_t const* ids;
  std::uint32_t n;
  Make make{};
};

/// Ids that a thread loads at once: as many as the registers of three blocks of 512 threads hold,
/// which are more where sections have no data members.
template <class Ref, class Section>
inline constexpr unsigned loaded_at_once = sizeof(typename Ref::message_type) > 8
                                               ? (Ref::combines ? 2 : 4)
                                           : Ref::combines            ? 1
                                           : std::is_empty_v<Section> ? 8
                                                                      : 3;

/// All threads of a block together. Several ids, which are neighbours' all, are loaded before the
/// first is sent.
template <class Ref, class Make, unsigned Threads>
WARDEN_DEVICE void send_all(to_send<Ref, Make> const& a,
                            typename warden::deferred_block<Ref, Threads>::storage& storage) {
  warden::deferred_block<Ref, Threads> client{a.ref, storage};
  using section = decltype(a.make(0));
  constexpr unsigned at_once = loaded_at_once<Ref, section>, chunk = at_once * Threads;
  // The next ids are prefetched, if registers hold few ids and their addresses as well.
  constexpr bool prefetches = at_once <= 4;
  // 32 bits do: a run has 2^26 operations at most.
  for (std::uint32_t base = simt::block_rank() * chunk; base < a.n;
       base += simt::block_count() * chunk) {
    std::uint32_t const first = base + simt::thread_rank();
    std::uint32_t ids[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * Threads;
      ids[k] = a.ids[i < a.n ? i : 0];
      if constexpr (prefetches) {
        std::uint32_t const next = i + simt::block_count() * chunk;
        simt::prefetch(a.ids + (next < a.n ? next : 0));
      }
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * Threads;
      client.send(ids[k], a.make(i), i < a.n);
    }
  }
  client.flush();
}
/// The storage is static shared memory where that holds it, dynamic otherwise.
template <class Ref, class Make, unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 3)
    send_by_blocks(WARDEN_GRID_CONSTANT to_send<Ref, Make> const a) {
  simt::assume_one_dimension();
  using storage = typename warden::deferred_block<Ref, Threads>::storage;
  if constexpr (sizeof(storage) <= 48 << 10) {
    WARDEN_SHARED(storage, memory);
    send_all<Ref, Make, Threads>(a, memory);
  } else {
    send_all<Ref, Make, Threads>(a, *reinterpret_cast<storage*>(simt::dynamic_shared()));
  }
}
/// Sends by as many blocks as are resident together, of 512 threads.
template <class Ref, class Make>
class by_blocks {
 public:
  static constexpr unsigned threads = 512;
  /// Shared memory of a block.
  static constexpr std::size_t storage_bytes =
      sizeof(typename warden::deferred_block<Ref, threads>::storage);
  /// Dynamic part of it.
  static constexpr std::size_t shared_bytes = storage_bytes <= 48 << 10 ? 0 : storage_bytes;
  static warden::runtime::kernel kernel() {
    return simt::make_kernel(&send_by_blocks<Ref, Make, threads>);
  }
  void send_async(to_send<Ref, Make> const& all) const {
    constexpr unsigned chunk = loaded_at_once<Ref, decltype(all.make(0))> * threads;
    simt::launch(&send_by_blocks<Ref, Make, threads>,
                 std::min(resident_, (all.n + chunk - 1) / chunk), threads, shared_bytes, all, {});
  }

 private:
  unsigned resident_ =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel(), threads, shared_bytes));
};

/// One section a thread, as a kernel that was written for locks has it.
template <class Ref, class Make>
WARDEN_KERNEL void send_by_threads(to_send<Ref, Make> a) {
  simt::assume_one_dimension();
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) a.ref.send(a.ids[i], a.make(i));
}
/// Blocks of 256 threads.
template <class Ref, class Make>
class by_threads {
 public:
  static constexpr unsigned threads = 256;
  static constexpr std::size_t storage_bytes = 0, shared_bytes = 0;
  static warden::runtime::kernel kernel() { return simt::make_kernel(&send_by_threads<Ref, Make>); }
  void send_async(to_send<Ref, Make> const& all) const {
    simt::launch(&send_by_threads<Ref, Make>, (all.n + threads - 1) / threads, threads, 0, all, {});
  }
};

}  // namespace bench
