// SPDX-License-Identifier: Apache-2.0
/// @file
/// Optimistic transactions that compute their time from their rows, as in TicToc: Yu et al.,
/// TicToc: Time traveling optimistic concurrency control, SIGMOD 2016.
#pragma once

#include "apps/transactions/attempts.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

/// The times of a row in one word: when its value was written, and until when it was read. Both
/// grow. The word has a lock, too.
class row_times {
 public:
  static constexpr unsigned time_bits = 38;
  static constexpr std::uint64_t most_span = (std::uint64_t{1} << (63 - time_bits)) - 1;

  explicit WARDEN_HOST_DEVICE row_times(std::uint64_t word) : word_{word} {}

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t word() const { return word_; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t written() const {
    return word_ & ((std::uint64_t{1} << time_bits) - 1);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t read() const {
    return written() + (word_ >> time_bits & most_span);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_locked() const { return (word_ & lock) != 0; }
  [[nodiscard]] WARDEN_HOST_DEVICE row_times locked() const { return row_times{word_ | lock}; }
  /// Returns the times of the same value after a read at `time`. A span that does not fit moves
  /// `written()` forward. Readers of the value then start again although it has not changed.
  /// Precondition: `time` is above `read()`.
  [[nodiscard]] WARDEN_HOST_DEVICE row_times read_at(std::uint64_t time) const {
    std::uint64_t const span = (time - written()) & most_span;
    return row_times{span << time_bits | (time - span)};
  }
  /// True if the row had the same value at the times of `other`, and no thread has the lock.
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_unchanged(row_times other) const {
    return !is_locked() && written() == other.written();
  }

 private:
  static constexpr std::uint64_t lock = std::uint64_t{1} << 63;

  std::uint64_t word_;
};

/// A transaction reads times and rows without locks, locks the rows that it writes in the order of
/// ids, and computes its own time: at least that of each value that it read, and above the last
/// read of each row that it writes. Values that it only read must be valid until then. It raises
/// their read times accordingly. A thread never waits while it holds a lock.
///
/// The serial order is that of these times. A transaction that overwrites a value has a time above
/// those of all transactions that read the value. A transaction that reads a value may have the
/// time of the transaction that wrote it. Then the tickets order them: the writer takes its own
/// before it unlocks the row, and the reader after it has seen the row unlocked.
struct tictoc {
  static constexpr char const* variant = nullptr;

  template <class Row>
  WARDEN_DEVICE static bool run(concurrent_arguments<Row> const& a, std::uint32_t i,
                                run_counts& mine) {
    transaction const t = a.all[i];
    ordered_rows const rows = order_rows(t);
    return attempt_until_done(a, rows.id(0), mine, [&] { return attempt(a, t, rows, i); });
  }

 private:
  /// Bits of the ticket in a serial number. Only transactions that commit take tickets.
  static constexpr unsigned ticket_bits = 64 - row_times::time_bits;

  /// Returns false if another transaction is in the way. Then no row has changed.
  template <class Row>
  WARDEN_DEVICE static bool attempt(concurrent_arguments<Row> const& a, transaction const& t,
                                    ordered_rows const& rows, std::uint32_t i) {
    // Constant indexes keep the times in registers, so the loads overlap.
    std::uint64_t seen[operations], all = 0;
    WARDEN_UNROLL
    for (unsigned s = 0; s < operations; ++s) {
      if (s < rows.count) seen[s] = simt::load_relaxed(times(a, rows, s));
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < operations; ++s) {
      if (s < rows.count) all |= seen[s];
    }
    if (row_times{all}.is_locked()) return false;
    // Acquire: pairs with the fence in `commit` of the transactions that wrote these times, for the
    // rows and for the order of tickets.
    simt::fence_device();
    std::uint64_t const sum = read_rows(a, t);
    // Acquire: pairs with the fence after the locks of later writers. If a load of a row has read
    // from one of them, then the second load of its times sees the lock or the new times.
    simt::fence_device();
    bool is_unchanged = true;
    WARDEN_UNROLL
    for (unsigned s = 0; s < operations; ++s) {
      // `lock` checks the rows to write.
      if (s >= rows.count || rows.writes(s)) continue;
      std::uint64_t const now = simt::load_relaxed(times(a, rows, s));  // mutation: tictoc-look
      is_unchanged &= row_times{now}.is_unchanged(row_times{seen[s]});
    }
    if (!is_unchanged) return false;
    std::uint64_t time = 0;
    unsigned locked = 0;
    bool goes_on = true;
    WARDEN_UNROLL
    for (unsigned s = 0; s < operations; ++s) {
      if (s >= rows.count || !goes_on) continue;
      if (rows.writes(s)) {
        goes_on = lock(a, rows, s, seen[s]);
        if (!goes_on) continue;
        locked |= 1u << s;
      }
      row_times const of{seen[s]};
      std::uint64_t const last =
          rows.writes(s) ? of.read() + 1 : of.written();  // mutation: tictoc-time
      if (time < last) time = last;
    }
    // Release of the locks to transactions that read a row which `commit` has begun to write.
    simt::fence_device();
    WARDEN_UNROLL
    for (unsigned s = 0; s < operations; ++s) {
      if (s >= rows.count || rows.writes(s) || !goes_on) continue;
      goes_on = keep(a, rows, s, row_times{seen[s]}, time);
    }
    if (!goes_on) {
      // These rows are unchanged.
      WARDEN_UNROLL
      for (unsigned s = 0; s < operations; ++s) {
        if ((locked >> s & 1) != 0) simt::exchange(times(a, rows, s), seen[s]);
      }
      return false;
    }
    std::uint64_t const ticket = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    a.serial[i] = time << ticket_bits | ticket;
    a.sums[i] = sum;
    commit(a, t, rows, sum, time);
    return true;
  }
  /// Locks a row that had the times `seen`, which become those with the lock. Returns false if it
  /// has another value or is locked. A further attempt follows only if another transaction has
  /// raised the read time.
  template <class Row>
  WARDEN_DEVICE static bool lock(concurrent_arguments<Row> const& a, ordered_rows const& rows,
                                 unsigned s, std::uint64_t& seen) {
    for (;;) {
      std::uint64_t const now =
          simt::compare_exchange(times(a, rows, s), seen, row_times{seen}.locked().word());
      if (now == seen) return true;
      if (!row_times{now}.is_unchanged(row_times{seen})) return false;
      seen = now;
    }
  }
  /// Makes the value that a row had at `seen` valid until `time`. Returns false if it is not.
  /// Relaxed, because all loads and changes are those of one word: the writer that locks the row
  /// next sees the read time. A further attempt follows only if the word has changed.
  template <class Row>
  WARDEN_DEVICE static bool keep(concurrent_arguments<Row> const& a, ordered_rows const& rows,
                                 unsigned s, row_times seen, std::uint64_t time) {
    if (seen.read() >= time) return true;
    std::uint64_t word = simt::load_relaxed(times(a, rows, s));
    for (;;) {
      row_times const now{word};
      if (now.written() != seen.written()) return false;  // mutation: tictoc-keep
      // Also if a writer has the lock, because its time is above the read time.
      if (now.read() >= time) return true;
      if (now.is_locked()) return false;  // mutation: tictoc-locked
      std::uint64_t const before =
          simt::compare_exchange(times(a, rows, s), word, now.read_at(time).word());
      if (before == word) return true;
      word = before;
    }
  }
  template <class Row>
  WARDEN_DEVICE static void commit(concurrent_arguments<Row> const& a, transaction const& t,
                                   ordered_rows const& rows, std::uint64_t sum,
                                   std::uint64_t time) {
    write_rows(a, t, rows, sum);
    // Release: pairs with the fence after the first loads of times, for the rows and the ticket.
    simt::fence_device();
    // Written and read at this time, and unlocked.
    for (unsigned s = 0; s < rows.count; ++s)
      if (rows.writes(s)) simt::store_relaxed(times(a, rows, s), time);
  }
  template <class Row>
  WARDEN_DEVICE static std::uint64_t* times(concurrent_arguments<Row> const& a,
                                            ordered_rows const& rows, unsigned s) {
    return &a.times[rows.id(s)];
  }
};

}  // namespace transactions
