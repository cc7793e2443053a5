// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sum of the partials that a thread meets, if it meets any: `combine` needs no identity.
#pragma once

#include <warden/detail/bulk/partial_words.cuh>
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

}  // namespace detail
WARDEN_NAMESPACE_END
