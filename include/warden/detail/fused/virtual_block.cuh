// SPDX-License-Identifier: Apache-2.0
/// @file
/// Position of a user's kernel in its grid: its virtual block and its part of shared memory.
#pragma once

#include <warden/detail/fused/launch_control.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A block of the user's grid. A fused launch calls the user's function object once for each. Use
/// it instead of blockIdx and gridDim: the blocks of the launch are not the blocks of the user's
/// grid.
class virtual_block {
 public:
  /// Constructs a virtual block. Used by launches. Offsets and sizes are in bytes of the arena.
  WARDEN_DEVICE virtual_block(unsigned block_index, unsigned grid_dim, unsigned client_number,
                              detail::launch_ref const* launch, std::byte* arena,
                              std::size_t user_offset, std::size_t user_bytes)
      : block_index_{block_index},
        grid_dim_{grid_dim},
        client_number_{client_number},
        launch_{launch},
        arena_{arena},
        user_offset_{static_cast<unsigned>(user_offset)},
        user_bytes_{static_cast<unsigned>(user_bytes)} {}
  /// Not copyable: each thread has one object, which knows which of the thread's block clients
  /// stage.
  virtual_block(virtual_block const&) = delete;
  virtual_block& operator=(virtual_block const&) = delete;

  /// Returns the number of the virtual block, below `grid_dim()`: blockIdx.x of an ordinary kernel.
  [[nodiscard]] WARDEN_DEVICE unsigned block_index() const { return block_index_; }
  /// Returns the number of virtual blocks, as requested at the launch.
  [[nodiscard]] WARDEN_DEVICE unsigned grid_dim() const { return grid_dim_; }
  /// Returns this thread's number within its block: threadIdx.x.
  [[nodiscard]] WARDEN_DEVICE unsigned thread_rank() const { return simt::thread_rank(); }
  /// Returns the number of threads of a block: blockDim.x.
  [[nodiscard]] WARDEN_DEVICE unsigned block_dim() const { return simt::block_threads(); }
  /// Returns this thread's number among all threads of the virtual grid.
  [[nodiscard]] WARDEN_DEVICE std::size_t global_rank() const {
    return std::size_t{block_index_} * simt::block_threads() + simt::thread_rank();
  }
  /// Returns the number of threads of the virtual grid.
  [[nodiscard]] WARDEN_DEVICE std::size_t global_size() const {
    return std::size_t{grid_dim_} * simt::block_threads();
  }

  /// Returns the virtual block's shared memory as one `T`, uninitialized. The function object's
  /// type must declare its size: `using shared_storage = T;`. Returns null if `T` is larger than
  /// that, and `wait` reports an error.
  template <class T>
  [[nodiscard]] WARDEN_DEVICE T* shared() const {
    static_assert(alignof(T) <= arena_alignment,
                  "warden: shared memory is aligned to at most 128 bytes");
    if (sizeof(T) > user_bytes_) {
      launch_->note_shared(static_cast<std::uint32_t>(sizeof(T)), user_bytes_);
      return nullptr;
    }
    return reinterpret_cast<T*>(arena_ + user_offset_);
  }

  /// Returns the number of the executing block among the launch's client blocks. For the library.
  [[nodiscard]] WARDEN_DEVICE unsigned client_number() const { return client_number_; }
  /// Returns the whole arena of the launch. Block clients find their storage in it.
  [[nodiscard]] WARDEN_DEVICE std::byte* arena() const { return arena_; }
  /// Claims the staging of the launch's guarded array `position` for a block client of this thread.
  /// Returns true if it was free. Then it belongs to that client until `give_staging_back`.
  [[nodiscard]] WARDEN_DEVICE bool take_staging(std::uint32_t position) const {
    bool const is_free = (stagings_taken_ >> position & 1u) == 0;
    stagings_taken_ |= 1u << position;
    return is_free;
  }
  /// Gives back the staging of a client that is destroyed.
  WARDEN_DEVICE void give_staging_back(std::uint32_t position) const {
    stagings_taken_ &= ~(1u << position);
  }

 private:
  unsigned block_index_;
  unsigned grid_dim_;
  unsigned client_number_;
  detail::launch_ref const* launch_;
  std::byte* arena_;
  unsigned user_offset_;
  unsigned user_bytes_;
  /// Bit g: this thread has a block client that uses the staging of guarded array g. Each thread
  /// has its own copy: all threads construct clients at the same place, so their copies agree, and
  /// with one client the compiler knows the value.
  mutable std::uint32_t stagings_taken_ = 0;
};

WARDEN_NAMESPACE_END
