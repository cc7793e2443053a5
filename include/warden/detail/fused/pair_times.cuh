// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times of sections on two records.
#pragma once

#include <warden/detail/execute/statistics.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Times that one thread has counted. The end of a phase adds the current time, its begin subtracts
/// it, for any section and even if another thread counts the other end. When no section is in
/// progress, the sums over all threads of all servers are the total times of the sections. Modulo
/// 2^64.
template <bool Counts>
class pair_times {
 public:
  /// Notes that a section came from a client to the owner of its greater lock.
  WARDEN_DEVICE void came() { sums_.first_lock_ns -= simt::nanoseconds(); }
  /// Notes that such a section has run there.
  WARDEN_DEVICE void ran_at_once() {
    ++sums_.pairs;
    sums_.first_lock_ns += simt::nanoseconds();
  }
  /// Notes that such a section has taken its lock along to the other owner.
  WARDEN_DEVICE void left() {
    ++sums_.pairs;
    ++sums_.apart;
    std::uint64_t const now = simt::nanoseconds();
    sums_.first_lock_ns += now;
    sums_.request_ns -= now;
  }
  /// Notes that a section has come to its other owner.
  WARDEN_DEVICE void came_to_other() {
    std::uint64_t const now = simt::nanoseconds();
    sums_.request_ns += now;
    sums_.second_lock_ns -= now;
  }
  /// Notes that such a section has run there.
  WARDEN_DEVICE void ran() {
    std::uint64_t const now = simt::nanoseconds();
    sums_.second_lock_ns += now;
    sums_.reply_ns -= now;
  }
  /// Notes that the value came back.
  WARDEN_DEVICE void came_back() { sums_.reply_ns += simt::nanoseconds(); }

  /// Adds this thread's times to the totals. Called once, at the thread's end.
  WARDEN_DEVICE void add_to(statistics& totals) const {
    simt::fetch_add(&totals.two_records.pairs, sums_.pairs);
    simt::fetch_add(&totals.two_records.apart, sums_.apart);
    simt::fetch_add(&totals.two_records.first_lock_ns, sums_.first_lock_ns);
    simt::fetch_add(&totals.two_records.request_ns, sums_.request_ns);
    simt::fetch_add(&totals.two_records.second_lock_ns, sums_.second_lock_ns);
    simt::fetch_add(&totals.two_records.reply_ns, sums_.reply_ns);
  }

 private:
  pair_statistics sums_{};
};

/// Version that counts nothing.
template <>
class pair_times<false> {
 public:
  WARDEN_DEVICE void came() {}                     ///< nothing
  WARDEN_DEVICE void ran_at_once() {}              ///< nothing
  WARDEN_DEVICE void left() {}                     ///< nothing
  WARDEN_DEVICE void came_to_other() {}            ///< nothing
  WARDEN_DEVICE void ran() {}                      ///< nothing
  WARDEN_DEVICE void came_back() {}                ///< nothing
  WARDEN_DEVICE void add_to(statistics&) const {}  ///< nothing
};

}  // namespace detail
WARDEN_NAMESPACE_END
