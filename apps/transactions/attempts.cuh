// SPDX-License-Identifier: Apache-2.0
/// @file
/// Common steps of the optimistic arms: attempts until one commits, and rows that other threads
/// may read or write at the same time.
#pragma once

#include "apps/transactions/concurrent.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace transactions {

/// True if a transaction tries again after this number of rounds. Lanes of a warp that are in each
/// other's way would always try together, and fail together. So each of them leaves out random
/// rounds, more of them after more rounds.
WARDEN_DEVICE bool takes_part(std::uint32_t id, unsigned rounds) {
  if (rounds == 0) return true;
  constexpr unsigned least_bits = 1, most_bits = 5, rounds_a_bit = 4;
  unsigned const wanted = least_bits + rounds / rounds_a_bit;
  unsigned const bits = wanted < most_bits ? wanted : most_bits;
  std::uint64_t const thread =
      std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
  std::uint64_t const any = graph::random_numbers::mixed(
      (thread << 32 | id) + std::uint64_t{rounds} * 0x9e3779b97f4a7c15ull);
  return (any & ((1u << bits) - 1)) == 0;
}
/// Calls `attempt()` of a transaction until it returns true. `id` is one of its rows. Returns false
/// if the launch is poisoned.
template <class Attempt>
WARDEN_DEVICE bool attempt_until_done(concurrent_run const& a, std::uint32_t id, run_counts& mine,
                                      Attempt attempt) {
  progress_wait wait{a, id};
  for (unsigned rounds = 0;; ++rounds) {
    if (takes_part(id, rounds)) {
      if (attempt()) return true;
      ++mine.restarts;
      simt::note_lock_retry();
    }
    if (!wait.hopeful()) return false;
    if (a.how.sleeps) simt::back_off(rounds);
  }
}
/// Reads all rows, which other threads may write. Returns the sum.
template <class Row>
WARDEN_DEVICE std::uint64_t read_rows(concurrent_arguments<Row> const& a, transaction const& t) {
  read_sum read;
  for (unsigned k = 0; k < operations; ++k) {
    Row const* const from = &a.rows[t.id(k)];
    Row r;
    for (unsigned w = 0; w < Row::count; ++w) r.words[w] = simt::load_relaxed(&from->words[w]);
    read.add(row_sum(r));
  }
  return read.value();
}
/// Writes the rows of all writes, which other threads may read. Precondition: the caller has their
/// locks.
template <class Row>
WARDEN_DEVICE void write_rows(concurrent_arguments<Row> const& a, transaction const& t,
                              ordered_rows const& rows, std::uint64_t sum) {
  for (unsigned s = 0; s < rows.count; ++s)
    if (rows.writes(s)) simt::section_enter(&a.rows[rows.id(s)]);
  for (unsigned k = 0; k < operations; ++k) {
    if (!t.writes(k)) continue;
    auto& words = a.rows[t.id(k)].words;
    for (unsigned w = 0; w < Row::count; ++w) {
      auto const word = new_word(simt::load_relaxed(&words[w]), sum, k, w);
      simt::store_relaxed(&words[w], word);  // mutation: transact-write
    }
  }
  for (unsigned s = 0; s < rows.count; ++s)
    if (rows.writes(s)) simt::section_leave(&a.rows[rows.id(s)]);
}

}  // namespace transactions
