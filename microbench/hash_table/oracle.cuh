// SPDX-License-Identifier: Apache-2.0
// Kernels of the oracles: before the entries are visited, for each entry, and after that.
#pragma once

#include "microbench/hash_table/operations.cuh"

#include <warden/simt/launch.cuh>

#include <cstdint>

namespace hash_table_bench {

template <class Operation>
WARDEN_KERNEL void prepare_kernel(oracle o) {
  simt::assume_one_dimension();
  bench::for_each_of(o.n, [&](std::uint64_t i) { Operation::prepare(o, i); });
}
template <class Operation>
struct visit_entry {
  oracle o;
  __device__ void operator()(key_type key, typename Operation::value_type const& value) const {
    simt::fetch_add(o.entries, std::uint64_t{1});
    Operation::visit(o, key, value);
  }
};
template <class Operation>
WARDEN_KERNEL void finish_kernel(oracle o) {
  simt::assume_one_dimension();
  bench::for_each_of(o.keys, [&](std::uint64_t id) { Operation::finish(o, id); });
}

}  // namespace hash_table_bench
