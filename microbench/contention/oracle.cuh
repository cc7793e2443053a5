// SPDX-License-Identifier: Apache-2.0
// Checks on the device that each operation of a repetition changed its record once.
#pragma once

#include "microbench/contention/operations.cuh"
#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace contention {

/// Memory and kernels that check up to `most_operations` operations on `keys` records.
template <class Operation>
class oracle {
 public:
  using record = typename Operation::record;
  using arguments = typename Operation::check_arguments;

  oracle(std::uint32_t most_operations, std::uint32_t keys)
      : keys_{keys}, seen_{most_operations}, per_key_{2 * std::size_t{keys}}, wrong_{1} {}

  /// Returns true if `records` are the result of operations 0 to n - 1 on `ids`, each run once.
  /// Calls `prepare(arguments)` before the checks, to enqueue additional preparation. Blocks the
  /// host.
  template <class Prepare>
  bool verify(record const* records, std::uint32_t const* ids, std::uint32_t n,
              typename Operation::context result, Prepare const& prepare) {
    wrong_.fill_bytes(0);
    seen_.fill_bytes(0);
    per_key_.fill_bytes(0);
    arguments const all{records, ids,    n,
                        keys_,   result, {seen_.data(), per_key_.data(), wrong_.data()}};
    prepare(all);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&first_check<Operation>, blocks, threads, 0, all, {});
    simt::launch(&second_check<Operation>, blocks, threads, 0, all, {});
    return wrong_.to_host()[0] == 0;
  }
  /// Verifies without additional preparation.
  bool verify(record const* records, std::uint32_t const* ids, std::uint32_t n,
              typename Operation::context result) {
    return verify(records, ids, n, result, [](arguments const&) {});
  }

 private:
  std::uint32_t keys_;
  warden::buffer<std::uint32_t> seen_;
  warden::buffer<std::uint64_t> per_key_, wrong_;
};

}  // namespace contention
