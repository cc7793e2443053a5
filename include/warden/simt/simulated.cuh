// SPDX-License-Identifier: Apache-2.0
// The platform layer on the simulated device. See simt.cuh for the list of functions. Functions
// that touch memory or meet other threads are scheduling points, and record their caller's place in
// the source.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated_global.cuh>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

using device::operation;

inline constexpr unsigned full_warp = 0xffffffffu;
inline constexpr int warp_size = 32;

// ---- identity

// Blocks and grids have any dimensions; x counts first, as in the numbering of warps.
inline unsigned thread_rank() { return device::rank_of(device::here.thread, device::here.threads); }
inline unsigned block_threads() { return static_cast<unsigned>(device::here.threads.count()); }
inline unsigned lane_id() { return thread_rank() % warp_size; }
inline unsigned warp_rank() { return thread_rank() / warp_size; }
inline std::uint64_t block_shape() {
  auto const& of = device::here.threads;
  return std::uint64_t{of.z} << 32 | of.y << 16 | of.x;
}
inline unsigned block_rank() { return device::rank_of(device::here.block, device::here.blocks); }
inline unsigned block_count() { return static_cast<unsigned>(device::here.blocks.count()); }
namespace detail {
inline void demand_one_dimension(char const* what, dimensions const& of, site where) {
  if (of.x == of.count()) return;
  device::misuse(std::string{what} + " of " + std::to_string(of.x) + " x " + std::to_string(of.y) +
                     " x " + std::to_string(of.z) + " in code for one dimension",
                 where);
}
}  // namespace detail
inline void assume_linear_block(site where = site::current()) {
  detail::demand_one_dimension("a block", device::here.threads, where);
}
inline void assume_one_dimension(site where = site::current()) {
  assume_linear_block(where);
  detail::demand_one_dimension("a grid", device::here.blocks, where);
}
inline unsigned sm_id() { return device::sm_id(); }
inline unsigned unknown(unsigned value) { return value; }

// ---- block and warp collectives

inline void sync_block(site where = site::current()) {
  device::sync_block(device::barrier::plain, false, device::coming::from_anywhere, where);
}
inline bool sync_block_or(bool value, site where = site::current()) {
  return device::sync_block(device::barrier::any, value, device::coming::from_anywhere, where) != 0;
}
inline void sync_warp(unsigned mask, site where = site::current()) {
  device::warp(device::collective::sync, mask, 0, 0, device::lanes::all, where);
}
inline unsigned ballot(unsigned mask, bool value, site where = site::current()) {
  return static_cast<unsigned>(
      device::warp(device::collective::ballot, mask, value, 0, device::lanes::all, where));
}
inline bool any(unsigned mask, bool value, site where = site::current()) {
  return ballot(mask, value, where) != 0;
}

namespace detail {
template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
}  // namespace detail

template <class T>
T shuffle(unsigned mask, T value, unsigned source_lane, site where = site::current()) {
  static_assert(detail::word<T>);
  return detail::from_bits<T>(device::warp(device::collective::shuffle, mask,
                                           detail::to_bits(value), source_lane, device::lanes::all,
                                           where));
}
/// Synchronizes the lanes that run a section together. Precondition: all lanes of `mask` call it,
/// from one place of the source.
inline void group_sync(unsigned mask, site where) {
  device::warp(device::collective::sync, mask, 0, 0, device::lanes::together, where);
}
inline unsigned group_ballot(unsigned mask, bool value, site where) {
  return static_cast<unsigned>(
      device::warp(device::collective::ballot, mask, value, 0, device::lanes::together, where));
}
template <class T>
T group_shuffle(unsigned mask, T value, unsigned source_lane, site where) {
  static_assert(detail::word<T>);
  return detail::from_bits<T>(device::warp(device::collective::shuffle, mask,
                                           detail::to_bits(value), source_lane,
                                           device::lanes::together, where));
}
template <class T>
unsigned group_match(unsigned mask, T value, site where) {
  static_assert(detail::word<T>);
  return static_cast<unsigned>(device::warp(device::collective::match, mask, detail::to_bits(value),
                                            0, device::lanes::together, where));
}
/// Returns the sum of the values of a whole warp, modulo 2^32.
inline unsigned warp_sum(unsigned value, site where = site::current()) {
  for (unsigned distance = warp_size / 2; distance != 0; distance /= 2)
    value += shuffle(full_warp, value, lane_id() ^ distance, where);
  return value;
}
/// Returns the sum of 64-bit values of a whole warp, modulo 2^64.
inline std::uint64_t warp_sum(std::uint64_t value, site where = site::current()) {
  for (unsigned distance = warp_size / 2; distance != 0; distance /= 2)
    value += shuffle(full_warp, value, lane_id() ^ distance, where);
  return value;
}
/// Returns the smallest value of a whole warp.
inline unsigned warp_min(unsigned value, site where = site::current()) {
  for (unsigned distance = warp_size / 2; distance != 0; distance /= 2) {
    unsigned const other = shuffle(full_warp, value, lane_id() ^ distance, where);
    value = other < value ? other : value;
  }
  return value;
}
template <class T>
unsigned match_any(unsigned mask, T value, site where = site::current()) {
  static_assert(detail::word<T>);
  return static_cast<unsigned>(device::warp(device::collective::match, mask, detail::to_bits(value),
                                            0, device::lanes::all, where));
}
template <unsigned Limit>
unsigned match_below(unsigned mask, unsigned value, site where = site::current()) {
  return match_any(mask, value, where);
}
inline int count_bits(unsigned value) { return std::popcount(value); }
inline unsigned sum_of_bytes(unsigned word) {
  return (word & 0xffu) + (word >> 8 & 0xffu) + (word >> 16 & 0xffu) + (word >> 24);
}
inline int first_bit(unsigned value) { return value == 0 ? -1 : std::countr_zero(value); }
inline int last_bit(unsigned value) { return 31 - std::countl_zero(value); }
inline std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
}

// ---- fences

inline void fence_device(site where = site::current()) { device::fence_device(where); }
inline void fence_block(site where = site::current()) { device::fence_block(where); }

// ---- shared memory

/// A piece of the launch's shared memory; an index outside it stops the launch with an error.
template <class T>
class shared_span {
 public:
  shared_span() = default;
  shared_span(T* data, unsigned size) : data_{data}, size_{size} {}
  T& operator[](unsigned index) const { return at(index, site::current()); }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] unsigned size() const { return size_; }

 private:
  T& at(unsigned index, site const& where) const {
    device::step(operation::shared, where);
    if (index >= size_) device::outside(index, size_, where);
    return data_[index];
  }

  T* data_;
  unsigned size_;
};

inline std::byte* dynamic_shared() { return device::dynamic_shared(); }

template <class T>
T* known_shared(T* address) {
  return address;
}

/// True if an address is in the block's shared memory.
inline bool is_shared(void const* address) { return device::is_shared(address); }

template <class T>
T shared_load(T const& place, site where = site::current()) {
  T value;
  device::shared_load(&place, &value, sizeof(T), where);
  return value;
}
template <class T>
void shared_store(T& place, std::type_identity_t<T> value, site where = site::current()) {
  device::shared_store(&place, &value, sizeof(T), where);
}
template <class T>
T shared_fetch_add(T& place, std::type_identity_t<T> value, site where = site::current()) {
  return detail::shared_atomic(place, where, [&](T old) { return static_cast<T>(old + value); });
}
inline void shared_set_bits(std::uint32_t& place, std::uint32_t bits,
                            site where = site::current()) {
  detail::shared_atomic(place, where, [&](std::uint32_t old) { return old | bits; });
}
template <class T>
T shared_fetch_min(T& place, std::type_identity_t<T> value, site where = site::current()) {
  return detail::shared_atomic(place, where, [&](T old) { return value < old ? value : old; });
}
template <class T>
T shared_exchange(T& place, std::type_identity_t<T> value, site where = site::current()) {
  return detail::shared_atomic(place, where, [&](T) { return value; });
}
template <class T>
T shared_compare_exchange(T& place, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                          site where = site::current()) {
  device::begin_shared_atomic(&place, sizeof(T), where);
  return detail::compare_exchange(&place, expected, value);
}

// ---- waiting and time

inline void wait_for_previous_kernel() { device::wait_for_previous_kernel(); }

inline std::uint64_t nanoseconds() { return device::nanoseconds(); }
inline std::uint64_t cycles() { return device::nanoseconds(); }
inline void back_off(unsigned, site where = site::current()) { device::yield(where); }

/// Waits as on a GPU, but the thread sleeps until a watched word is written. Words are watched
/// before the predicate is called, so a write between that call and the sleep is not missed. Calls
/// `hopeful` when time passes because every thread sleeps.
template <class Predicate, class Hopeful, class Watch>
bool wait_until(Predicate predicate, Hopeful hopeful, Watch watch, site where = site::current()) {
  if (predicate()) return true;
  device::begin_wait();
  watch([](void const* address) { device::watch(address); });
  bool result = true;
  while (!predicate()) {
    bool const time_passed = device::sleep(where);
    if (time_passed && !hopeful()) {
      result = false;
      break;
    }
  }
  device::end_wait();
  return result;
}

// ---- operations that only the simulated device uses

/// Notes that a thread enters a section. `in_order`: earlier sections on this record happened
/// before this one, and this one before later ones. Otherwise they only exclude each other.
inline void section_enter(void const* record, bool in_order = true, site where = site::current()) {
  device::section_enter(record, in_order, 0, {}, where);
}
inline void section_leave(void const* record, bool in_order = true, site where = site::current()) {
  device::section_leave(record, in_order, 0, where);
}
/// Notes that a lane of the mask `group` enters a section that these lanes run together. Every lane
/// calls it.
inline void group_enter(unsigned group, void const* record, site where = site::current()) {
  device::section_enter(record, true, group, {}, where);
}
/// Notes the same for a record that lies at `place`. If `keeps()` is true for the first lane, the
/// section will not change the record.
template <class Record, class Keeps>
void group_enter(unsigned group, void const* record, Record const* place, Keeps keeps,
                 site where = site::current()) {
  bool const kept = [&] {
    device::unchecked_accesses const by_no_gpu;
    return keeps();
  }();
  device::section_enter(record, true, group,
                        {reinterpret_cast<std::byte const*>(place), kept ? sizeof(Record) : 0},
                        where);
}
inline void group_leave(unsigned group, void const* record, site where = site::current()) {
  device::section_leave(record, true, group, where);
}
/// Runs a section by `run()`. Stops the launch if `keeps()` was true, and the record at `place` has
/// changed.
template <class Record, class Keeps, class Run>
void run_checked(Record const* place, Keeps keeps, Run run, site where = site::current()) {
  bool const kept = [&] {
    device::unchecked_accesses const by_no_gpu;
    return keeps();
  }();
  std::array<std::byte, sizeof(Record)> before;
  if (kept) std::memcpy(before.data(), place, sizeof(Record));
  run();
  if (kept && std::memcmp(before.data(), place, sizeof(Record)) != 0)
    device::misuse("a section whose is_noop returned true has changed its record", where);
}
/// True if a no-op section is to run nevertheless, as the seed chooses.
inline bool doubts() { return device::doubts(); }
/// Notes that the caller sends a section to a record, for the element `index` of a loop. `log` and
/// `launch` tell refs apart, and `call` grows with the sends of a block. Stops the launch if the
/// order of the log is not that of the indexes.
inline void note_loop_order(void const* log, std::uint32_t launch, std::uint64_t record,
                            std::uint64_t index, std::uint64_t call, site where) {
  device::note_loop_order({log, launch, record}, index, call, where);
}
inline void begin_collective(void const* storage, site where = site::current()) {
  device::begin_collective(storage, where);
}
inline void end_collective(void const* storage) { device::end_collective(storage); }
/// Notes that the caller has written the object by plain stores.
inline void note_written(void const* object) { device::note_written(object); }
/// Stops the launch unless the stores before the last `note_written` are visible to the caller.
inline void demand_visible(void const* object, site where = site::current()) {
  device::demand_visible(object, where);
}
inline void note_reservation(std::uint64_t messages) { device::note_reservation(messages); }
inline void note_lock_retry() { device::note_lock_retry(); }

}  // namespace simt
WARDEN_NAMESPACE_END
