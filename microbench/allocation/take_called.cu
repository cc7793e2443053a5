// SPDX-License-Identifier: Apache-2.0
// Arm that gets places as answers from the servers of many counters.

#include "microbench/allocation/called_places.cuh"
#include "microbench/allocation/take_arm.hpp"

#include <cstdint>
#include <memory>

namespace allocation {
namespace {

struct take_by_calls {
  takes all;
  std::uint32_t number;  ///< number of the first item

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    bench::call_all_by_block(at, ref, *this);
  }
  [[nodiscard]] WARDEN_DEVICE take_by_calls from(std::uint64_t first) const {
    auto const before = static_cast<std::uint32_t>(first);
    return {{all.ids + first, all.n - before, all.counters, all.places + first}, number + before};
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t n() const { return all.n; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(std::uint32_t i) const { return all.ids[i]; }
  [[nodiscard]] WARDEN_DEVICE take_places section(std::uint32_t i) const {
    return {takes::count(number + i)};
  }
  template <class Answer>
  WARDEN_DEVICE void answered(std::uint32_t i, Answer const& place) const {
    all.places[i] = static_cast<std::uint32_t>(place.value_or(~std::uint64_t{0}));
  }
};

class called_take final : public take_arm {
 public:
  explicit called_take(warden::buffer<std::uint64_t> const& counters) : by_{counters} {}
  void run_async(takes const& t) override { by_.run_async(take_by_calls{t, 0}); }
  void wait() override { by_.wait(); }

 private:
  called_counters by_;
};

}  // namespace

std::unique_ptr<take_arm> make_called_taking(warden::buffer<std::uint64_t> const& counters) {
  return std::make_unique<called_take>(counters);
}

}  // namespace allocation
