// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device memory behind an output, besides the elements.
#pragma once

#include <warden/allocate/long_tiles.cuh>
#include <warden/allocate/tile_order.cuh>
#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Grows as allocations ask for more, behind all work of the device; then stays.
class allocation_memory {
 public:
  /// Nothing but a counter, garbage. Throws cuda_error.
  explicit allocation_memory(std::source_location where) : counter_(1, where) {}

  /// Places taken.
  [[nodiscard]] std::uint64_t* counter() const { return counter_.data(); }
  /// No place is taken; enqueued. Throws cuda_error.
  void clear_counter_async(stream_ref s, std::source_location where) {
    counter_.fill_bytes(0, s, where);
  }
  /// A new allocation begins, with so many tiles in order, none of them taken, and no long tile;
  /// enqueued. Throws cuda_error; limit_error if memory has to grow while the stream is captured.
  void begin_async(std::uint64_t tiles, stream_ref s, std::source_location where) {
    grow(words_, header_words + tiles, s, where);
    runtime::fill_async(words_.data(), 0, (header_words + tiles) * sizeof(std::uint64_t), s, where);
  }
  /// The tiles that it began with.
  [[nodiscard]] tile_order order(std::uint64_t tiles, time_limit limit) const {
    return {words_.data() + header_words, tiles, &in_front()->tiles, counter(), limit};
  }
  /// An empty list with room for `most` tiles of more than `longest` elements. As `begin_async`,
  /// and after it.
  [[nodiscard]] long_tiles listed(std::uint64_t longest, std::uint64_t most, stream_ref s,
                                  std::source_location where) {
    grow(long_tiles_, most, s, where);
    return {long_tiles_.data(), &in_front()->long_tiles, longest};
  }
  /// Room for so many sums. As `begin_async`.
  [[nodiscard]] std::uint64_t* sums(std::size_t n, stream_ref s, std::source_location where) {
    grow(sums_, n, s, where);
    return sums_.data();
  }

  /// What the host is told.
  struct state {
    std::uint64_t taken;  ///< places
    tile_control tiles;   ///< of the last allocation in order
  };
  /// Blocks the host until the stream has come here. Throws cuda_error.
  [[nodiscard]] state to_host(stream_ref s, std::source_location where) const {
    state result{};
    copy(&result.taken, counter(), 1, s, where);
    if (words_.size() != 0) copy(&result.tiles, &in_front()->tiles, 1, s, where);
    s.synchronize(where);
    return result;
  }

 private:
  struct header {
    tile_control tiles;
    std::uint64_t long_tiles;
  };
  static constexpr std::size_t header_words =
      (sizeof(header) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);

  [[nodiscard]] header* in_front() const { return reinterpret_cast<header*>(words_.data()); }
  template <class T>
  static void grow(buffer<T>& memory, std::uint64_t size, stream_ref s,
                   std::source_location where) {
    if (size <= memory.size()) return;
    if (runtime::capturing(s, where)) {
      throw limit_error{"allocate: " + std::to_string(size * sizeof(T)) +
                            " bytes of device memory are needed, and while a stream is captured "
                            "there are " +
                            std::to_string(memory.bytes()) +
                            ": let one such allocation run before, of this output",
                        where};
    }
    memory = buffer<T>(size, where);
  }

  buffer<std::uint64_t> counter_;
  buffer<std::uint64_t> words_;  ///< a header, then a word for each tile
  buffer<long_tile> long_tiles_;
  buffer<std::uint64_t> sums_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
