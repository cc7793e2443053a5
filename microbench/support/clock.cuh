// SPDX-License-Identifier: Apache-2.0
// Clocks that device code reads, and their resolution.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bench {

namespace simt = warden::simt;

/// The clock that all multiprocessors share.
struct nanosecond_clock {
  static constexpr char const* name = "nanoseconds";
  static constexpr bool is_shared = true;
  WARDEN_DEVICE static std::uint64_t now() { return simt::nanoseconds(); }
};
/// The clock of one multiprocessor.
struct cycle_clock {
  static constexpr char const* name = "cycles";
  static constexpr bool is_shared = false;
  WARDEN_DEVICE static std::uint64_t now() { return simt::cycles(); }
};

template <class Clock>
WARDEN_KERNEL void note(std::uint64_t* time) {
  *time = Clock::now();
}

template <class Clock>
WARDEN_KERNEL void find_tick(std::uint64_t* tick) {
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t before = Clock::now();
  for (int look = 0; look < 100'000; ++look) {
    std::uint64_t const now = Clock::now();
    if (now != before && now - before < smallest) smallest = now - before;
    before = now;
  }
  *tick = smallest;
}

/// Returns the smallest step of the clock that one thread sees.
template <class Clock>
double tick_of() {
  warden::buffer<std::uint64_t> tick{1};
  simt::launch(&find_tick<Clock>, 1, 1, 0, tick.data(), {});
  return static_cast<double>(tick.to_host()[0]);
}

}  // namespace bench
