// SPDX-License-Identifier: Apache-2.0
// Record ids of the operations of all ranks, on one rank, which needs them for its checks.
#pragma once

#include "microbench/support/workload.cuh"

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace several_gpus {

/// Ids of `n` operations for each rank. All ranks draw the same ids.
class all_ids {
 public:
  all_ids(warden::communicator const& world, std::string const& workload, std::uint32_t keys,
          std::uint32_t n)
      : ranks_{static_cast<std::uint32_t>(world.size())},
        n_{n},
        first_{n * static_cast<std::uint32_t>(world.rank())},
        workload_{bench::workload::named(workload, keys, "")},
        ids_{std::size_t{n} * ranks_} {}

  /// Enqueues the draw.
  void draw(std::uint64_t seed) {
    for (std::uint32_t r = 0; r < ranks_; ++r)
      workload_.draw(ids_.data() + std::size_t{r} * n_, n_, seed * ranks_ + r);
  }
  /// [operation] ids of all ranks.
  [[nodiscard]] std::uint32_t const* data() const { return ids_.data(); }
  /// Number of operations of all ranks.
  [[nodiscard]] std::uint32_t all() const { return n_ * ranks_; }
  /// Number of operations of each rank.
  [[nodiscard]] std::uint32_t each() const { return n_; }
  /// Number of this rank's first operation.
  [[nodiscard]] std::uint32_t first() const { return first_; }
  /// Ids of this rank's operations.
  [[nodiscard]] std::uint32_t const* own() const { return ids_.data() + first_; }

 private:
  std::uint32_t ranks_, n_, first_;
  bench::workload workload_;
  warden::buffer<std::uint32_t> ids_;
};

}  // namespace several_gpus
