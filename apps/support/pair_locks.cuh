// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global locks for sections on two records, with their settings.
#pragma once

#include <warden/baseline.cuh>

#include <cstddef>
#include <cstdint>
#include <string>

namespace apps {

/// Runs works of one kind: a warden::baseline::pair_work.
class pair_locks {
 public:
  /// Constructs one lock per record. Without tuning they have the default settings, those of the
  /// listing in [Wang 2020].
  pair_locks(std::uint32_t records, bool tuned)
      : locks_{std::size_t{records} * (tuned ? warden::baseline::most_words_for_a_lock : 1)},
        tuned_{tuned} {}

  /// Chooses the settings by measuring them on a sample. Returns a description. Blocks the host.
  template <class Work>
  std::string tune(Work const& sample) {
    if (!tuned_) return {};
    choice_ = warden::baseline::tune_pair_locks(sample, locks_);
    return to_string(choice_);
  }
  /// Enqueues a work.
  template <class Work>
  void run_async(Work work) {
    work.spread_log2 = choice_.spread_log2;
    warden::baseline::lock_tuned_async(work, locks_, choice_.how);
  }
  /// Blocks the host until all work is done. Throws its error.
  void wait() { locks_.wait(); }

 private:
  warden::baseline::lock_array locks_;
  bool tuned_;
  warden::baseline::pair_lock_choice choice_{};
};

}  // namespace apps
