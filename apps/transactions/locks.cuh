// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two-phase locking: a reader-writer lock for each row, taken in the order of ids.
#pragma once

#include "apps/transactions/concurrent.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

/// A reader-writer lock in one word. Readers are counted in the lower bits. A writer sets the upper
/// bit and its number. A writer that waits for readers sets a flag, and no further reader enters:
/// on a row that is always read a writer would otherwise wait for ever. Only waiting writers set
/// the flag, and a writer that takes the lock removes it, so it never outlasts those that wait.
class row_lock {
 public:
  explicit WARDEN_DEVICE row_lock(std::uint32_t* word) : word_{word} {}

  /// Try to take the lock. Return true if they did. Relaxed; the caller's fence follows.
  WARDEN_DEVICE bool try_read(bool is_first) const {
    // After a failed attempt it looks before it counts itself, because that disturbs writers.
    if (!is_first && (simt::load_relaxed(word_) & (held | wanted)) != 0) return false;
    std::uint32_t const before = simt::fetch_add(word_, 1u);  // mutation: transact-lock
    if ((before & (held | wanted)) == 0) return true;
    simt::add(word_, ~0u);
    return false;
  }
  WARDEN_DEVICE bool try_write(std::uint32_t writer, bool is_first, bool flags) const {
    std::uint32_t const expected = is_first ? 0 : simt::load_relaxed(word_);
    std::uint32_t seen = expected;
    if ((expected & ~wanted) == 0) {
      seen = simt::compare_exchange(word_, expected, held | writer);
      if (seen == expected) return true;
    }
    if (flags && (seen & (held | wanted)) == 0) simt::fetch_or(word_, wanted);
    return false;
  }
  /// Give the lock back. Relaxed; the caller's fence comes before. Additions, so that the flag and
  /// the counts of readers that try stay.
  WARDEN_DEVICE void unlock_read() const { simt::add(word_, ~0u); }
  WARDEN_DEVICE void unlock_write(std::uint32_t writer) const {
    simt::add(word_, 0u - (held | writer));
  }

 private:
  static constexpr std::uint32_t held = 1u << 31, wanted = 1u << 30;

  std::uint32_t* word_;
};

/// Gives back the locks of the first `count` rows.
template <class Rows>
WARDEN_DEVICE void unlock_rows(std::uint32_t* words, Rows const& rows, unsigned count,
                               std::uint32_t i) {
  for (unsigned s = 0; s < count; ++s) {
    row_lock const lock{&words[rows.id(s)]};
    if (rows.writes(s)) {
      lock.unlock_write(i);
    } else {
      lock.unlock_read();
    }
  }
}
/// Locks all rows, an ordered set, for transaction `i`. Returns false if the launch is poisoned. In
/// the order of ids no circle of waits arises: a thread waits for a row that is higher than all of
/// its own. In the variant `yields` it gives all locks back if one is taken: the thread with the
/// highest row of all gets its next one.
template <class Rows>
WARDEN_DEVICE bool lock_rows(concurrent_run const& a, std::uint32_t* words, Rows const& rows,
                             std::uint32_t i, run_counts& mine) {
  unsigned taken = 0, failures = 0;
  bool is_first = true;  // no attempt at this row failed; if it yields, at any row
  progress_wait wait{a, rows.id(0)};
  for (;;) {
    row_lock const lock{&words[rows.id(taken)]};
    bool const has_lock =
        rows.writes(taken) ? lock.try_write(i, is_first, !a.how.variant) : lock.try_read(is_first);
    if (!has_lock) {
      ++mine.retries;
      simt::note_lock_retry();
      if (!wait.hopeful()) return false;
      if (a.how.variant && taken != 0) {
        // Nothing was read or written under these locks, so no fence.
        unlock_rows(words, rows, taken, i);
        taken = 0;
        ++mine.restarts;
      }
      // A thread that holds a lock sleeps for the shortest time.
      if (a.how.sleeps) simt::back_off(taken == 0 ? failures : 0);
      ++failures;
      is_first = false;
      continue;
    }
    if (++taken == rows.count) return true;
    if (a.how.variant) continue;
    is_first = true;
    wait = progress_wait{a, rows.id(taken)};
  }
}

struct two_phase_locking {
  static constexpr char const* variant = "yields";

  template <class Row>
  WARDEN_DEVICE static bool run(concurrent_arguments<Row> const& a, std::uint32_t i,
                                run_counts& mine) {
    transaction const t = a.all[i];
    ordered_rows const rows = order_rows(t);
    if (!lock_rows(a, a.words, rows, i, mine)) return false;
    work(a, t, rows, i);
    unlock_rows(a.words, rows, rows.count, i);
    return true;
  }

 private:
  template <class Row>
  WARDEN_DEVICE static void work(concurrent_arguments<Row> const& a, transaction const& t,
                                 ordered_rows const& rows, std::uint32_t i) {
    // Acquire: pairs with the fence below of the transactions that held these locks before, for the
    // rows and for the order of tickets.
    simt::fence_device();
    // All locks are held. A transaction that conflicts takes its ticket before or after that.
    a.serial[i] = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    for (unsigned s = 0; s < rows.count; ++s) {
      if (rows.writes(s)) {
        simt::section_enter(&a.rows[rows.id(s)]);
      } else {
        simt::demand_visible(&a.rows[rows.id(s)]);
      }
    }
    read_sum read;
    for (unsigned k = 0; k < operations; ++k) read.add(row_sum(a.rows[t.id(k)]));
    std::uint64_t const sum = read.value();
    a.sums[i] = sum;
    for (unsigned k = 0; k < operations; ++k) {
      if (!t.writes(k)) continue;
      auto& words = a.rows[t.id(k)].words;
      for (unsigned w = 0; w < Row::count; ++w) words[w] = new_word(words[w], sum, k, w);
    }
    for (unsigned s = 0; s < rows.count; ++s) {
      if (!rows.writes(s)) continue;
      simt::note_written(&a.rows[rows.id(s)]);
      simt::section_leave(&a.rows[rows.id(s)]);
    }
    // Release: pairs with the fence above of the transactions that take these locks next. Rows that
    // were only read count too: the next writer comes after these reads.
    simt::fence_device();  // mutation: transact-release
  }
};

}  // namespace transactions
