// SPDX-License-Identifier: Apache-2.0
// Bulk copies and the barriers that count their bytes, on the simulated device: with the profile of
// a compute capability below 9.0, as on such a GPU. See bulk_copy.cuh.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/counted_phases.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt {

inline bool has_bulk_copies() { return device::has_bulk_copies(); }
inline void fence_copies(site where = site::current()) { device::fence_copies(where); }

namespace detail {
inline void init_phases(phase_words& barrier, unsigned arrivals, site const& where) {
  if (!has_bulk_copies()) return counted::init(barrier, arrivals);
  device::init_phases(&barrier, arrivals, where);
}
inline void end_phases(phase_words& barrier, site const& where) {
  if (has_bulk_copies()) device::end_phases(&barrier, where);
}
inline void arrive_with_bytes(phase_words& barrier, unsigned bytes, site const& where) {
  if (!has_bulk_copies()) return counted::arrive(barrier);
  device::arrive(&barrier, bytes, where);
}
inline void arrive(phase_words& barrier, site const& where) {
  arrive_with_bytes(barrier, 0, where);
}
template <class Hopeful>
bool wait_for_phase(phase_words const& barrier, std::uint32_t phase, Hopeful hopeful,
                    site const& where) {
  auto const is_complete = [&] {
    return has_bulk_copies() ? device::phase_is_complete(&barrier, phase, where)
                             : counted::is_complete(barrier, phase);
  };
  return wait_until(
      is_complete, hopeful,
      [&](auto watch) { watch(has_bulk_copies() ? &barrier.arrivals : &barrier.phase); }, where);
}
inline void start_copy(void* to, void const* from, unsigned bytes, phase_words& barrier,
                       site const& where) {
  device::start_copy(to, from, bytes, &barrier, where);
}
inline void shared_store_four_words(void* to, std::uint32_t const (&words)[4], site const& where) {
  device::shared_store(to, words, sizeof(words), where);
}
}  // namespace detail

}  // namespace simt
WARDEN_NAMESPACE_END
