// SPDX-License-Identifier: Apache-2.0
// Bulk copies and the barriers that count their bytes, on a CUDA GPU. See bulk_copy.cuh. Sections
// are those of the PTX ISA 8.0, which CUDA 12.0 has; `cuda::ptx` needs a newer CUDA.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/counted_phases.cuh>
#include <warden/simt/cuda_cluster.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt {

#if __CUDA_ARCH__ >= 900
WARDEN_DEVICE bool has_bulk_copies() { return true; }

/// "membar/fence", `.proxy`: orders accesses by the generic proxy before those by the async proxy,
/// in global and in shared memory.
WARDEN_DEVICE void fence_copies(site = {}) { asm volatile("fence.proxy.async;" ::: "memory"); }

namespace detail {
// "Parallel Synchronization and Communication Instructions: mbarrier".
WARDEN_DEVICE void init_phases(phase_words& barrier, unsigned arrivals, site) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(in_shared(&barrier)), "r"(arrivals)
               : "memory");
}
WARDEN_DEVICE void end_phases(phase_words& barrier, site) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(in_shared(&barrier)) : "memory");
}
/// Releases at the scope of the block, by default.
WARDEN_DEVICE void arrive(phase_words& barrier, site) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(in_shared(&barrier)) : "memory");
}
/// The bytes are expected before the arrival counts, so the phase cannot end between the two.
WARDEN_DEVICE void arrive_with_bytes(phase_words& barrier, unsigned bytes, site) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(&barrier)),
               "r"(bytes)
               : "memory");
}
/// Acquires at the scope of the block, by default. Sleeps for a time that the GPU chooses.
WARDEN_DEVICE bool phase_is_complete(phase_words const& barrier, std::uint32_t phase) {
  unsigned complete;
  asm volatile(
      "{\n\t"
      ".reg .pred complete;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, complete;\n\t"
      "}"
      : "=r"(complete)
      : "r"(in_shared(&barrier)), "r"(phase & 1)
      : "memory");
  return complete != 0;
}
/// "cp.async.bulk": the destination of the block itself is part of its cluster's.
WARDEN_DEVICE void start_copy(void* to, void const* from, unsigned bytes, phase_words& barrier,
                              site) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(in_shared(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(in_shared(&barrier))
      : "memory");
}
}  // namespace detail

#else
WARDEN_DEVICE bool has_bulk_copies() { return false; }
WARDEN_DEVICE void fence_copies(site = {}) {}

namespace detail {
WARDEN_DEVICE void init_phases(phase_words& barrier, unsigned arrivals, site) {
  counted::init(barrier, arrivals);
}
WARDEN_DEVICE void end_phases(phase_words&, site) {}
WARDEN_DEVICE void arrive(phase_words& barrier, site) { counted::arrive(barrier); }
WARDEN_DEVICE void arrive_with_bytes(phase_words& barrier, unsigned, site) {
  counted::arrive(barrier);
}
WARDEN_DEVICE bool phase_is_complete(phase_words const& barrier, std::uint32_t phase) {
  return counted::is_complete(barrier, phase);
}
WARDEN_DEVICE void start_copy(void*, void const*, unsigned, phase_words&, site) {}
}  // namespace detail
#endif

namespace detail {
template <class Hopeful>
WARDEN_DEVICE bool wait_for_phase(phase_words const& barrier, std::uint32_t phase, Hopeful hopeful,
                                  site) {
  return wait_until([&] { return phase_is_complete(barrier, phase); }, hopeful, [](auto) {});
}
/// One 16-byte store to shared memory.
WARDEN_DEVICE void shared_store_four_words(void* to, std::uint32_t const (&words)[4], site) {
  asm volatile("st.shared::cta.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}
}  // namespace detail

}  // namespace simt
WARDEN_NAMESPACE_END
