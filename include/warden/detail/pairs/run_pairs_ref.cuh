// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded array as the workers of a run in rounds see it.
#pragma once

#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A guarded array whose sections may be on two of its records, as the workers of a run see it.
template <class Policy, class Record, class... Sections>
class run_pairs_ref : public run_ref<Policy, Record, Sections...> {
 public:
  using partials = run_pairs_ref;                 ///< nothing is combined
  static constexpr bool two_arrays = false;       ///< both records are in this array
  static constexpr bool traces_segments = false;  ///< see run_ref
  /// True if the two tiles of a tile pair must fit the block's shared memory.
  static constexpr bool must_fit = Policy::records == placement::on_chip;
  using schedule = all_pairs_schedule;  ///< tile pairs of its tiles
  using second_record = Record;         ///< type of a section's second record

  /// Returns the array of the second records.
  WARDEN_DEVICE run_pairs_ref const& seconds() const { return *this; }
  /// Returns the maximum of records in the two tiles that a block holds.
  WARDEN_HOST_DEVICE tile_sizes sizes() const { return {this->locals, this->locals}; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
