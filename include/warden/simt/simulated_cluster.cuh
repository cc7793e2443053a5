// SPDX-License-Identifier: Apache-2.0
// The platform layer on the simulated device: clusters of blocks. See simt.cuh for the list of
// functions.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

inline unsigned cluster_size() { return device::cluster_blocks(); }
inline unsigned cluster_rank() { return block_rank() % cluster_size(); }
inline void sync_cluster(site where = site::current()) { device::sync_cluster(where); }

namespace detail {
template <class T>
T* of_cluster(T const& own, unsigned rank, site const& where) {
  return static_cast<T*>(device::of_cluster(&own, sizeof(T), rank, where));
}
}  // namespace detail
template <class T>
T cluster_load(T const& own, unsigned rank, site where = site::current()) {
  return shared_load(*detail::of_cluster(own, rank, where), where);
}
template <class T>
void cluster_store(T& own, unsigned rank, std::type_identity_t<T> value,
                   site where = site::current()) {
  shared_store(*detail::of_cluster(own, rank, where), value, where);
}
inline void cluster_set_bits(std::uint32_t& own, unsigned rank, std::uint32_t bits,
                             site where = site::current()) {
  shared_set_bits(*detail::of_cluster(own, rank, where), bits, where);
}
inline void cluster_add(std::uint32_t& own, unsigned rank, std::uint32_t value,
                        site where = site::current()) {
  shared_fetch_add(*detail::of_cluster(own, rank, where), value, where);
}
inline std::uint32_t cluster_fetch_add(std::uint32_t& own, unsigned rank, std::uint32_t value,
                                       site where = site::current()) {
  return shared_fetch_add(*detail::of_cluster(own, rank, where), value, where);
}

}  // namespace simt
WARDEN_NAMESPACE_END
