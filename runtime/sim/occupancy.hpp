// SPDX-License-Identifier: Apache-2.0
// The room for resident blocks on the multiprocessors of the simulated device.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simulation.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// The room that resident blocks leave on one multiprocessor.
class free_room {
 public:
  explicit free_room(settings const& s)
      : threads_{s.threads_per_multiprocessor},
        blocks_{s.blocks_per_multiprocessor},
        shared_bytes_{static_cast<std::ptrdiff_t>(s.shared_bytes_per_multiprocessor)},
        reserved_bytes_{static_cast<std::ptrdiff_t>(s.reserved_shared_bytes_per_block)} {}

  /// Number of further blocks of this shape that fit.
  [[nodiscard]] int blocks_of(runtime::launch_shape const& shape) const {
    int const by_threads = threads_ / threads_of(shape);
    auto const by_shared = static_cast<int>(shared_bytes_ / shared_bytes_of(shape));
    return std::max(0, std::min({blocks_, by_threads, by_shared}));
  }
  void take(runtime::launch_shape const& shape) { change(shape, -1); }
  void give_back(runtime::launch_shape const& shape) { change(shape, 1); }

 private:
  static int threads_of(runtime::launch_shape const& shape) {
    return static_cast<int>(shape.threads.count());
  }
  [[nodiscard]] std::ptrdiff_t shared_bytes_of(runtime::launch_shape const& shape) const {
    return std::max<std::ptrdiff_t>(
        1, static_cast<std::ptrdiff_t>(shape.shared_bytes) + reserved_bytes_);
  }
  void change(runtime::launch_shape const& shape, int blocks) {
    threads_ += blocks * threads_of(shape);
    blocks_ += blocks;
    shared_bytes_ += blocks * shared_bytes_of(shape);
  }

  int threads_;
  int blocks_;
  std::ptrdiff_t shared_bytes_;
  std::ptrdiff_t reserved_bytes_;  ///< for each block
};

/// The room on all multiprocessors of the device.
using device_room = std::vector<free_room>;

/// Number of further blocks of this shape that fit the device.
inline std::size_t blocks_that_fit(device_room const& room, runtime::launch_shape const& shape) {
  std::size_t blocks = 0;
  for (free_room const& one : room) blocks += static_cast<std::size_t>(one.blocks_of(shape));
  return blocks;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
