// SPDX-License-Identifier: Apache-2.0
/// @file
/// Optimistic transactions, as in Silo: Tu et al., Speedy transactions in multicore in-memory
/// databases, SOSP 2013.
#pragma once

#include "apps/transactions/attempts.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

/// Versions of the rows of a transaction, an ordered set, and the locks of those that it writes. A
/// version and its lock are one word. A thread never waits while it holds a lock. All accesses are
/// relaxed; the caller's fences order them.
template <class Rows>
class row_versions {
 public:
  /// Precondition: the arguments outlive this object.
  WARDEN_DEVICE row_versions(std::uint32_t* words, Rows const& rows) : words_{words}, rows_{rows} {}

  /// Loads all versions. Returns false if any row is locked.
  WARDEN_DEVICE bool load() {
    // Here and below constant indexes keep the versions in registers, so the loads overlap.
    std::uint32_t all = 0;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (s < rows_.count) seen_[s] = simt::load_relaxed(word(s));
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (s < rows_.count) all |= seen_[s];
    }
    return (all & locked) == 0;
  }
  /// Locks the rows to write in their order. A lock is taken only in the version that was loaded.
  /// Returns false, without a lock, if a row has another one or is locked.
  WARDEN_DEVICE bool lock() {
    unsigned taken = 0;
    bool goes_on = true;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (!is_written(s) || !goes_on) continue;
      goes_on = simt::compare_exchange(word(s), seen_[s], seen_[s] | locked) == seen_[s];
      if (goes_on) taken |= 1u << s;
    }
    if (!goes_on) unlock(taken);
    return goes_on;
  }
  /// Returns true if the other rows have the versions that were loaded. Otherwise gives back the
  /// locks.
  WARDEN_DEVICE bool validate() {
    std::uint32_t changes = 0;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (s >= rows_.count || rows_.writes(s)) continue;
      std::uint32_t const now = simt::load_relaxed(word(s));  // mutation: transact-version
      changes |= now ^ seen_[s];
    }
    if (changes != 0) unlock(~0u);
    return changes == 0;
  }
  /// Raises the versions of the rows to write, and gives back the locks.
  WARDEN_DEVICE void raise() {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (!is_written(s)) continue;
      std::uint32_t const next = (seen_[s] + 1) & ~locked;  // mutation: transact-raise
      simt::store_relaxed(word(s), next);
    }
  }

 private:
  static constexpr std::uint32_t locked = 1u << 31;  ///< the other bits are the version

  WARDEN_DEVICE bool is_written(unsigned s) const { return s < rows_.count && rows_.writes(s); }
  /// Gives back the locks of the rows to write that `mask` has, which are unchanged.
  WARDEN_DEVICE void unlock(unsigned mask) {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Rows::most; ++s) {
      if (is_written(s) && (mask >> s & 1) != 0) simt::exchange(word(s), seen_[s]);
    }
  }
  WARDEN_DEVICE std::uint32_t* word(unsigned s) const { return &words_[rows_.id(s)]; }

  std::uint32_t* words_;
  Rows const& rows_;
  std::uint32_t seen_[Rows::most];
};

/// A transaction reads versions and rows without locks, locks the rows that it writes in the order
/// of ids, validates the versions of the others, writes, and raises the versions that it locked.
///
/// The serial number is a ticket, taken between the locks and the validation. Let a transaction R
/// read a row that W writes, as of before W. R's validation did not see W's lock. If R's ticket
/// were the later one, then W's lock, W's fence, both tickets and R's fence would order W's lock
/// before R's validation, which would see it. So R has the earlier ticket. Two writers of a row,
/// and a reader after a writer, are ordered by the lock.
struct optimistic {
  static constexpr char const* variant = nullptr;

  template <class Row>
  WARDEN_DEVICE static bool run(concurrent_arguments<Row> const& a, std::uint32_t i,
                                run_counts& mine) {
    transaction const t = a.all[i];
    ordered_rows const rows = order_rows(t);
    return attempt_until_done(a, rows.id(0), mine, [&] { return attempt(a, t, rows, i); });
  }

 private:
  /// Returns false if another transaction is in the way. Then no row and no version has changed.
  template <class Row>
  WARDEN_DEVICE static bool attempt(concurrent_arguments<Row> const& a, transaction const& t,
                                    ordered_rows const& rows, std::uint32_t i) {
    row_versions versions{a.words, rows};
    if (!versions.load()) return false;
    // Acquire: pairs with the last fence of the transactions that raised these versions, for the
    // rows.
    simt::fence_device();
    std::uint64_t const sum = read_rows(a, t);
    // `lock` validates the rows to write: it succeeds only in the version that was loaded. So their
    // reads need no fence before it.
    if (!versions.lock()) return false;
    // Release of the locks to transactions with later tickets, and to those that read a row which
    // `write_rows` has begun to write. Acquire for the rows that `read_rows` loaded: if a load has
    // read from a later writer, then the validation sees that writer's lock.
    simt::fence_device();
    std::uint64_t const ticket = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    // Acquire: pairs with the fence before the ticket of the transactions with earlier tickets.
    simt::fence_device();
    if (!versions.validate()) return false;
    a.serial[i] = ticket;
    a.sums[i] = sum;
    write_rows(a, t, rows, sum);
    // Release: pairs with the fence after the loads of versions, for the rows.
    simt::fence_device();
    versions.raise();
    return true;
  }
};

}  // namespace transactions
