// SPDX-License-Identifier: Apache-2.0
// The stacks of simulated threads.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <boost/context/stack_context.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// Stacks of fibers, kept from launch to launch, each with a guard page below it.
class stack_pool {
 public:
  static constexpr std::size_t stack_bytes = 64 * 1024;
  boost::context::stack_context take();
  void give_back(boost::context::stack_context const& stack) { free_.push_back(stack.sp); }
  /// All stacks are free again: no fiber of theirs runs any more.
  void free_all() { free_ = stacks_; }
  /// The upper end of the stack that `address` lies in; 0 if it lies in none.
  [[nodiscard]] std::uintptr_t end_of(std::uintptr_t address) const;

 private:
  std::vector<void*> stacks_;  ///< each by its upper end
  std::vector<void*> free_;
};

/// The program's pool.
stack_pool& stacks();

/// Hands a pooled stack to a fiber.
struct pooled_stack {
  boost::context::stack_context allocate() { return stacks().take(); }
  void deallocate(boost::context::stack_context& stack) noexcept { stacks().give_back(stack); }
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
