// SPDX-License-Identifier: Apache-2.0
// std::atomic and its like in code that is compiled with -fsanitize=thread: see race_hooks.cpp. In
// device memory they are the simulated device's atomics, elsewhere the processor's.

#include "machine.hpp"

#include <cstdint>
#include <utility>

namespace {

using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
using warden::sim::machine;
using warden::sim::scope;
using warden::sim::thread;
__extension__ using uint128_t = unsigned __int128;

constexpr bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}
constexpr bool acquires(int order) {
  return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}
void fence(machine& m, int order) {
  if (order == __ATOMIC_SEQ_CST) {
    m.fence_in_order(scope::device);
  } else {
    m.fence(scope::device);
  }
}

template <class T>
bool compare_and_swap(T* address, T& expected, T value) {
  return __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
[[gnu::target("cx16")]] bool compare_and_swap(uint128_t* address, uint128_t& expected,
                                              uint128_t value) {
  uint128_t const found = __sync_val_compare_and_swap(address, expected, value);
  return std::exchange(expected, found) == found;
}

/// Replaces the word by `change(old)` if `wants(old)`. Returns the old value.
template <class T, class Wants, class Change>
T replace(void volatile const* at, int order, void const* from, Wants wants, Change change) {
  T* const address = static_cast<T*>(const_cast<void*>(at));
  thread* const t = machine::running;
  machine::running = nullptr;
  machine* m = t == nullptr ? nullptr : machine::now;
  if (m != nullptr && !m->begins_atomic(address, sizeof(T), from)) m = nullptr;
  if (m != nullptr) {
    if (releases(order)) fence(*m, order);
    m->begin_atomic(address, sizeof(T));
  }
  T old{};
  while (!compare_and_swap(address, old, wants(old) ? change(old) : old)) {
  }
  if (m != nullptr) {
    m->end_atomic(address, sizeof(T), wants(old));
    if (acquires(order)) fence(*m, order);
  }
  machine::running = t;
  return old;
}
constexpr auto always = [](auto) { return true; };
constexpr auto never = [](auto) { return false; };

}  // namespace

extern "C" {

#define WARDEN_CHANGE(bits, name, expression)                                               \
  uint##bits##_t __tsan_atomic##bits##_##name(void volatile* address, uint##bits##_t value, \
                                              int order) {                                  \
    using word = uint##bits##_t;                                                            \
    return replace<word>(address, order, __builtin_return_address(0), always,               \
                         [&](word old) { return static_cast<word>(expression); });          \
  }
#define WARDEN_COMPARE(bits, name)                                                           \
  bool __tsan_atomic##bits##_compare_exchange_##name(void volatile* address, void* expected, \
                                                     uint##bits##_t value, int order, int) { \
    using word = uint##bits##_t;                                                             \
    word const wanted = *static_cast<word*>(expected);                                       \
    word const old = replace<word>(                                                          \
        address, order, __builtin_return_address(0), [&](word w) { return w == wanted; },    \
        [&](word) { return value; });                                                        \
    *static_cast<word*>(expected) = old;                                                     \
    return old == wanted;                                                                    \
  }
#define WARDEN_ATOMICS(bits)                                                                  \
  uint##bits##_t __tsan_atomic##bits##_load(void const volatile* address, int order) {        \
    using word = uint##bits##_t;                                                              \
    return replace<word>(address, order, __builtin_return_address(0), never,                  \
                         [](word old) { return old; });                                       \
  }                                                                                           \
  void __tsan_atomic##bits##_store(void volatile* address, uint##bits##_t value, int order) { \
    using word = uint##bits##_t;                                                              \
    replace<word>(address, order, __builtin_return_address(0), always,                        \
                  [&](word) { return value; });                                               \
  }                                                                                           \
  WARDEN_CHANGE(bits, exchange, (static_cast<void>(old), value))                              \
  WARDEN_CHANGE(bits, fetch_add, old + value)                                                 \
  WARDEN_CHANGE(bits, fetch_sub, old - value)                                                 \
  WARDEN_CHANGE(bits, fetch_and, old& value)                                                  \
  WARDEN_CHANGE(bits, fetch_or, old | value)                                                  \
  WARDEN_CHANGE(bits, fetch_xor, old ^ value)                                                 \
  WARDEN_CHANGE(bits, fetch_nand, ~(old & value))                                             \
  WARDEN_COMPARE(bits, strong)                                                                \
  WARDEN_COMPARE(bits, weak)
WARDEN_ATOMICS(8)
WARDEN_ATOMICS(16)
WARDEN_ATOMICS(32)
WARDEN_ATOMICS(64)
WARDEN_ATOMICS(128)

void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (machine::running == nullptr || order == __ATOMIC_RELAXED) return;
  machine::now->comes_from(__builtin_return_address(0));
  fence(*machine::now, order);
}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
