// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parallel loops on the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace apps {

/// Calls `f(i)` for each i below `n`, in any order, by one thread per core. Precondition: `f` does
/// not throw.
template <class F>
void for_each_in_parallel(std::size_t n, F f) {
  std::atomic<std::size_t> next{0};
  auto const work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < n;) f(i);
  };
  std::size_t const cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others(std::min(cores, std::max<std::size_t>(n, 1)) - 1);
  for (std::thread& t : others) t = std::thread{work};
  work();
  for (std::thread& t : others) t.join();
}

}  // namespace apps
