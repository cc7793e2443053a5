// SPDX-License-Identifier: Apache-2.0
// Emission by Warden's allocation functions, which take places and store the elements.
#pragma once

#include "microbench/allocation/emit_arm.hpp"

#include <warden/allocate.cuh>

#include <cstdint>
#include <memory>

namespace allocation {

/// `Call{}(e, out)` enqueues the emission.
template <class Call>
class call_arm final : public emit_arm {
 public:
  explicit call_arm(emission const& e) : out_{e.elements, e.room} {}
  void run_async(emission const& e) override {
    out_.clear_async();
    Call{}(e, out_);
  }
  std::uint64_t wait(emission const&) override { return out_.wait(); }

 private:
  warden::output<std::uint32_t> out_;
};
template <class Call>
std::unique_ptr<emit_arm> make_call(emission const& e) {
  return std::make_unique<call_arm<Call>>(e);
}

}  // namespace allocation
