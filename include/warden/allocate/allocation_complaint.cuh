// SPDX-License-Identifier: Apache-2.0
/// @file
/// What went wrong with an output, in words.
#pragma once

#include <warden/allocate/allocation_control.cuh>

#include <cstdint>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// As one line of text, empty if all was well. `taken` is what the counter says.
inline std::string complaint_of(std::uint64_t taken, allocation_control const& control) {
  std::string text;
  auto const add = [&](std::string const& what) { text += text.empty() ? what : "; " + what; };
  auto const number = [](std::uint64_t n) { return std::to_string(n); };
  if (control.wrong_blocks != 0 || taken >= wrong_blocks_counted) {
    add("block_allocator: a launch has blocks of other threads than the allocator's, which are in "
        "one dimension");
  } else if (taken >= no_place) {
    add("output: more than " + number(no_place - 1) + " elements were emitted");
  }
  if (control.again != 0) {
    add("allocate was called for no tile, or for one that had its places already, by " +
        number(control.again) + " blocks: once for each next_tile()");
  }
  if (control.tiles_left() != 0) {
    add("allocation in order: nobody took " + number(control.tiles_left()) +
        " of its tiles; each block goes on until next_tile() is false");
  }
  if (control.changed != 0) add("allocate: count(i) did not say the same when it was asked again");
  if (control.without_owner != 0) {
    add("partition: element " + number(~control.first_without >> 32) + " has owner " +
        number(~control.first_without & 0xffffffff) +
        ", which is not below the number of owners (" + number(control.without_owner) +
        " such elements)");
  }
  return text;
}

}  // namespace detail
WARDEN_NAMESPACE_END
