// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks of a guarded array that a fused launch is made with, each refusal with a sentence of its
/// own.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/section.cuh>

#include <algorithm>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Executor of a guarded array in a fused launch.
template <class Policy, class Record, class... Sections>
struct fused_executor {
  /// The policy's executor, or the one that `automatic` chooses.
  using type = typename chosen_executor<typename Policy::executor, Record, typename Policy::context,
                                        Sections...>::type;
  static_assert(!std::is_same_v<type, pairs_in_rounds>,
                "warden: for a fused launch with sections on two records the policy names "
                "executor::pair_messages, or executor::locks if both records have one owner; "
                "deferred sections, see warden/deferred_pairs.cuh, are faster");
};

/// Refuses guarded arrays that no fused launch can be made with.
template <class Policy, class Record, class... Sections>
class fused_checks {
  using executor = typename fused_executor<Policy, Record, Sections...>::type;
  static constexpr bool has_pairs =
      (pair_section_of<Sections, Record, typename Policy::context> || ...);
  static_assert(
      pairs_taken_by<executor> != pairs_of::any_owners || !has_pairs ||
          (sizeof(Record) + 3) / 4 * 4 + std::max({payload_bytes<Sections>...}) <= 40,
      "warden: with the executor pair_messages a record and a section take 40 bytes together at "
      "most");
  static_assert(executor_runs_groups<executor> || ((group_size_of<Sections> == 1) && ...),
                "warden: sections that several lanes run and sections on two records of any owners "
                "are deferred: a fused launch does not run them");
  static_assert(!Policy::order::in_order,
                "warden: order::sequential and order::deterministic are for deferred sections: a "
                "fused launch has no order");
  static_assert(!Policy::combine_in_fused ||
                    (std::is_same_v<partial_of<Sections>, Sections> && ...),
                "warden: a section whose partial is another type combines in a log alone: let the "
                "policy not say combine_in_fused");
  static_assert(!Policy::combine_in_fused ||
                    ((answer_bytes<Sections, Record, typename Policy::context> == 0) && ...),
                "warden: a section that is combined with others has no answer of its own: with "
                "combine_in_fused it returns void");
};

}  // namespace detail
WARDEN_NAMESPACE_END
