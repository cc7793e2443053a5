// SPDX-License-Identifier: Apache-2.0
// Arm whose threads call a server for their places, and store their elements.

#include "microbench/allocation/called_places.cuh"
#include "microbench/allocation/emit_arm.hpp"
#include "microbench/allocation/item_element.cuh"

#include <warden/allocate.cuh>

#include <cstdint>
#include <memory>

namespace allocation {
namespace {

struct emit_by_calls {
  std::uint32_t const* counts;
  std::uint32_t items;
  warden::output_ref<std::uint32_t> out;
  std::uint32_t number;  ///< number of the first item

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    bench::call_all_by_block(at, ref, *this);
  }
  [[nodiscard]] WARDEN_DEVICE emit_by_calls from(std::uint64_t first) const {
    auto const before = static_cast<std::uint32_t>(first);
    return {counts + first, items - before, out, number + before};
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t n() const { return items; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(std::uint32_t) const { return 0; }
  [[nodiscard]] WARDEN_DEVICE take_places section(std::uint32_t i) const {
    return {counts[i < items ? i : 0]};
  }
  template <class Answer>
  WARDEN_DEVICE void answered(std::uint32_t i, Answer const& place) const {
    if (!place.has_value()) return;
    std::uint64_t const first = *place;
    for (std::uint32_t k = 0; k < counts[i]; ++k)
      out.store(first + k, item_element{}(number + i, k));
  }
};

class called_arm final : public emit_arm {
 public:
  explicit called_arm(emission const& e) : out_{e.elements, e.room, counter_.data()} {}
  void run_async(emission const& e) override {
    counter_.fill_bytes(0);
    by_.run_async(emit_by_calls{e.counts, e.n, out_, 0});
  }
  std::uint64_t wait(emission const&) override {
    by_.wait();
    return counter_.to_host()[0];
  }

 private:
  warden::buffer<std::uint64_t> counter_{1};
  warden::output_ref<std::uint32_t> out_;
  called_counters by_{counter_};
};

}  // namespace

std::unique_ptr<emit_arm> make_called_emission(emission const& e) {
  return std::make_unique<called_arm>(e);
}

}  // namespace allocation
