// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a user's kernel knows about where it runs: its virtual block, and its piece of shared
/// memory.
#pragma once

#include <warden/detail/fused/launch_control.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A block of the user's grid, handed to the user's function object once for each. Use it instead
/// of blockIdx and gridDim: the blocks of the launch are not the blocks of the user's grid.
class virtual_block {
 public:
  /// Made by launches. Offsets and sizes are in bytes of the arena.
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
  /// There is one a thread, which knows which of the thread's block clients gather.
  virtual_block(virtual_block const&) = delete;
  virtual_block& operator=(virtual_block const&) = delete;

  /// The virtual block, below `grid_dim()`: blockIdx.x of an ordinary kernel.
  [[nodiscard]] WARDEN_DEVICE unsigned block_index() const { return block_index_; }
  /// Virtual blocks, as asked for at the launch.
  [[nodiscard]] WARDEN_DEVICE unsigned grid_dim() const { return grid_dim_; }
  /// This thread within its block: threadIdx.x.
  [[nodiscard]] WARDEN_DEVICE unsigned thread_rank() const { return simt::thread_rank(); }
  /// Threads of a block: blockDim.x.
  [[nodiscard]] WARDEN_DEVICE unsigned block_dim() const { return simt::block_threads(); }
  /// This thread among all threads of the virtual grid.
  [[nodiscard]] WARDEN_DEVICE std::size_t global_rank() const {
    return std::size_t{block_index_} * simt::block_threads() + simt::thread_rank();
  }
  /// Threads of the virtual grid.
  [[nodiscard]] WARDEN_DEVICE std::size_t global_size() const {
    return std::size_t{grid_dim_} * simt::block_threads();
  }

  /// The virtual block's own shared memory as one `T`, contents garbage. The function object's type
  /// must say how much it needs: `using shared_storage = T;`. Null, and an error of `wait`, when
  /// `T` is larger than that.
  template <class T>
  [[nodiscard]] WARDEN_DEVICE T* shared() const {
    static_assert(alignof(T) <= arena_alignment,
                  "warden: shared memory is aligned to 128 bytes at most");
    if (sizeof(T) > user_bytes_) {
      launch_->note_shared(static_cast<std::uint32_t>(sizeof(T)), user_bytes_);
      return nullptr;
    }
    return reinterpret_cast<T*>(arena_ + user_offset_);
  }

  /// The block that runs it, among the launch's client blocks: who it is for the library.
  [[nodiscard]] WARDEN_DEVICE unsigned client_number() const { return client_number_; }
  /// The whole arena of the launch; block clients find their storage in it.
  [[nodiscard]] WARDEN_DEVICE std::byte* arena() const { return arena_; }
  /// For block clients: whether the staging of the launch's guarded `position` is free. It then
  /// belongs to the calling thread's client until `give_staging_back`.
  [[nodiscard]] WARDEN_DEVICE bool take_staging(std::uint32_t position) const {
    bool const is_free = (stagings_taken_ >> position & 1u) == 0;
    stagings_taken_ |= 1u << position;
    return is_free;
  }
  /// The client is gone.
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
  /// Bit g: this thread has a block client that gathers in the staging of guarded array g. The
  /// thread's own, not the block's: what all threads do at the same place they need not tell each
  /// other, and where there is one client the compiler knows the answer.
  mutable std::uint32_t stagings_taken_ = 0;
};

WARDEN_NAMESPACE_END
