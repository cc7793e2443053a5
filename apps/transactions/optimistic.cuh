// SPDX-License-Identifier: Apache-2.0
/// @file
/// Optimistic transactions, as in Silo: Tu et al., Speedy transactions in multicore in-memory
/// databases, SOSP 2013.
#pragma once

#include "apps/transactions/attempts.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

/// A transaction reads versions and rows without locks, locks the rows that it writes in the order
/// of ids, validates the versions of the others, writes, and raises the versions that it locked. A
/// thread never waits while it holds a lock.
///
/// The serial number is a ticket, taken between the locks and the validation. Let a transaction R
/// read a row that W writes, as of before W. R's validation did not see W's lock. If R's ticket
/// were the later one, then W's lock, W's fence, both tickets and R's fence would order W's lock
/// before R's validation, which would see it. So R has the earlier ticket. Two writers of a row,
/// and a reader after a writer, are ordered by the lock.
struct optimistic {
  static constexpr bool can_yield = false;

  template <class Row>
  WARDEN_DEVICE static bool run(concurrent_arguments<Row> const& a, std::uint32_t i,
                                run_counts& mine) {
    return attempt_until_done(a, i, mine, [&](transaction const& t, ordered_rows const& rows) {
      return attempt(a, t, rows, i);
    });
  }

 private:
  static constexpr std::uint32_t locked = 1u << 31;  ///< the other bits are the version

  /// Returns false if another transaction is in the way. Then no row and no version has changed.
  template <class Row>
  WARDEN_DEVICE static bool attempt(concurrent_arguments<Row> const& a, transaction const& t,
                                    ordered_rows const& rows, std::uint32_t i) {
    std::uint32_t versions[operations];
    for (unsigned s = 0; s < rows.count; ++s) versions[s] = simt::load_relaxed(version(a, rows, s));
    for (unsigned s = 0; s < rows.count; ++s)
      if ((versions[s] & locked) != 0) return false;
    // Acquire: pairs with the fence in `commit` of the transactions that raised these versions, for
    // the rows.
    simt::fence_device();
    std::uint64_t const sum = read_rows(a, t);
    // A lock is taken only in the version that was read, so it validates the row too. Reads of the
    // row need no fence before it: while the lock is held, the row is that of this version.
    for (unsigned s = 0; s < rows.count; ++s) {
      if (!rows.writes(s)) continue;
      if (simt::compare_exchange(version(a, rows, s), versions[s], versions[s] | locked) ==
          versions[s])
        continue;
      unlock(a, rows, versions, s);
      return false;
    }
    // Release of the locks to transactions with later tickets, and to those that read a row which
    // `commit` has begun to write. Acquire for the rows that `read_rows` loaded: if a load has read
    // from a later writer, then the validation sees that writer's lock.
    simt::fence_device();
    std::uint64_t const ticket = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    // Acquire: pairs with the fence before the ticket of the transactions with earlier tickets.
    simt::fence_device();
    for (unsigned s = 0; s < rows.count; ++s) {
      if (rows.writes(s)) continue;
      std::uint32_t const now =
          simt::load_relaxed(version(a, rows, s));  // mutation: transact-version
      if (now == versions[s]) continue;
      unlock(a, rows, versions, rows.count);
      return false;
    }
    a.serial[i] = ticket;
    a.sums[i] = sum;
    commit(a, t, rows, versions, sum);
    return true;
  }
  template <class Row>
  WARDEN_DEVICE static void commit(concurrent_arguments<Row> const& a, transaction const& t,
                                   ordered_rows const& rows,
                                   std::uint32_t const (&versions)[operations], std::uint64_t sum) {
    write_rows(a, t, rows, sum);
    // Release: pairs with the fence after the loads of versions, for the rows.
    simt::fence_device();
    for (unsigned s = 0; s < rows.count; ++s) {
      if (!rows.writes(s)) continue;
      std::uint32_t const next = (versions[s] + 1) & ~locked;  // mutation: transact-raise
      simt::store_relaxed(version(a, rows, s), next);
    }
  }
  /// Gives back the locks of the first `count` rows, which are unchanged.
  template <class Row>
  WARDEN_DEVICE static void unlock(concurrent_arguments<Row> const& a, ordered_rows const& rows,
                                   std::uint32_t const (&versions)[operations], unsigned count) {
    for (unsigned s = 0; s < count; ++s)
      if (rows.writes(s)) simt::exchange(version(a, rows, s), versions[s]);
  }
  template <class Row>
  WARDEN_DEVICE static std::uint32_t* version(concurrent_arguments<Row> const& a,
                                              ordered_rows const& rows, unsigned s) {
    return &a.words[rows.id(s)];
  }
};

}  // namespace transactions
