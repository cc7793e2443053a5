// SPDX-License-Identifier: Apache-2.0
// Collects values of all ranks, for checks that need all of them.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>

#include <cstddef>
#include <source_location>
#include <vector>

namespace several_gpus {

/// Returns the elements of all ranks, by rank. Collective, with the same number of elements on
/// each.
template <class T>
std::vector<T> gather(warden::communicator const& world, warden::buffer<T> const& own) {
  auto const where = std::source_location::current();
  warden::buffer<T> all{own.size() * static_cast<std::size_t>(world.size())};
  world.transport().all_gather(own.data(), all.data(), own.bytes(), {}, where);
  world.transport().wait({}, where);
  return all.to_host();
}

}  // namespace several_gpus
