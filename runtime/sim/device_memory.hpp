// SPDX-License-Identifier: Apache-2.0
// The device memory of the program: allocations between guard zones, and those freed last.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <source_location>
#include <span>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// Memory that the runtime has handed out, between two guard zones.
struct allocation {
  std::byte* begin;
  std::size_t bytes;
  std::source_location where;  ///< the place that asked for it
  bool freed = false;

  /// True if all of `size` bytes from `address` on may be accessed.
  [[nodiscard]] bool holds(void const* address, std::size_t size) const {
    auto const from = reinterpret_cast<std::uintptr_t>(address);
    auto const first = reinterpret_cast<std::uintptr_t>(begin);
    return !freed && from >= first && from - first <= bytes && size <= bytes - (from - first);
  }
};

/// All allocations of the program. Only under `lock_device`.
class device_memory {
 public:
  static constexpr std::size_t alignment = 256;

  /// Garbage at first, as on a GPU. Throws std::bad_alloc.
  std::byte* allocate(std::size_t bytes, std::source_location where);
  /// Number of bytes that the allocation had. What is freed stays in quarantine for a while, filled
  /// with canaries.
  std::size_t free(void* memory);
  /// The allocation that `address` lies in or at most a guard zone away from; null if there is
  /// none.
  [[nodiscard]] allocation const* near(void const* address) const;
  /// Names `size` bytes from `address` on by their place in `a`.
  [[nodiscard]] static std::string describe(allocation const& a, void const* address,
                                            std::size_t size);
  /// A number that differs, with all likelihood, when memory that is not freed differs.
  [[nodiscard]] std::uint64_t hash() const;
  /// Names all bytes of guard zones and of freed memory that were written since the last call;
  /// empty if there are none.
  std::string damage();

 private:
  static constexpr std::size_t guard_bytes = 2 * alignment;
  static constexpr std::size_t quarantine_bytes = std::size_t{64} << 10;

  void release_oldest();

  std::map<std::byte const*, allocation> allocations_;  ///< by their begin
  std::deque<std::byte const*> quarantine_;             ///< the oldest one first
  std::size_t quarantined_ = 0;                         ///< bytes
};

/// The program's.
device_memory& memory();

/// Hash of these bytes after what `before` is the hash of.
std::uint64_t hash_bytes(std::span<std::byte const> bytes, std::uint64_t before);

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
