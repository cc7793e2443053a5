// SPDX-License-Identifier: Apache-2.0
// Errors of kernels that are compiled for the race detector.
#pragma once

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <string>

namespace race_errors {

/// A kernel on 64 words each.
using kernel = void (*)(unsigned*, unsigned*);

inline std::string error_of(kernel run, unsigned seed, warden::dimensions grid = 4,
                            warden::dimensions block = 64) {
  warden::sim::settings chosen;
  chosen.seed = seed;
  chosen.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
  chosen.pct_horizon = 20'000;
  warden::sim::configure(chosen);
  warden::buffer<unsigned> words{64}, data{512};
  words.fill_bytes(0);
  data.fill_bytes(0);
  try {
    warden::launch(run, {.grid = grid, .block = block, .shared_bytes = 256}, {}, words.data(),
                   data.data());
    warden::stream_ref{}.synchronize();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return {};
}
/// The first error of many seeds.
inline std::string error_in(unsigned seeds, kernel run) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::string const error = error_of(run, seed);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace race_errors
