// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of the platform layer in global memory, on the simulated device, and
// the steps that they share with atomics in shared memory.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/flit_words.cuh>
#include <warden/simt/sim_device.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

namespace device = sim::device;
using device::site;

namespace detail {
template <class T>
inline constexpr bool word = (sizeof(T) == 4 || sizeof(T) == 8) && std::is_trivially_copyable_v<T>;
}  // namespace detail

template <class T>
T load_relaxed(T const* address, site where = site::current()) {
  static_assert(detail::word<T>);
  T value;
  device::load(address, &value, sizeof(T), false, where);
  return value;
}
/// Races with plain stores, which is no error.
template <class T>
T load_unordered(T const* address, site where = site::current()) {
  static_assert(detail::word<T>);
  device::check_access("load", address, sizeof(T), where);
  device::unchecked_accesses const by_no_gpu;
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}
template <class T>
T load_acquire(T const* address, site where = site::current()) {
  static_assert(detail::word<T>);
  T value;
  device::load(address, &value, sizeof(T), true, where);
  return value;
}
template <class T>
void store_relaxed(T* address, std::type_identity_t<T> value, site where = site::current()) {
  static_assert(detail::word<T>);
  device::store(address, &value, sizeof(T), device::storing::relaxed, where);
}
template <class T>
void store_release(T* address, std::type_identity_t<T> value, site where = site::current()) {
  static_assert(detail::word<T>);
  device::store(address, &value, sizeof(T), device::storing::releases, where);
}
inline flit_words load_flit(flit_words const* address, site where = site::current()) {
  std::uint64_t words[2];
  device::load_pair(&address->first, words, where);
  return {words[0], words[1]};
}
/// `marked` is true if each word has a sequence tag.
inline void store_flit(flit_words* address, flit_words value, bool marked = true,
                       site where = site::current()) {
  device::store_pair(&address->first, {value.first, value.second},
                     marked ? device::storing::marked : device::storing::relaxed, where);
}
inline flit_words load_whole_flit(flit_words const* address, site where = site::current()) {
  flit_words value;
  device::load(address, &value, sizeof(value), false, where);
  return value;
}
inline void store_whole_flit(flit_words* address, flit_words value, site where = site::current()) {
  device::store(address, &value, sizeof(value), device::storing::marked, where);
}

inline void prefetch(void const*) {}
inline void load_four_words(void const* address, std::uint32_t (&words)[4],
                            site where = site::current()) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(words) != 0)
    device::misuse("16 bytes are loaded where no 16 bytes begin", where);
  for (unsigned i = 0; i < 4; ++i)
    words[i] = load_relaxed(static_cast<std::uint32_t const*>(address) + i, where);
}
template <class T>
T load_plain(T const* address, site where = site::current()) {
  static_assert(sizeof(T) <= 16 && alignof(T) == sizeof(T));
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(T) != 0)
    device::misuse(std::to_string(sizeof(T)) + " bytes are loaded where no " +
                       std::to_string(sizeof(T)) + " bytes begin",
                   where);
  device::check_access("load", address, sizeof(T), where);
  return *address;
}
inline void store_four_words(void* address, std::uint32_t const (&words)[4],
                             site where = site::current()) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(words) != 0)
    device::misuse("16 bytes are stored where no 16 bytes begin", where);
  device::check_access("store", address, sizeof(words), where);
  std::memcpy(address, words, sizeof(words));
}

namespace detail {
/// Ends an atomic that has begun: writes `change(old)`, and returns the old value.
template <class T, class Change>
T atomic(T* address, Change change) {
  static_assert(word<T>);
  T const old = *address;
  *address = change(old);
  device::end_atomic(address, sizeof(T), true);
  return old;
}
/// Exchanges the word if it equals `expected`.
template <class T>
T compare_exchange(T* address, T expected, T value) {
  static_assert(word<T>);
  T const old = *address;
  bool const same = old == expected;
  if (same) *address = value;
  device::end_atomic(address, sizeof(T), same);
  return old;
}
template <class T, class Change>
T global_atomic(T* address, site const& where, Change change) {
  device::begin_atomic(address, sizeof(T), where);
  return atomic(address, change);
}
template <class T, class Change>
T shared_atomic(T& place, site const& where, Change change) {
  device::begin_shared_atomic(&place, sizeof(T), where);
  return atomic(&place, change);
}
}  // namespace detail

template <class T>
T fetch_add(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
void add(T* address, std::type_identity_t<T> value, site where = site::current()) {
  fetch_add(address, value, where);
}
inline unsigned count_together(void const*) { return 1; }
inline std::uint64_t fetch_add_together(std::uint64_t* address, std::uint64_t value,
                                        site where = site::current()) {
  return fetch_add(address, value, where);
}
template <class T>
void add_together(T* address, std::type_identity_t<T> value, site where = site::current()) {
  fetch_add(address, value, where);
}
template <class T>
T exchange(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T) { return value; });
}
template <class T>
T compare_exchange(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                   site where = site::current()) {
  device::begin_atomic(address, sizeof(T), where);
  return detail::compare_exchange(address, expected, value);
}
template <class T>
T fetch_min(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T old) { return value < old ? value : old; });
}
template <class T>
T fetch_max(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T old) { return old < value ? value : old; });
}
template <class T>
T fetch_xor(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T old) { return old ^ value; });
}
template <class T>
T fetch_or(T* address, std::type_identity_t<T> value, site where = site::current()) {
  return detail::global_atomic(address, where, [&](T old) { return old | value; });
}

}  // namespace simt
WARDEN_NAMESPACE_END
