// SPDX-License-Identifier: Apache-2.0
// The device memory of the program, and the check of each access to it.

#include "device_memory.hpp"

#include "machine.hpp"
#include "stacks.hpp"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr std::byte canary{0xa5};
constexpr std::byte garbage{0xcd};

/// The first and the last byte of [begin, end) that is no canary any more, or null.
std::pair<std::byte*, std::byte*> changed(std::byte* begin, std::byte* end) {
  // Every byte is its neighbour's like: one comparison of the C library, which is fast.
  if (begin == end || (*begin == canary && std::memcmp(begin, begin + 1, end - begin - 1) == 0))
    return {};
  auto const is_changed = [](std::byte b) { return b != canary; };
  std::byte* const first = std::find_if(begin, end, is_changed);
  std::byte* last = end - 1;
  while (!is_changed(*last)) --last;
  return {first, last};
}

}  // namespace

device_memory& memory() {
  // Never destroyed: static objects of the program free device memory when it ends.
  static device_memory& m = *new device_memory;
  return m;
}

std::byte* device_memory::allocate(std::size_t bytes, std::source_location where) {
  std::size_t const whole = (bytes + alignment - 1) / alignment * alignment + 2 * guard_bytes;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
  if (block == nullptr) throw std::bad_alloc{};
  std::byte* const begin = block + guard_bytes;
  std::fill(block, begin, canary);
  std::fill_n(begin, bytes, garbage);
  std::fill_n(begin + bytes, guard_bytes, canary);
  allocations_[begin] = {begin, bytes, where};
  return begin;
}

std::size_t device_memory::free(void* memory) {
  allocation& a = allocations_.find(static_cast<std::byte const*>(memory))->second;
  a.freed = true;
  std::fill_n(a.begin, a.bytes, canary);
  quarantine_.push_back(a.begin);
  quarantined_ += a.bytes + 2 * guard_bytes;
  std::size_t const bytes = a.bytes;
  while (quarantined_ > quarantine_bytes) release_oldest();
  return bytes;
}

void device_memory::release_oldest() {
  auto const oldest = allocations_.find(quarantine_.front());
  quarantine_.pop_front();
  quarantined_ -= oldest->second.bytes + 2 * guard_bytes;
  std::free(oldest->second.begin - guard_bytes);
  allocations_.erase(oldest);
}

allocation const* device_memory::near(void const* address) const {
  auto const* const at = static_cast<std::byte const*>(address);
  auto const next = allocations_.upper_bound(at + guard_bytes);
  if (next == allocations_.begin()) return nullptr;
  allocation const& found = std::prev(next)->second;
  return std::less<>{}(at, found.begin + found.bytes + guard_bytes) ? &found : nullptr;
}

std::string device_memory::describe(allocation const& a, void const* address, std::size_t size) {
  auto const first = static_cast<std::byte const*>(address) - a.begin;
  auto const last = first + static_cast<std::ptrdiff_t>(size) - 1;
  auto const bytes = static_cast<std::ptrdiff_t>(a.bytes);
  std::string text = "bytes " + std::to_string(first) + " to " + std::to_string(last) + " of " +
                     (a.freed ? "a freed allocation of " : "an allocation of ") +
                     std::to_string(bytes) + " bytes (made at " + to_string(a.where) + ")";
  if (first < 0) text += ", " + std::to_string(-first) + " before its begin";
  if (last >= bytes) text += ", " + std::to_string(last - bytes + 1) + " past its end";
  return text;
}

std::uint64_t device_memory::hash() const {
  std::uint64_t hash = 0;
  for (auto const& [begin, a] : allocations_) {
    if (!a.freed) hash = hash_bytes({a.begin, a.bytes}, hash);
  }
  return hash;
}

std::uint64_t hash_bytes(std::span<std::byte const> bytes, std::uint64_t before) {
  std::uint64_t hash = before;
  while (!bytes.empty()) {
    std::size_t const here = std::min<std::size_t>(sizeof(std::uint64_t), bytes.size());
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), here);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    bytes = bytes.subspan(here);
  }
  return hash;
}

std::string device_memory::damage() {
  std::string text;
  auto const check = [&](allocation const& a, std::byte* begin, std::byte* end) {
    auto const [first, last] = changed(begin, end);
    if (first == nullptr) return;
    text += (text.empty() ? "" : " and ") + describe(a, first, last - first + 1);
    std::fill(first, last + 1, canary);
  };
  for (auto& [begin, a] : allocations_) {
    check(a, a.begin - guard_bytes, a.begin);
    check(a, a.freed ? a.begin : a.begin + a.bytes, a.begin + a.bytes + guard_bytes);
  }
  return text;
}

// ---- accesses of device code

namespace {

using address_range = machine::address_range;

bool contains(address_range const& r, std::uintptr_t address, std::size_t size) {
  return address >= r.begin && address < r.end && size <= r.end - address;
}

/// The part of a loaded program or library that holds `address` and has all of `flags`: variables
/// of static storage.
address_range static_storage(std::uintptr_t address, unsigned flags) {
  struct search {
    std::uintptr_t address;
    unsigned flags;
    address_range found;
  } s{address, flags, {}};
  auto const visit = [](dl_phdr_info* module, std::size_t, void* argument) {
    auto& s = *static_cast<search*>(argument);
    for (unsigned i = 0; i < module->dlpi_phnum; ++i) {
      auto const& segment = module->dlpi_phdr[i];
      std::uintptr_t const begin = module->dlpi_addr + segment.p_vaddr;
      address_range const r{begin, begin + segment.p_memsz};
      if (segment.p_type == PT_LOAD && (segment.p_flags & s.flags) == s.flags &&
          contains(r, s.address, 1))
        s.found = r;
    }
    return s.found.end != 0 ? 1 : 0;
  };
  dl_iterate_phdr(visit, &s);
  return s.found;
}

/// Local memory of the thread that runs: the part of its stack that is in use.
address_range local_memory() {
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return {here, stacks().end_of(here)};
}

}  // namespace

void machine::check_access(char const* what, void const* address, unsigned size,
                           device::site const& where) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  address_range& last = accessed_[where.line() % accessed_.size()];
  if (!contains(last, at, size)) last = accessible(what, address, size, where);
}

/// The allocation that the access lies in, or nothing if it is far from all.
machine::address_range machine::allocated(std::string const& what, void const* address,
                                          std::size_t size, device::site const& where) {
  allocation const* const a = memory().near(address);
  if (a == nullptr) return {};
  auto const begin = reinterpret_cast<std::uintptr_t>(a->begin);
  if (a->holds(address, size)) return {begin, begin + a->bytes};
  misuse(what + " outside device memory: " + device_memory::describe(*a, address, size), where);
}

/// The memory that the access lies in, if it is the same for all threads of the launch.
machine::address_range machine::accessible(char const* what, void const* address, unsigned size,
                                           device::site const& where) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  if (auto const found = allocated(what, address, size, where); found.end != 0) return found;
  if (is_shared(address) || contains(local_memory(), at, size)) return {};
  address_range const variables = static_storage(at, 0);
  if (contains(variables, at, size)) return variables;
  misuse(std::string{what} + " of " + std::to_string(size) +
             " bytes outside device memory, far from any allocation: a wrong index, or memory of "
             "the host; allocate device memory by warden::buffer",
         where);
}

/// True if threads share the memory that compiled code is about to access: not if it is the stack
/// of a thread, or memory of the host, such as the copy of a kernel's arguments.
bool machine::is_device_memory(char const* what, void const* address, std::size_t size) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  thread& t = *current_;
  address_range& last = plainly_accessed_[t.at % plainly_accessed_.size()];
  if (contains(last, at, size)) return true;
  auto const here = reinterpret_cast<std::uintptr_t>(&device::here);
  if (contains({here, here + sizeof(device::here)}, at, 1)) return false;
  block const& b = *t.home;
  auto const in = [&](void const* begin, std::size_t bytes, std::size_t room) {
    auto const from = reinterpret_cast<std::uintptr_t>(begin);
    if (!contains({from, from + room}, at, 1)) return false;
    if (contains({from, from + bytes}, at, size)) return true;
    misuse(std::string{what} + " outside shared memory: bytes " + std::to_string(at - from) +
               " to " + std::to_string(at - from + size - 1) + " of " + std::to_string(bytes) +
               places().text(t.at),
           t.where);
  };
  running_launch const& l = *b.of;
  for (block const& other : cluster_of(b)) {
    if (in(other.shared, l.kernel.shape.shared_bytes, l.arena_stride)) return true;
  }
  for (static_object const& o : b.statics) {
    if (in(o.begin, o.bytes, o.bytes + shared_canary_bytes)) return true;
  }
  address_range found = allocated(what, address, size, t.where);
  if (found.end == 0) found = static_storage(at, PF_W);
  if (!contains(found, at, size)) return false;
  last = found;
  return true;
}

/// Plain C++ has written past allocations, or in freed ones.
void machine::check_memory() {
  if (std::string const damage = memory_damage(); !damage.empty())
    fail(damage, running_->kernel.where, listing::none);
}

std::string machine::memory_damage() const {
  std::string const damage = memory().damage();
  if (damage.empty()) return "";
  return "the launch at " + to_string(running_->kernel.where) + " wrote " + damage;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
