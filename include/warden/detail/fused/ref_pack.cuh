// SPDX-License-Identifier: Apache-2.0
/// @file
/// Refs of one launch's guarded arrays, each of its own type, as one kernel argument.
#pragma once

#include <warden/detail/fused/launch_control.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Refs in the order of the launch's guarded arrays.
template <class... Refs>
struct ref_pack {};
template <class First, class... Rest>
struct ref_pack<First, Rest...> {
  First first;
  ref_pack<Rest...> rest;
};

/// Calls `f(ref)` for each ref, in order.
template <class F>
WARDEN_DEVICE void for_each_ref(ref_pack<> const&, F&&) {}
template <class First, class... Rest, class F>
WARDEN_DEVICE void for_each_ref(ref_pack<First, Rest...> const& refs, F&& f) {
  f(refs.first);
  for_each_ref(refs.rest, f);
}

/// Sets the launch of all refs.
inline void set_launch(ref_pack<>&, launch_ref const&) {}
template <class First, class... Rest>
void set_launch(ref_pack<First, Rest...>& refs, launch_ref const& launch) {
  refs.first.launch = launch;
  set_launch(refs.rest, launch);
}

}  // namespace detail
WARDEN_NAMESPACE_END
