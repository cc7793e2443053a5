// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory in which the turns of all accesses are found, and the kernels that find them.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/order_kernels.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Memory of runs with at most `sections` sections and `accesses` accesses.
class turn_memory {
 public:
  turn_memory() = default;
  /// Makes the memory for sections on `records` records. Throws cuda_error when memory is short.
  turn_memory(std::size_t sections, std::size_t accesses, std::uint32_t records,
              std::source_location where)
      // An empty array has no ids, but a sort has at least one bit.
      : key_bits_{static_cast<unsigned>(std::bit_width(std::max(records, 1u)))},
        named_{sections, where},
        words_{4 * accesses, where},
        turns_{accesses, where},
        tiles_{tiles_of(accesses), where},
        sorting_{runtime::sort_bytes(static_cast<std::uint32_t>(accesses), key_bits_, where),
                 where} {}

  /// Sets the addresses in the arguments of kernels.
  template <class Arguments>
  void give_to(Arguments& a) const {
    std::size_t const accesses = turns_.size();
    a.named = named_.data();
    a.ids = words_.data();
    a.marks = words_.data() + accesses;
    a.sorted_ids = words_.data() + 2 * accesses;
    a.sorted_marks = words_.data() + 3 * accesses;
    a.turns = turns_.data();
    a.tiles = tiles_.data();
  }
  /// Enqueues the kernels that find the turns of all accesses.
  template <class Arguments>
  void order(Arguments const& a, stream_ref s, std::source_location where) const {
    runtime::pair_arrays const arrays{a.ids, a.marks, a.sorted_ids, a.sorted_marks, a.accesses};
    runtime::sort_pairs(arrays, key_bits_, sorting_.data(), sorting_.bytes(), s, where);
    auto const blocks = static_cast<unsigned>(
        (tiles_of(a.accesses) * simt::warp_size + order_threads - 1) / order_threads);
    simt::launch(&summarize_tiles<Arguments>, blocks, order_threads, 0, a, s, where);
    simt::launch(&order_accesses<Arguments>, blocks, order_threads, 0, a, s, where);
    // The counters reuse the memory of the sorted ids, which no later kernel reads.
    runtime::fill_async(a.sorted_ids, 0, a.accesses * sizeof(std::uint32_t), s, where);
  }
  /// Returns the size of the memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return named_.bytes() + words_.bytes() + turns_.bytes() + tiles_.bytes() + sorting_.bytes();
  }

 private:
  static std::size_t tiles_of(std::size_t places) { return (places + tile_size - 1) / tile_size; }

  unsigned key_bits_ = 0;
  buffer<named_accesses> named_;  ///< [section]
  buffer<std::uint32_t> words_;   ///< ids, marks, and both sorted
  buffer<access_turn> turns_;     ///< [section][access]
  buffer<tile_places> tiles_;     ///< [tile]
  buffer<std::byte> sorting_;     ///< memory of the sort
};

}  // namespace detail
WARDEN_NAMESPACE_END
