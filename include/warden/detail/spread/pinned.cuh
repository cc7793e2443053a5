// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pinned host memory: copies from and to it do not block the host.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/annotations.cuh>

#include <cstddef>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

struct pinned_deleter {
  void operator()(void* memory) const { runtime::deallocate_pinned(memory); }
};
/// Array in pinned host memory; contents uninitialized.
template <class T>
using pinned = std::unique_ptr<T[], pinned_deleter>;
/// Allocates `count` elements. Throws cuda_error.
template <class T>
pinned<T> make_pinned(std::size_t count, std::source_location where) {
  return pinned<T>{static_cast<T*>(runtime::allocate_pinned(count * sizeof(T), where))};
}

}  // namespace detail
WARDEN_NAMESPACE_END
