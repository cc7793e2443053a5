// SPDX-License-Identifier: Apache-2.0
// Plain kernels that defer sections, with record ids from memory. The threads of a block send
// together, or each thread sends alone.
#pragma once

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench {

namespace simt = warden::simt;

/// Arguments of a kernel that sends operations 0 to n - 1. `make(i)` returns the section of
/// operation i.
template <class Ref, class Make>
struct send_arguments {
  Ref ref;
  std::uint32_t const* ids;
  std::uint32_t n;
  Make make{};
};

/// Number of ids that a thread loads at once: as many as the registers of 3 blocks of 512 threads
/// hold. Sections without data members leave room for more.
template <class Ref, class Section>
inline constexpr unsigned loaded_at_once = sizeof(typename Ref::message_type) > 8
                                               ? (Ref::combines ? 2 : 4)
                                           : Ref::combines            ? 1
                                           : std::is_empty_v<Section> ? 8
                                                                      : 3;

/// Sends by all threads of a block together. Each thread loads several ids before it sends the
/// first; adjacent threads load adjacent ids.
template <class Client, class Ref, class Make, unsigned Threads>
WARDEN_DEVICE void send_all(send_arguments<Ref, Make> const& a, typename Client::storage& storage) {
  Client client{a.ref, storage};
  using section = decltype(a.make(0));
  constexpr unsigned at_once = loaded_at_once<Ref, section>, chunk = at_once * Threads;
  // Prefetches the next ids if few are loaded at once. 4 in flight are enough: a prefetch in
  // addition made sending and running slower (docs/lab-notes/deferred.md).
  constexpr bool prefetches = at_once < 4;
  // 32 bits suffice: a repetition has at most 2^26 operations.
  for (std::uint32_t base = simt::block_rank() * chunk; base < a.n;
       base += simt::block_count() * chunk) {
    std::uint32_t const first = base + simt::thread_rank();
    std::uint32_t ids[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * Threads;
      std::uint32_t const at = i < a.n ? i : 0;
      ids[k] = a.ids[at];
      if constexpr (prefetches) {
        // After the last ids the same line again. If all warps prefetched the first line, they
        // would wait for it one after another.
        std::uint32_t const next = i + simt::block_count() * chunk;
        simt::prefetch(a.ids + (next < a.n ? next : at));
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
/// Keeps the storage, of up to `Bytes`, in static shared memory if it fits, in dynamic shared
/// memory otherwise.
template <class Ref, class Make, unsigned Threads, std::size_t Bytes>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1536 / Threads)
    send_by_blocks(WARDEN_GRID_CONSTANT send_arguments<Ref, Make> const a) {
  simt::assume_one_dimension();
  using client = warden::deferred_block<Ref, Threads, Bytes>;
  using storage = typename client::storage;
  if constexpr (sizeof(storage) <= 48 << 10) {
    WARDEN_SHARED(storage, memory);
    send_all<client, Ref, Make, Threads>(a, memory);
  } else {
    send_all<client, Ref, Make, Threads>(a, *reinterpret_cast<storage*>(simt::dynamic_shared()));
  }
}
/// Threads of a block of such senders.
inline constexpr unsigned block_sender_threads = 512;
/// Sender with blocks of `Threads` threads, as many as are resident together, with storage of up to
/// `Bytes`.
template <class Ref, class Make, unsigned Threads, std::size_t Bytes>
class block_sender_with {
 public:
  static constexpr unsigned threads = Threads;
  /// Shared memory of a block.
  static constexpr std::size_t storage_bytes =
      sizeof(typename warden::deferred_block<Ref, threads, Bytes>::storage);
  /// Dynamic shared memory of a block.
  static constexpr std::size_t shared_bytes = storage_bytes <= 48 << 10 ? 0 : storage_bytes;
  static warden::runtime::kernel kernel() {
    return simt::make_kernel(&send_by_blocks<Ref, Make, threads, Bytes>);
  }
  void send_async(send_arguments<Ref, Make> const& all) const {
    constexpr unsigned chunk = loaded_at_once<Ref, decltype(all.make(0))> * threads;
    simt::launch(&send_by_blocks<Ref, Make, threads, Bytes>,
                 std::min(resident_, (all.n + chunk - 1) / chunk), threads, shared_bytes, all, {});
  }

 private:
  unsigned resident_ =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel(), threads, shared_bytes));
};

/// Sender with batches that are as large as possible.
template <class Ref, class Make>
using block_sender = block_sender_with<Ref, Make, block_sender_threads,
                                       warden::dynamic_storage_bytes<Ref, block_sender_threads>>;
/// Sends one section per thread, like a kernel that was written for locks.
template <class Ref, class Make>
WARDEN_KERNEL void send_by_threads(send_arguments<Ref, Make> a) {
  simt::assume_one_dimension();
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) a.ref.send(a.ids[i], a.make(i));
}
/// Sender with blocks of 256 threads, each of which sends alone.
template <class Ref, class Make>
class thread_sender {
 public:
  static constexpr unsigned threads = 256;
  static constexpr std::size_t storage_bytes = 0, shared_bytes = 0;
  static warden::runtime::kernel kernel() { return simt::make_kernel(&send_by_threads<Ref, Make>); }
  void send_async(send_arguments<Ref, Make> const& all) const {
    simt::launch(&send_by_threads<Ref, Make>, (all.n + threads - 1) / threads, threads, 0, all, {});
  }
};

}  // namespace bench
