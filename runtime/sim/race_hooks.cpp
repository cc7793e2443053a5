// SPDX-License-Identifier: Apache-2.0
// Functions that code calls which is compiled with -fsanitize=thread, and linked without that
// sanitizer's library. Linked only into programs with such code.

#include "machine.hpp"

#include <cstdlib>
#include <cstring>

using warden::sim::machine;
using warden::sim::places;
using warden::sim::thread;

namespace {

/// Calls `tell(machine)` unless the caller is code of the host or of the runtime itself, which may
/// use functions of the standard library in the copy that was compiled so.
template <class Tell>
inline void in_device_code(Tell tell) {
  thread* const t = machine::running;
  if (t == nullptr) return;
  machine::running = nullptr;
  tell(*machine::now);
  machine::running = t;
}

inline void plain(void* address, std::size_t size, bool stores, void const* from) {
  in_device_code([&](machine& m) { m.plain_access(address, size, stores, from); });
}
inline void volatile_(void* address, unsigned size, bool stores, void const* from) {
  in_device_code([&](machine& m) { m.volatile_access(address, size, stores, from); });
}

}  // namespace

// NOLINTBEGIN: the names are the compiler's.
extern "C" {

void __tsan_init() { warden::sim::note_hooks(); }

void __tsan_func_entry(void* return_address) {
  if (thread* const t = machine::running) t->calls = places().within(t->calls, return_address);
}
void __tsan_func_exit() {
  if (thread* const t = machine::running) t->calls = places().caller(t->calls);
}
void __tsan_vptr_update(void** vptr, void*) {
  plain(vptr, sizeof(void*), true, __builtin_return_address(0));
}

#define WARDEN_HOOK(name, size, how, stores)                 \
  void __tsan_##name##size(void* address) {                  \
    how(address, size, stores, __builtin_return_address(0)); \
  }
#define WARDEN_HOOKS(prefix, size)                           \
  WARDEN_HOOK(prefix##read, size, plain, false)              \
  WARDEN_HOOK(prefix##write, size, plain, true)              \
  WARDEN_HOOK(prefix##volatile_read, size, volatile_, false) \
  WARDEN_HOOK(prefix##volatile_write, size, volatile_, true)
WARDEN_HOOKS(, 1)
WARDEN_HOOKS(, 2)
WARDEN_HOOKS(, 4)
WARDEN_HOOKS(, 8)
WARDEN_HOOKS(, 16)
WARDEN_HOOKS(unaligned_, 2)
WARDEN_HOOKS(unaligned_, 4)
WARDEN_HOOKS(unaligned_, 8)
WARDEN_HOOKS(unaligned_, 16)

void __tsan_read_range(void* address, std::size_t size) {
  plain(address, size, false, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t size) {
  plain(address, size, true, __builtin_return_address(0));
}

}  // extern "C"
// NOLINTEND
