// SPDX-License-Identifier: Apache-2.0
/// @file
/// Transactions of TPC-C by locks and optimistically. They write all records that they name.
#pragma once

#include "apps/transactions/locks.cuh"
#include "apps/transactions/optimistic.cuh"
#include "apps/transactions/tpcc/transaction.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions::tpcc {

struct concurrent_arguments : concurrent_run {
  tables in;
  transaction const* all;
  record* records;
  std::uint32_t* words;    ///< [record] lock or version
  std::uint64_t* answers;  ///< [transaction]
  std::uint64_t* serial;
};

/// The distinct records of a transaction, by ascending id.
struct ordered_records {
  static constexpr unsigned most = most_named;

  std::uint32_t ids[most];
  unsigned count;
  std::uint64_t slots;  ///< [position] number of its record, 4 bits each

  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(unsigned s) const { return ids[s]; }
  [[nodiscard]] WARDEN_DEVICE static constexpr bool writes(unsigned) { return true; }
  [[nodiscard]] WARDEN_DEVICE unsigned slot_of(unsigned position) const {
    return static_cast<unsigned>(slots >> 4 * position) & 15u;
  }
};
WARDEN_DEVICE ordered_records order_records(named_records const& named) {
  constexpr unsigned n = most_named;
  // The id of a record and its position fit one word. Constant indexes keep the words in registers.
  std::uint32_t sorted[n];
  WARDEN_UNROLL
  for (unsigned p = 0; p < n; ++p) sorted[p] = p < named.count ? named.ids[p] << 4 | p : ~0u;
  WARDEN_UNROLL
  for (unsigned pass = 0; pass < n; ++pass) {
    WARDEN_UNROLL
    for (unsigned k = pass & 1; k + 1 < n; k += 2) {
      std::uint32_t const low = sorted[k], high = sorted[k + 1];
      sorted[k] = low < high ? low : high;
      sorted[k + 1] = low < high ? high : low;
    }
  }
  ordered_records all{};
  std::uint32_t last = ~0u;
  WARDEN_UNROLL
  for (unsigned k = 0; k < n; ++k) {
    if (k >= named.count) continue;
    std::uint32_t const id = sorted[k] >> 4;
    if (id != last) all.ids[all.count++] = id;
    last = id;
    unsigned const slot = all.count - 1;  // mutation: tpcc-slot
    all.slots |= std::uint64_t{slot} << 4 * (sorted[k] & 15);
  }
  return all;
}

/// Copies of the records of a transaction. Other threads may access the records.
class record_copies {
 public:
  /// Loads all records. Sets `at` to the copies.
  WARDEN_DEVICE record_copies(record const* all, ordered_records const& of, record_pointers& at) {
    record loaded[most_named];
    // Constant indexes keep what is loaded in registers, so the loads overlap.
    WARDEN_UNROLL
    for (unsigned s = 0; s < most_named; ++s) {
      if (s >= of.count) continue;
      record const* const from = &all[of.id(s)];
      loaded[s] = {{simt::load_relaxed(&from->words[0]), simt::load_relaxed(&from->words[1])}};
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < most_named; ++s) {
      if (s < of.count) copies_[s] = loaded[s];
    }
    WARDEN_UNROLL
    for (unsigned p = 0; p < most_named; ++p) at[p] = &copies_[of.slot_of(p)];
  }
  record_copies(record_copies const&) = delete;
  record_copies& operator=(record_copies const&) = delete;

  /// Writes all records. Precondition: the caller has their locks.
  WARDEN_DEVICE void store(record* all, ordered_records const& of) const {
    for (unsigned s = 0; s < of.count; ++s) {
      record* const to = &all[of.id(s)];
      simt::section_enter(to);
      simt::store_relaxed(&to->words[0], copies_[s].words[0]);
      simt::store_relaxed(&to->words[1], copies_[s].words[1]);  // mutation: tpcc-store
      simt::section_leave(to);
    }
  }

 private:
  record copies_[most_named];
};

struct locking {
  static constexpr char const* variant = "yields";

  WARDEN_DEVICE static bool run(concurrent_arguments const& a, std::uint32_t i, run_counts& mine) {
    transaction const& t = a.all[i];
    ordered_records const records = order_records(name_records(a.in, t));
    fixed_columns const fixed = read_fixed(a.in, t);
    if (!lock_rows(a, a.words, records, i, mine)) return false;
    // Acquire: pairs with the fence below of the transactions that held these locks before.
    simt::fence_device();  // mutation: tpcc-acquire
    a.serial[i] = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    record_pointers at;
    record_copies const copies{a.records, records, at};
    result const r = execute(t, fixed, at);
    a.answers[i] = r.answer;
    if (r.commits) copies.store(a.records, records);
    write_remark(a.in, t, fixed, r);
    // Release: pairs with the fence above of the transactions that take these locks next.
    simt::fence_device();
    unlock_rows(a.words, records, records.count, i);
    insert(a.in, t, r);
    return true;
  }
};

/// A transaction executes on copies of its records, then takes the locks, which validates all of
/// them, because it writes all.
struct copying {
  static constexpr char const* variant = nullptr;

  WARDEN_DEVICE static bool run(concurrent_arguments const& a, std::uint32_t i, run_counts& mine) {
    transaction const& t = a.all[i];
    ordered_records const records = order_records(name_records(a.in, t));
    fixed_columns const fixed = read_fixed(a.in, t);
    return attempt_until_done(a, records.id(0), mine,
                              [&] { return attempt(a, t, fixed, records, i); });
  }

 private:
  /// Returns false if another transaction is in the way. Then no record and no version has changed.
  WARDEN_DEVICE static bool attempt(concurrent_arguments const& a, transaction const& t,
                                    fixed_columns const& fixed, ordered_records const& records,
                                    std::uint32_t i) {
    row_versions versions{a.words, records};
    if (!versions.load()) return false;
    // Acquire: pairs with the last fence of the transactions that raised these versions, for the
    // records.
    simt::fence_device();
    record_pointers at;
    record_copies const copies{a.records, records, at};
    result const r = execute(t, fixed, at);
    if (!versions.lock()) return false;
    // Release of the locks, before the stores below.
    simt::fence_device();
    // All locks are held. A transaction that conflicts takes its ticket before or after that.
    a.serial[i] = simt::fetch_add(&a.counts->ticket, std::uint64_t{1});
    a.answers[i] = r.answer;
    if (r.commits) copies.store(a.records, records);
    write_remark(a.in, t, fixed, r);
    // Release: pairs with the fence after the loads of versions, for the records and the tickets.
    simt::fence_device();
    versions.raise();
    insert(a.in, t, r);
    return true;
  }
};

}  // namespace transactions::tpcc
