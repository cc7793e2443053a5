// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms whose search is one cooperative launch.
#pragma once

#include "apps/breadth_first/arms.cuh"
#include "apps/breadth_first/search.cuh"

#include <warden/runtime.hpp>

#include <memory>

namespace breadth_first {

/// Arm that searches by a policy.
template <class Policy>
class one_launch_arm final : public arm {
 public:
  void search(search_state const& s, std::uint32_t source) override {
    search_state state = s;
    void* arguments[] = {&state, &source};
    warden::runtime::launch(kernel_, {blocks_, search_threads, 0, true}, arguments, {});
  }

 private:
  warden::runtime::kernel kernel_ = simt::make_kernel(&breadth_first::search<Policy>);
  unsigned blocks_ = search_blocks(kernel_, 0);
};

template <class Policy>
std::unique_ptr<arm> one_launch() {
  return std::make_unique<one_launch_arm<Policy>>();
}

}  // namespace breadth_first
