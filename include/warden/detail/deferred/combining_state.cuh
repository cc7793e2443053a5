// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a block that combines, which lasts from one batch to the next.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// State of a block that combines, from one batch to the next. One register, because the user's
/// code runs between two flushes.
struct combining_state {
  unsigned on : 1 = 0;        ///< messages are staged to be combined
  unsigned pays : 1 = 1;      ///< combining freed enough places
  unsigned turn : 1 = 0;      ///< see batch_combiner::move_together
  unsigned combined : 1 = 0;  ///< the batch has been combined, at least in part
  unsigned doubled : 3 = 0;   ///< number of times that the distance between samples has doubled
  unsigned unlooked : 6 = 0;  ///< batches to skip before the next one is sampled

  /// True if the batch is left as it is, without a sample.
  WARDEN_DEVICE bool passes() {
    if (on != 0 || unlooked == 0) return false;
    --unlooked;  // mutation: looks-again
    return true;
  }
  /// Puts the next sample off by 4 batches, because nothing repeated or combining did not pay. By 8
  /// the next time, then by up to 64: records that begin to repeat are found after at most as many
  /// batches as came before, and samples take almost none of the time of a block that never
  /// combines.
  WARDEN_DEVICE void look_later() {
    unlooked = ((4u << doubled) - 1) & 63u;
    if (doubled < 4) ++doubled;
  }
  /// Ends a batch, which has been written.
  WARDEN_DEVICE void end() {
    combined = 0;
    if (on == 0) return;
    if (pays != 0) {
      doubled = 0;  // mutation: looks-often
      return;
    }
    on = 0;
    pays = 1;
    look_later();
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
