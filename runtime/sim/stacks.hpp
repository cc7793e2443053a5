// SPDX-License-Identifier: Apache-2.0
// The stacks of simulated threads.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <boost/context/stack_context.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#  include <sanitizer/common_interface_defs.h>
#endif

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

/// A stack as AddressSanitizer knows it: `leave` and `enter` enclose each switch of stacks. They do
/// nothing without AddressSanitizer.
class stack_bounds {
 public:
  stack_bounds() = default;
  explicit stack_bounds(boost::context::stack_context const& s)
      : begin_{static_cast<std::byte*>(s.sp) - s.size}, bytes_{s.size} {}

  [[nodiscard]] bool holds(void const* address) const {
    auto const offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_);
    return offset < bytes_;
  }
  /// The running stack, this one, is left for `to`; for ever if it `ends`.
  void leave([[maybe_unused]] stack_bounds const& to, [[maybe_unused]] bool ends = false) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ends ? nullptr : &frames_, to.begin_, to.bytes_);
#endif
  }
  /// This stack runs again, or for the first time. Notes the bounds of the stack `from` that ran.
  void enter([[maybe_unused]] stack_bounds& from) const {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(frames_, &from.begin_, &from.bytes_);
#endif
  }

 private:
  void const* begin_ = nullptr;
  std::size_t bytes_ = 0;
  void* frames_ = nullptr;  ///< AddressSanitizer's own
};

/// Stacks of fibers, kept from launch to launch, each with a guard page below it.
class stack_pool {
 public:
  /// AddressSanitizer makes frames larger.
  static constexpr std::size_t stack_bytes = (address_sanitizer ? 256 : 64) * 1024;
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

/// Hands a pooled stack to a fiber, and its bounds to `bounds`.
struct pooled_stack {
  stack_bounds& bounds;
  boost::context::stack_context allocate() {
    auto const stack = stacks().take();
    bounds = stack_bounds{stack};
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept { stacks().give_back(stack); }
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
