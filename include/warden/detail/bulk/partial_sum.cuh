// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sum of the partials that a thread meets, if it meets any: `combine` needs no identity.
#pragma once

#include <warden/detail/bulk/partial_words.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// No partial, or the combination of several.
template <class Partial>
struct partial_sum {
  partial_words<Partial> words;  ///< the sum, if there is one
  bool is_present = false;       ///< true after the first partial

  /// Combines another partial into the sum.
  WARDEN_DEVICE void add(partial_words<Partial> const& other) {
    if (is_present) {
      combine_into(words, other);
    } else {
      words = other;
    }
    is_present = true;
  }
};

/// Runs a sum as one section on `*r`, if there is a sum. Precondition: no other thread has that
/// record. `id` converts to its record_id.
template <class Partial, class Record, class Context, class Id>
WARDEN_DEVICE void run_sum(partial_sum<Partial> const& sum, Record* r, Context const& context,
                           Id const& id) {
  if (!sum.is_present) return;
  simt::section_enter(r);
  static_cast<void>(run_with_id(sum.words.value(), *r, context, id));
  simt::section_leave(r);
}

}  // namespace detail
WARDEN_NAMESPACE_END
