// SPDX-License-Identifier: Apache-2.0
/// @file
/// Common parts of the arms that run a transaction on each thread, with a word for each row for
/// isolation: arguments, the rows of a transaction in order, and the kernel.
#pragma once

#include "apps/transactions/transaction.cuh"

#include <warden/baseline.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

namespace simt = warden::simt;

/// Counts of a run, in device memory.
struct run_counts {
  std::uint64_t ticket;    ///< next serial number
  std::uint64_t commits;   ///< transactions that have ended
  std::uint64_t retries;   ///< failed attempts to take a row's word
  std::uint64_t restarts;  ///< transactions that were started again
};

/// Settings of a run, chosen by measurements.
struct concurrent_settings {
  unsigned blocks = 0;
  bool sleeps = true;    ///< back-off after failed attempts
  bool variant = false;  ///< uses the variant of the protocol, if it has one
};

/// Arguments of every arm.
struct concurrent_run {
  std::uint32_t n;  ///< transactions
  run_counts* counts;
  warden::baseline::lock_array_ref waits;  ///< bounds the waits; its locks are not used
  concurrent_settings how;
};
template <class Row>
struct concurrent_arguments : concurrent_run {
  transaction const* all;
  Row* rows;
  std::uint32_t* words;  ///< [row] lock or version
  std::uint64_t* times;  ///< [row] lock and times
  std::uint64_t* sums;   ///< [transaction]
  std::uint64_t* serial;
};

/// Bounded wait of a transaction. Progress is the end of any transaction of the run: words of rows
/// and tickets also change if transactions fail again and again.
class progress_wait {
 public:
  WARDEN_DEVICE progress_wait(concurrent_run const& a, std::uint32_t id)
      : wait_{a.waits.wait(id)}, commits_{&a.counts->commits} {}

  /// Notes a failed attempt. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool hopeful() {
    // Rarely loaded, because all transactions add to it.
    if (tries_++ % 64 == 0) seen_ = static_cast<std::uint32_t>(simt::load_relaxed(commits_));
    return wait_.hopeful(seen_);
  }

 private:
  warden::baseline::lock_wait wait_;
  std::uint64_t const* commits_;
  std::uint32_t tries_ = 0, seen_ = 0;
};

/// The distinct rows of a transaction, by ascending id.
struct ordered_rows {
  static constexpr unsigned most = operations;
  std::uint32_t keys[operations];  ///< id << 1, plus 1 if any operation writes it
  unsigned count;

  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(unsigned s) const { return keys[s] >> 1; }
  [[nodiscard]] WARDEN_DEVICE bool writes(unsigned s) const { return (keys[s] & 1) != 0; }
};
WARDEN_DEVICE ordered_rows order_rows(transaction const& t) {
  // Constant indexes keep the keys in registers. A write comes after reads of its row.
  std::uint32_t sorted[operations];
  WARDEN_UNROLL
  for (unsigned k = 0; k < operations; ++k) sorted[k] = t.accesses[k];
  WARDEN_UNROLL
  for (unsigned pass = 0; pass < operations; ++pass) {
    WARDEN_UNROLL
    for (unsigned k = pass & 1; k + 1 < operations; k += 2) {
      std::uint32_t const low = sorted[k], high = sorted[k + 1];
      sorted[k] = low < high ? low : high;
      sorted[k + 1] = low < high ? high : low;
    }
  }
  ordered_rows all{};
  WARDEN_UNROLL
  for (unsigned k = 0; k < operations; ++k) {
    // The last of the accesses to a row is a write if any is.
    if (k + 1 < operations && sorted[k] >> 1 == sorted[k + 1 < operations ? k + 1 : k] >> 1)
      continue;
    all.keys[all.count++] = sorted[k];
  }
  return all;
}

/// Runs one transaction on each thread, then the next one of the thread. `Protocol::run` returns
/// false if the launch is poisoned.
template <class Protocol, class Arguments>
WARDEN_KERNEL void run_concurrently(Arguments const a) {
  simt::assume_one_dimension();
  run_counts mine{};
  namespace baseline = warden::baseline;
  baseline::for_each_from(baseline::first_operation(), baseline::operation_step(), a.n,
                          [&](std::uint32_t i) {
                            if (!Protocol::run(a, i, mine)) return false;
                            simt::add(&a.counts->commits, std::uint64_t{1});
                            return true;
                          });
  if (mine.retries != 0) simt::add(&a.counts->retries, mine.retries);
  if (mine.restarts != 0) simt::add(&a.counts->restarts, mine.restarts);
}

}  // namespace transactions
