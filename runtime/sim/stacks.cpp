// SPDX-License-Identifier: Apache-2.0
// Stacks from the operating system, each with a guard page.

#include "stacks.hpp"

#include <sys/mman.h>

#include <new>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {
constexpr std::size_t page = 4096;
}  // namespace

stack_pool& stacks() {
  static stack_pool pool;
  return pool;
}

stack_pool::~stack_pool() {
  for (void* s : stacks_)
    munmap(static_cast<std::byte*>(s) - stack_bytes - page, stack_bytes + page);
}

boost::context::stack_context stack_pool::take() {
  if (free_.empty()) {
    void* const memory = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc{};
    stacks_.push_back(static_cast<std::byte*>(memory) + page + stack_bytes);
    free_.reserve(stacks_.capacity());  // giving back must not throw
    free_.push_back(stacks_.back());
  }
  boost::context::stack_context context;
  context.size = stack_bytes;
  context.sp = free_.back();
  free_.pop_back();
  return context;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
