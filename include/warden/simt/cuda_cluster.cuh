// SPDX-License-Identifier: Apache-2.0
// The platform layer on a CUDA GPU: clusters of blocks. See simt.cuh for the list of functions.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/cuda.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

#if __CUDA_ARCH__ >= 900
WARDEN_DEVICE unsigned cluster_size() {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
WARDEN_DEVICE unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// A block barrier makes the writes of the block's threads visible to its first thread, whose fence
/// releases them before it arrives. A fence of each thread, as part of an arrival that releases,
/// takes several times as long.
WARDEN_DEVICE void sync_cluster() {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile(
      "barrier.cluster.arrive.relaxed;\n\t"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}

// Accesses to the same place in a block of the cluster, which may be the caller's. The block that
// has a word that several blocks change uses these functions, too.
namespace detail {
WARDEN_DEVICE unsigned in_shared(void const* own) {
  return static_cast<unsigned>(__cvta_generic_to_shared(own));
}
WARDEN_DEVICE unsigned of_cluster(void const* own, unsigned rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(in_shared(own)), "r"(rank));
  return address;
}
}  // namespace detail
template <class T>
WARDEN_DEVICE T cluster_load(T const& own, unsigned rank) {
  static_assert(detail::word<T>);
  if (rank == cluster_rank()) return shared_load(own);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t v;
    asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];"
                 : "=r"(v)
                 : "r"(detail::of_cluster(&own, rank))
                 : "memory");
    return detail::bits<T>(v);
  } else {
    std::uint64_t v;
    asm volatile("ld.relaxed.cluster.shared::cluster.u64 %0, [%1];"
                 : "=l"(v)
                 : "r"(detail::of_cluster(&own, rank))
                 : "memory");
    return detail::bits<T>(v);
  }
}
template <class T>
WARDEN_DEVICE void cluster_store(T& own, unsigned rank, std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    asm volatile(
        "st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(detail::of_cluster(&own, rank)),
        "r"(detail::bits<std::uint32_t>(value))
        : "memory");
  } else {
    asm volatile(
        "st.relaxed.cluster.shared::cluster.u64 [%0], %1;" ::"r"(detail::of_cluster(&own, rank)),
        "l"(detail::bits<std::uint64_t>(value))
        : "memory");
  }
}
WARDEN_DEVICE void cluster_add(std::uint32_t& own, unsigned rank, std::uint32_t value) {
  if (rank == cluster_rank()) {
    asm volatile("red.relaxed.cluster.shared::cta.add.u32 [%0], %1;" ::"r"(detail::in_shared(&own)),
                 "r"(value)
                 : "memory");
  } else {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(
                     detail::of_cluster(&own, rank)),
                 "r"(value)
                 : "memory");
  }
}
WARDEN_DEVICE void cluster_set_bits(std::uint32_t& own, unsigned rank, std::uint32_t bits) {
  if (rank == cluster_rank()) {
    asm volatile("red.relaxed.cluster.shared::cta.or.b32 [%0], %1;" ::"r"(detail::in_shared(&own)),
                 "r"(bits)
                 : "memory");
  } else {
    asm volatile("red.relaxed.cluster.shared::cluster.or.b32 [%0], %1;" ::"r"(
                     detail::of_cluster(&own, rank)),
                 "r"(bits)
                 : "memory");
  }
}
WARDEN_DEVICE std::uint32_t cluster_fetch_add(std::uint32_t& own, unsigned rank,
                                              std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(detail::of_cluster(&own, rank)), "r"(value)
               : "memory");
  return old;
}

#else  // each block is a cluster by itself
WARDEN_DEVICE unsigned cluster_size() { return 1; }
WARDEN_DEVICE unsigned cluster_rank() { return 0; }
WARDEN_DEVICE void sync_cluster() { __syncthreads(); }

template <class T>
WARDEN_DEVICE T cluster_load(T const& own, unsigned) {
  return shared_load(own);
}
template <class T>
WARDEN_DEVICE void cluster_store(T& own, unsigned, std::type_identity_t<T> value) {
  shared_store(own, value);
}
WARDEN_DEVICE void cluster_add(std::uint32_t& own, unsigned, std::uint32_t value) {
  shared_fetch_add(own, value);
}
WARDEN_DEVICE void cluster_set_bits(std::uint32_t& own, unsigned, std::uint32_t bits) {
  shared_set_bits(own, bits);
}
WARDEN_DEVICE std::uint32_t cluster_fetch_add(std::uint32_t& own, unsigned, std::uint32_t value) {
  return shared_fetch_add(own, value);
}
#endif

}  // namespace simt
WARDEN_NAMESPACE_END
