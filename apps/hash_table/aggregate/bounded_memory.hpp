// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of containers, up to a limit.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

namespace hash_table {

/// Error of a container that has reached its limit.
class memory_full : public std::bad_alloc {
 public:
  [[nodiscard]] char const* what() const noexcept override { return "the memory limit is reached"; }
};

/// Gives out memory of the heap until its total exceeds a limit.
class bounded_memory : public std::pmr::memory_resource {
 public:
  explicit bounded_memory(std::size_t most) : most_{most} {}

 private:
  /// Bytes of the heap for a block of `bytes` bytes, with those that the heap keeps for itself.
  static constexpr std::size_t taken(std::size_t bytes) { return bytes + 16; }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (taken(bytes) > most_ - used_) throw memory_full{};
    void* const memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    used_ += taken(bytes);
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    used_ -= taken(bytes);
  }
  [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
    return this == &other;
  }

  std::size_t most_, used_ = 0;
};

}  // namespace hash_table
