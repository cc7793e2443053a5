// SPDX-License-Identifier: Apache-2.0
// Arms of the comparison: one operation by locks, atomics, sorting and Warden.
#pragma once

#include "microbench/contention/oracle.cuh"
#include "microbench/contention/warden_arms.cuh"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/baseline.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace contention {

/// Runs one operation by all arms on one array of ids; times and verifies it. Allocates memory
/// once, for the largest number of operations.
template <class Operation>
class runner {
 public:
  using record = typename Operation::record;
  using work =
      warden::baseline::work<record, typename Operation::make, typename Operation::context>;

  runner(std::uint32_t most_operations, std::uint32_t keys, Operation operation = {})
      : operation_{operation},
        keys_{keys},
        // At least 2 MB, so that the records have pages of their own: other allocations do not
        // affect the L2 cache slices of the records.
        records_{std::max<std::size_t>(keys, (std::size_t{2} << 20) / sizeof(record))},
        ids_{most_operations},
        per_operation_{most_operations},
        oracle_{most_operations, keys},
        locks_{keys} {}

  /// Chooses settings for lock_tuned by trials on these ids. Returns the choice as text.
  std::string tune(bench::workload& w, std::uint32_t n) {
    w.draw(ids_.data(), n, 1);
    records_.fill_bytes(0);
    choice_ = warden::baseline::tune_locks(work_of(n), locks_);
    return to_string(choice_);
  }

  /// Settings of lock_tuned, from `tune` or `set_choice`.
  [[nodiscard]] warden::baseline::lock_choice choice() const { return choice_; }
  void set_choice(warden::baseline::lock_choice const& choice) { choice_ = choice; }

  /// The records as the last repetition left them.
  [[nodiscard]] warden::buffer<record> const& records() const { return records_; }

  bench::run_result run(std::string const& arm, bench::workload& w, std::uint32_t n,
                        std::uint64_t seed) {
    w.draw(ids_.data(), n, seed);
    records_.fill_bytes(0);
    per_operation_.fill_bytes(0);
    if (arm == "sort" && !sorter_) sorter_.emplace(static_cast<std::uint32_t>(ids_.size()), keys_);
    warden_arm* const by_warden = find_warden_arm(arm);
    if (by_warden != nullptr) by_warden->prepare(n);
    warden::timer clock;
    clock.start();
    if constexpr (requires { operation_.note_begin(); }) operation_.note_begin();
    if (by_warden != nullptr) {
      by_warden->run_async(ids_.data(), n);
    } else if (arm == "lock_as_written") {
      warden::baseline::lock_as_written_async(work_of(n), locks_);
    } else if (arm == "lock_tuned") {
      warden::baseline::lock_tuned_async(work_of(n), locks_, choice_);
    } else if (arm == "atomics") {
      if constexpr (Operation::has_atomic) warden::baseline::atomics_async(work_of(n));
    } else if (arm == "atomics_combined") {
      if constexpr (warden::combining<typename Operation::section>)
        warden::baseline::atomics_combined_async(work_of(n), keys_);
    } else if (arm == "sort") {
      warden::baseline::sort_async(work_of(n), *sorter_);
    }
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    locks_.wait();
    if (by_warden != nullptr) by_warden->wait();
    result.verified = oracle_.verify(records_.data(), ids_.data(), n,
                                     operation_.make_context(per_operation_.data()));
    return result;
  }

 private:
  /// Returns the Warden arm of that name; null for a baseline.
  warden_arm* find_warden_arm(std::string const& arm) {
    if (!arm.starts_with("warden")) return nullptr;
    auto& made = warden_arms_[arm];
    if (!made)
      made = make_warden_arm<Operation>(arm, records_.data(), keys_,
                                        operation_.make_context(per_operation_.data()));
    return made.get();
  }

  work work_of(std::uint32_t n) {
    return {records_.data(), ids_.data(), n, {}, operation_.make_context(per_operation_.data())};
  }

  Operation operation_;
  std::uint32_t keys_;
  warden::buffer<record> records_;
  warden::buffer<std::uint32_t> ids_;
  warden::buffer<std::uint32_t> per_operation_;
  oracle<Operation> oracle_;
  warden::baseline::lock_array locks_;
  warden::baseline::lock_choice choice_;
  std::optional<warden::baseline::sorter> sorter_;  ///< made at its first use: large
  std::map<std::string, std::unique_ptr<warden_arm>> warden_arms_;
};

}  // namespace contention
