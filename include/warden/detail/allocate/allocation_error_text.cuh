// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texts of an output's errors.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Adds the errors of an output. `taken` is the value of the counter.
inline void add_errors(error_list& found, std::uint64_t taken, allocation_control const& control) {
  auto const add = [&](std::uint64_t count, std::string text) {
    found.add(error_type::limit, std::move(text), count);
  };
  auto const number = [](std::uint64_t n) { return std::to_string(n); };
  if (control.wrong_blocks != 0 || taken >= wrong_blocks_counted) {
    add(std::max(control.wrong_blocks, std::uint64_t{1}),
        "block_allocator: a launch has blocks of another number of threads than the allocator's; "
        "launch blocks of Threads threads");
  } else if (taken >= no_place) {
    add(1, "output: more than " + number(no_place - 1) +
               " elements were emitted: emit fewer, or call clear_async between allocations");
  }
  if (control.again != 0) {
    add(control.again, "allocate was called without a tile, or again for a tile, by " +
                           number(control.again) + " blocks: call it once after each next_tile()");
  }
  if (control.tiles_left() != 0) {
    add(control.tiles_left(),
        "allocation in order: no block took " + number(control.tiles_left()) +
            " of its tiles: each block must call next_tile() until it returns false");
  }
  if (control.changed != 0) {
    add(control.changed, "allocate: count(i) returned another value when it was called again");
  }
  if (control.without_owner != 0) {
    add(control.without_owner, "partition: element " + number(~control.first_without >> 32) +
                                   " has owner " + number(~control.first_without & 0xffffffff) +
                                   ", which is not below the number of owners (" +
                                   number(control.without_owner) + " such elements)");
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
