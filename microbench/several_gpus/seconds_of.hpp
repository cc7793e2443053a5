// SPDX-License-Identifier: Apache-2.0
// Time from before a kernel is enqueued until all enqueued work has ended.
#pragma once

#include <warden/stream.hpp>

#include <chrono>

namespace several_gpus {

/// Returns the seconds from the call of `enqueue` until all work in the default stream has ended.
template <class Enqueue>
double seconds_of(Enqueue const& enqueue) {
  auto const begin = std::chrono::steady_clock::now();
  enqueue();
  warden::stream_ref{}.synchronize();
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
}

}  // namespace several_gpus
