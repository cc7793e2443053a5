// SPDX-License-Identifier: Apache-2.0
/// @file
/// The refs of one launch's guarded arrays, of a type each, as one object that a kernel can be
/// given.
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

/// Tells all refs the launch they are in.
inline void set_launch(ref_pack<>&, launch_ref const&) {}
template <class First, class... Rest>
void set_launch(ref_pack<First, Rest...>& refs, launch_ref const& launch) {
  refs.first.launch = launch;
  set_launch(refs.rest, launch);
}

}  // namespace detail
WARDEN_NAMESPACE_END
