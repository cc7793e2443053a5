// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the time of sections on two records goes.
#pragma once

#include <warden/detail/execute/statistics.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The times that one thread has counted: what ends counts its time up, what begins counts it down,
/// whichever section it is and whoever sees the other end. When nothing is under way any more the
/// sums over all threads of all servers are the times that the sections spent. Modulo 2^64.
template <bool Counts>
class pair_times {
 public:
  /// A section came from a client to the owner of its greater lock.
  WARDEN_DEVICE void came() { sums_.first_lock_ns -= simt::nanoseconds(); }
  /// Such a section has run there.
  WARDEN_DEVICE void ran_at_once() {
    ++sums_.pairs;
    sums_.first_lock_ns += simt::nanoseconds();
  }
  /// Such a section has taken its lock along to the other owner.
  WARDEN_DEVICE void left() {
    ++sums_.pairs;
    ++sums_.apart;
    std::uint64_t const now = simt::nanoseconds();
    sums_.first_lock_ns += now;
    sums_.request_ns -= now;
  }
  /// A section has come to its other owner.
  WARDEN_DEVICE void came_to_other() {
    std::uint64_t const now = simt::nanoseconds();
    sums_.request_ns += now;
    sums_.second_lock_ns -= now;
  }
  /// Such a section has run there.
  WARDEN_DEVICE void ran() {
    std::uint64_t const now = simt::nanoseconds();
    sums_.second_lock_ns += now;
    sums_.reply_ns -= now;
  }
  /// The value came back.
  WARDEN_DEVICE void came_back() { sums_.reply_ns += simt::nanoseconds(); }

  /// When the thread has done its part.
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

/// Counts nothing.
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
