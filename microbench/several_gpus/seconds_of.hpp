// SPDX-License-Identifier: Apache-2.0
// The time of a run, from before its kernel is enqueued until all of it has ended.
#pragma once

#include <warden/stream.hpp>

#include <chrono>

namespace several_gpus {

/// Seconds until everything that `enqueue` puts into the default stream has ended.
template <class Enqueue>
double seconds_of(Enqueue const& enqueue) {
  auto const begin = std::chrono::steady_clock::now();
  enqueue();
  warden::stream_ref{}.synchronize();
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
}

}  // namespace several_gpus
