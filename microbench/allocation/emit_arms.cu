// SPDX-License-Identifier: Apache-2.0
// Table of the arms that emit elements.

#include "microbench/allocation/call_arm.cuh"
#include "microbench/allocation/item_element.cuh"

#include <warden/allocate.cuh>

#include <cstdint>
#include <map>
#include <string>

namespace allocation {
namespace {

struct item_count {
  std::uint32_t const* counts;
  __device__ std::uint32_t operator()(std::uint64_t i) const { return counts[i]; }
};
template <class Policy>
struct allocate_elements {
  void operator()(emission const& e, warden::output<std::uint32_t>& out) const {
    warden::allocate_async<Policy>(e.n, item_count{e.counts}, item_element{}, out);
  }
};

}  // namespace

std::map<std::string, emit_maker> emit_arms() {
  return {
      {"memcpy", &make_memcpy},
      {"copy", &make_stream},
      {"thread_atomic", &make_thread_emission},
      {"warp_atomic", &make_warp_emission},
      {"unordered", &make_call<allocate_elements<warden::unordered_allocation<>>>},
      {"ordered", &make_call<allocate_elements<warden::ordered_allocation<>>>},
      {"reduce_then_scan", &make_call<allocate_elements<warden::reduce_then_scan_allocation<>>>},
      {"warden_runs", &make_called_emission}};
}

}  // namespace allocation
