// SPDX-License-Identifier: Apache-2.0
// Stacks from the operating system, each with a guard page.

#include "stacks.hpp"

#include <warden/error.hpp>
#include <warden/simulation.hpp>

#include <sys/mman.h>

#include <cstddef>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {
constexpr std::size_t page = 4096;
constexpr std::size_t cache_line = 64;
constexpr std::size_t colours = 64;
/// A guard page, the stack, and room for its colour.
constexpr std::size_t mapped_bytes = page + stack_pool::stack_bytes + colours * cache_line;
}  // namespace

stack_pool& stacks() {
  // Never destroyed: what is enqueued may still run when the program ends.
  static stack_pool& pool = *new stack_pool;
  return pool;
}

boost::context::stack_context stack_pool::take() {
  if (free_.empty()) {
    void* const memory = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool const is_mapped = memory != MAP_FAILED;
    if (!is_mapped || mprotect(memory, page, PROT_NONE) != 0) {
      if (is_mapped) munmap(memory, mapped_bytes);
      throw limit_error{"the simulated device has memory for the stacks of " +
                        std::to_string(stacks_.size()) +
                        " resident threads; lower sim::settings::multiprocessors (now " +
                        std::to_string(current_settings().multiprocessors) +
                        ") or raise the system's vm.max_map_count, of which a stack takes 2"};
    }
    // The tops of stacks, where fibers mostly are, do not all fall into the same sets of a cache.
    std::size_t const left_out = stacks_.size() % colours * cache_line;
    stacks_.push_back(static_cast<std::byte*>(memory) + page + stack_bytes + left_out);
    free_.reserve(stacks_.capacity());  // giving back must not throw
    free_.push_back(stacks_.back());
  }
  boost::context::stack_context context;
  context.size = stack_bytes;
  context.sp = free_.back();
  free_.pop_back();
#if defined(__SANITIZE_ADDRESS__)
  // A fiber that was abandoned left its frames marked.
  __asan_unpoison_memory_region(static_cast<std::byte*>(context.sp) - context.size, context.size);
#endif
  return context;
}

std::uintptr_t stack_pool::end_of(std::uintptr_t address) const {
  for (void* const stack : stacks_) {
    auto const end = reinterpret_cast<std::uintptr_t>(stack);
    if (address < end && end - address <= stack_bytes) return end;
  }
  return 0;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
