// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device memory behind an output, besides the elements.
#pragma once

#include <warden/allocate/long_tiles.cuh>
#include <warden/allocate/misplaced_owners.cuh>
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

/// What the device tells the host of the last allocation, beside the number of places; zero before
/// it begins.
struct allocation_report {
  tile_control tiles;       ///< in order
  misplaced_owners owners;  ///< of a partition
};

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
    return {words_.data() + header_words, tiles, &in_front()->report.tiles, counter(), limit};
  }
  /// An empty list with room for `most` tiles of more than `longest` elements. As `begin_async`,
  /// and after it.
  [[nodiscard]] long_tiles listed(std::uint64_t longest, std::uint64_t most, stream_ref s,
                                  std::source_location where) {
    grow(long_tiles_, most, s, where);
    return {long_tiles_.data(), &in_front()->long_tiles, longest};
  }

  /// Room for anything, aligned to 256 bytes. As `begin_async`.
  [[nodiscard]] std::byte* scratch(std::size_t bytes, stream_ref s, std::source_location where) {
    grow(scratch_, bytes, s, where);
    return scratch_.data();
  }
  /// For `partition_async`, after `begin_async`.
  [[nodiscard]] misplaced_owners* owners() const { return &in_front()->report.owners; }

  /// What the host is told.
  struct state {
    std::uint64_t taken;       ///< places
    allocation_report report;  ///< of the last allocation
  };
  /// Blocks the host until the stream has come here. Throws cuda_error.
  [[nodiscard]] state to_host(stream_ref s, std::source_location where) const {
    state result{};
    copy(&result.taken, counter(), 1, s, where);
    if (words_.size() != 0) copy(&result.report, &in_front()->report, 1, s, where);
    s.synchronize(where);
    return result;
  }

 private:
  struct header {
    allocation_report report;
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
  buffer<std::byte> scratch_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
