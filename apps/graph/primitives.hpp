// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device algorithms that build graphs: CUB's on a GPU, loops of the host on the simulated device.
/// All arrays are device memory and may have more than 2^32 elements; temporary memory is
/// allocated. They throw cuda_error.
#pragma once

#include <warden/stream.hpp>

#include <cstdint>

namespace graph {

/// Two arrays of the same size: `current` has the content, the other one is scratch.
struct array_pair {
  std::uint32_t* current;
  std::uint32_t* other;
};

/// Sorts `n` keys and their values by the keys' lowest `bits` bits, at least one; equal ones stay
/// in order. Which of two arrays is the current one may change.
void sort_pairs(array_pair& keys, array_pair& values, std::uint64_t n, unsigned bits,
                warden::stream_ref s);

/// Runs of equal keys: the key of each to `unique`, its length to `lengths`. Returns the number of
/// runs; waits for the stream.
std::uint64_t run_lengths(std::uint32_t const* keys, std::uint64_t n, std::uint32_t* unique,
                          std::uint64_t* lengths, warden::stream_ref s);

/// Replaces each of `n` values by the sum of the values before it.
void exclusive_sum(std::uint64_t* values, std::uint64_t n, warden::stream_ref s);

}  // namespace graph
