// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arguments of the kernels that run sections on several records, and the use of the records.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/log_shard.cuh>
#include <warden/detail/several/hot_records.cuh>
#include <warden/detail/several/records.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Number of sections on several records with each result, in one run.
struct outcome_counts {
  std::uint32_t committed;  ///< sections that returned outcome::commit
  std::uint32_t aborted;    ///< sections that returned outcome::abort
  std::uint32_t refused;    ///< sections with a wrong access
  std::uint32_t by_owners;  ///< sections, of these three, that the owners of hot records ran
};

namespace detail {

/// State of a run in global memory. Words that many threads change have a cache line each.
struct several_control {
  alignas(128) std::uint32_t has_records;  ///< 1 while the run has the records
  alignas(128) std::uint32_t next;         ///< next section that a thread takes
  alignas(128) std::uint32_t finished;     ///< sections that have run
  alignas(128) std::uint32_t blocks_done;  ///< blocks that have run all their sections
  std::uint32_t sections;                  ///< sections of the log, if there is one
  outcome_counts counts;                   ///< results
  std::uint32_t hot_records;               ///< records that may be hot
  std::uint32_t hot_accesses;              ///< accesses to those of them with enough writes
  std::uint32_t hottest;                   ///< most accesses to one of these
  std::uint32_t groups;                    ///< groups that may have an owner
  std::uint32_t owners;                    ///< blocks with lower numbers may own records
  /// [warp modulo 32] results outcome::abort of sections that run in rounds
  alignas(128) std::uint32_t aborts[32];
};

/// When an access may begin.
struct access_turn {
  /// Set in `turn` if a later access to the record may wait for this one.
  static constexpr std::uint32_t release_bit = 1u << 31;
  /// Set in `counter` if the record may be hot, and while sections run only if it has an owner.
  static constexpr std::uint32_t hot_bit = 1u << 31;

  std::uint32_t counter;  ///< result of `place()`, and hot_bit
  std::uint32_t turn;     ///< result of `value()`, and release_bit

  /// Returns the value of the counter from which on the access may begin.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t value() const { return turn & ~release_bit; }
  /// Returns the number of the record's counter. If the record has an owner and sections run:
  /// the number of the record in the memory of the owner.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t place() const { return counter & ~hot_bit; }
  /// True if the record may be hot; while sections run, if it has an owner.
  [[nodiscard]] WARDEN_DEVICE bool is_hot() const { return (counter & hot_bit) != 0; }
  /// True if the access counts when it has finished.
  [[nodiscard]] WARDEN_DEVICE bool releases() const { return (turn & release_bit) != 0; }
};

/// Last places in a tile of the sorted accesses, plus 1; 0 if there are none.
struct tile_places {
  std::uint32_t first;   ///< first access to a record
  std::uint32_t write;   ///< write
  std::uint32_t writes;  ///< number of writes from `first` on; without `first`, of all
};

/// Counter of a log that is run. It is above the capacity of every log, so sends are refused.
inline constexpr std::uint64_t closed_log = std::uint64_t{1} << 31;

/// Arguments of the kernels. `Types` is the type of the records, or a record_types.
template <class Types, class Context>
struct several_arguments {
  using types = Types;
  using array_set = typename array_set_of<Types>::type;

  array_set arrays;          ///< arrays of the records; the first one reports runs that fail
  std::uint32_t records;     ///< records of all arrays
  Context context;           ///< context of the sections
  time_limit limit;          ///< time limit of the guarded array
  several_control* control;  ///< state of the run
  std::uint32_t sections;    ///< sections of the run
  std::uint32_t accesses;    ///< places for their accesses
  outcome* outcomes;         ///< [section] results, or null
  named_accesses* named;     ///< [section]
  std::uint32_t* ids;        ///< [section][access] number of the record; no access: `records`
  std::uint32_t* marks;      ///< [section][access] the place itself; bit 31: write. Later, of a hot
                             ///< record, at its first places: its number, writes and accesses
  std::uint32_t* sorted_ids;    ///< [place] sorted ids; later the counters, at first places
  std::uint32_t* sorted_marks;  ///< [place] marks of sorted_ids
  access_turn* turns;           ///< [section][access]
  tile_places* tiles;           ///< [tile]
  log_shard* log;               ///< counter of the log whose sections are run, or null
  owned_records owned;          ///< hot records, and owners of sections

  /// True if the run has the records.
  [[nodiscard]] WARDEN_DEVICE bool has_records() const { return control->has_records != 0; }
  /// Takes the records, by one thread of the first kernel. If that fails, the run has no effect.
  WARDEN_DEVICE void take_records() const {
    if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    *control = {};
    if (arrays.take()) control->has_records = 1;
  }
  /// Closes the log for the run: it refuses sections until `end`. One thread. Precondition: the
  /// run has the records.
  WARDEN_DEVICE void close() const {
    std::uint64_t const taken = simt::exchange(&log->taken, closed_log);
    control->sections = taken < sections ? static_cast<std::uint32_t>(taken) : sections;
  }
  /// Ends the run, and frees the records. The log has `left` sections, and takes further ones. One
  /// thread. Precondition: the caller has fenced since all accesses of the run. That is the release
  /// of the records, and of the log, which `several_ref::send` acquires.
  WARDEN_DEVICE void end(std::uint32_t left) const {
    control->has_records = 0;
    if (log != nullptr)
      simt::store_relaxed(&log->taken, std::uint64_t{left});  // mutation: several-open
    arrays.free();
  }
  /// Notes the result of a section that runs in rounds. Commits are not counted: nearly all
  /// sections commit, and would add to a few words.
  WARDEN_DEVICE void note(std::uint32_t section, outcome result) const {
    if (outcomes != nullptr) outcomes[section] = result;
    if (result == outcome::refused) simt::add(&control->counts.refused, 1u);
    if (result != outcome::abort) return;
    unsigned const warp =
        (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / simt::warp_size;
    simt::add_together(&control->aborts[warp % 32], 1u);  // mutation: by-rounds-count
  }
  /// Returns the number of sections of the run. Precondition: the log is closed, if there is one.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t count() const {
    return log == nullptr ? sections : control->sections;
  }
  /// Sets the places of the sections that did not run to zero bytes, after the time limit. By all
  /// threads of the last block.
  WARDEN_DEVICE void clear_rows_left() const {
    for (std::uint32_t i = simt::thread_rank(); i < count(); i += simt::block_threads()) {
      auto const clear = [&](auto const& array, unsigned) { array.clear_rows(i); };
      arrays.for_growing(clear);
    }
  }
  /// Ends a block of the last kernel. The last block frees the records. Collective over the block.
  WARDEN_DEVICE void finish_block() const {
    simt::sync_block();
    bool ends = false;
    if (simt::thread_rank() == 0) {
      // Release: the barrier handed the block's accesses to this thread. Pairs with the fence of
      // the last block, which frees the records for the next run.
      simt::fence_device();
      ends = simt::fetch_add(&control->blocks_done, 1u) + 1 == simt::block_count();
      // Acquire of the other blocks, and release for `end`.
      if (ends) simt::fence_device();
    }
    if constexpr (array_set::grows) {
      // The barrier hands what the first thread has acquired to the last block.
      if (simt::sync_block_or(ends) && arrays.first.has_failed()) clear_rows_left();
      simt::sync_block();
      if (ends) {
        arrays.for_growing([&](auto const& array, unsigned) { array.grow(sections); });
        simt::fence_device();  // release of the rows for `end`
      }
    }
    if (ends) end(0);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
