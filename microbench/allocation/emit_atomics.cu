// SPDX-License-Identifier: Apache-2.0
// Arms whose threads or warps add to one counter, and store their elements.

#include "microbench/allocation/emit_arm.hpp"
#include "microbench/allocation/item_element.cuh"

#include <warden/allocate.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace allocation {
namespace {

enum class adder { thread, warp };
struct emit_arguments {
  std::uint32_t const* counts;
  std::uint32_t n;
  warden::output_ref<std::uint32_t> out;
};

/// Takes places for all lanes of a warp. Collective over the warp; counts may be 0. The compiler
/// does not merge the atomics of a warp here: ptxas does so for counters of 32 bits, not of 64
/// bits.
template <adder Adder>
WARDEN_DEVICE std::uint64_t first_place(emit_arguments const& a, std::uint32_t count) {
  if constexpr (Adder == adder::warp) {
    return warden::allocate_in_warp(a.out.counter(), simt::full_warp, count);
  } else {
    return count == 0 ? 0 : simt::fetch_add(a.out.counter(), count);
  }
}
template <adder Adder>
WARDEN_KERNEL void emit_items(emit_arguments const a) {
  simt::assume_one_dimension();
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  // 64 bits, because the last increment may pass 2^32.
  for (std::uint64_t base = simt::block_rank() * simt::block_threads(); base < a.n; base += step) {
    std::uint64_t const i = base + simt::thread_rank();
    std::uint32_t const count = i < a.n ? a.counts[i] : 0;
    std::uint64_t const place = first_place<Adder>(a, count);
    for (std::uint32_t k = 0; k < count; ++k)
      a.out.store(place + k, item_element{}(static_cast<std::uint32_t>(i), k));
  }
}

template <adder Adder>
class atomic_arm final : public emit_arm {
 public:
  explicit atomic_arm(emission const& e) : out_{e.elements, e.room} {}
  void run_async(emission const& e) override {
    out_.clear_async();
    auto const resident = static_cast<std::uint32_t>(warden::runtime::resident_blocks(
        warden::simt::make_kernel(&emit_items<Adder>), threads, 0));
    std::uint32_t const blocks = std::min(resident, (e.n + threads - 1) / threads);
    simt::launch(&emit_items<Adder>, blocks, threads, 0, {e.counts, e.n, out_.ref()}, {});
  }
  std::uint64_t wait(emission const&) override { return out_.wait(); }

 private:
  static constexpr unsigned threads = 256;
  warden::output<std::uint32_t> out_;
};

}  // namespace

std::unique_ptr<emit_arm> make_thread_emission(emission const& e) {
  return std::make_unique<atomic_arm<adder::thread>>(e);
}
std::unique_ptr<emit_arm> make_warp_emission(emission const& e) {
  return std::make_unique<atomic_arm<adder::warp>>(e);
}

}  // namespace allocation
