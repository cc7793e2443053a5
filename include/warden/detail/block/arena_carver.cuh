// SPDX-License-Identifier: Apache-2.0
/// @file
/// Carves a block's shared memory into pieces. One list declares each piece and its place.
#pragma once

#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A piece of shared memory: `size` objects of type T, `offset` bytes after the begin of the
/// memory.
template <class T>
struct arena_piece {
  std::size_t offset;  ///< in bytes
  std::size_t size;    ///< in objects

  /// Returns the piece of the memory that begins at `storage`, uninitialized.
  WARDEN_DEVICE simt::shared_span<T> in(std::byte* storage) const {
    return {reinterpret_cast<T*>(storage + offset), static_cast<unsigned>(size)};
  }
};

/// Takes pieces one after another, each aligned for its type. A layout is a struct whose first
/// member is a carver and whose others are the pieces that it takes, in order:
///
///     struct layout {
///       std::size_t servers;
///       arena_carver carver{};
///       arena_piece<std::uint64_t> bases = carver.take<std::uint64_t>(servers);
///       arena_piece<std::uint32_t> counts = carver.take<std::uint32_t>(servers);
///     };
///
/// `layout{servers}.carver.bytes()` is the size that it needs, and
/// `layout{servers}.counts.in(storage)` a piece of it. Precondition: the memory is aligned at least
/// as the first piece.
class arena_carver {
 public:
  /// Takes `size` objects of type T. `alignment` is in bytes, a power of two up to
  /// `arena_alignment`.
  template <class T>
  WARDEN_HOST_DEVICE constexpr arena_piece<T> take(std::size_t size,
                                                   std::size_t alignment = alignof(T)) {
    static_assert(alignof(T) <= arena_alignment);
    std::size_t const offset = (bytes_ + alignment - 1) / alignment * alignment;
    bytes_ = offset + sizeof(T) * size;
    return {offset, size};
  }
  /// Returns the size of all pieces so far. Units: bytes.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Returns `bytes`, rounded up to the alignment of shared memory.
WARDEN_HOST_DEVICE constexpr std::size_t aligned_to_arena(std::size_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

}  // namespace detail
WARDEN_NAMESPACE_END
