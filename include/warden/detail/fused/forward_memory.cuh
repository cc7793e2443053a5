// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the rings between the servers of a guarded array.
#pragma once

#include <warden/detail/fused/launch_state.cuh>
#include <warden/detail/fused/lock_queues.cuh>
#include <warden/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Rings and credits. Empty if the sections of `Ref` send no sections.
template <class Ref>
class forward_memory {
 public:
  /// Allocates the memory for `servers` servers, with rings of `capacity` slots; 0 means the
  /// policy's default. Throws limit_error for an impossible capacity, and cuda_error if memory is
  /// short.
  void make(Ref& ref, unsigned servers, unsigned capacity, std::source_location where) {
    if constexpr (Ref::sends_sections) {
      if (capacity == 0) {
        capacity = std::bit_floor(
            static_cast<unsigned>(Ref::policy::forward_bytes / sizeof(typename Ref::message_type)));
      }
      if (capacity < Ref::server::least_ring || capacity > (1u << 20) ||
          !std::has_single_bit(capacity)) {
        throw_limit_error("guarded: forward capacity % is not a power of two from % to 1048576",
                          {capacity, Ref::server::least_ring}, where);
      }
      auto& rings = ref.rings;
      rings.capacity_log2 = static_cast<std::uint32_t>(std::countr_zero(capacity));
      // Room for messages that are received after a missing index, and no more than that.
      rings.read_ahead = std::min<std::uint32_t>(capacity / 2, Ref::server::read_ahead);
      rings.credits = (capacity - rings.read_ahead) / Ref::max_sends;  // mutation: forward-ahead
      // One server's share of the credits.
      rings.kept = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(rings.credits / servers, 1, Ref::server::most_kept));
      if (rings.credits == 0) {
        throw_limit_error(
            "guarded: a section sends at most % sections; with forward capacity % the limit is %",
            {Ref::max_sends, capacity, capacity - rings.read_ahead}, where);
      }
      memory_ = std::make_shared<channel_memory>(channel_memory{
          buffer<channel_index>{1, where}, buffer<channel_indices>{servers, where},
          buffer<simt::flit_words>{servers * Ref::ring::flits(rings.capacity_log2), where}});
      rings.available = memory_->available.data();
      rings.indices = memory_->indices.data();
      rings.slots = memory_->slots.data();
      if constexpr (Ref::nests) {
        place_memory& places = ref.waiting.places;
        while ((1ull << places.room_log2) < rings.credits + Ref::policy::block_threads)
          ++places.room_log2;
        std::size_t const room = std::size_t{servers} << places.room_log2;
        waiting_ = buffer<waiting_message<typename Ref::message_type>>{room, where};
        tickets_ = buffer<std::uint64_t>{room, where};
        counts_ = buffer<place_counts>{servers, where};
        ref.waiting.messages = waiting_.data();
        places.tickets = tickets_.data();
        places.counts = counts_.data();
      }
      reset(ref, {}, where);
    }
  }
  /// Empties the rings and returns all credits. Blocks the host.
  void reset(Ref const& ref, stream_ref s, std::source_location where) {
    if constexpr (Ref::sends_sections) {
      memory_->template reset<typename Ref::ring>(std::uint64_t{1} << ref.rings.capacity_log2,
                                                  ref.rings.capacity_log2, s, where);
      channel_index const all{ref.rings.credits};
      copy(memory_->available.data(), &all, 1, s, where);
      if constexpr (Ref::nests) {
        tickets_.fill_bytes(0, s, where);
        counts_.fill_bytes(0, s, where);  // mutation: pool-reset
      }
      s.synchronize(where);
    }
  }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return (memory_ ? memory_->bytes() : 0) + waiting_.bytes() + tickets_.bytes() + counts_.bytes();
  }
  /// Returns the rings' memory, for dumps and for the watchdog.
  [[nodiscard]] std::shared_ptr<channel_memory> const& memory() const { return memory_; }

 private:
  std::shared_ptr<channel_memory> memory_;
  // Only for sections on two records; see lock_queue_memory.
  buffer<waiting_message<typename Ref::message_type>> waiting_;
  buffer<std::uint64_t> tickets_;
  buffer<place_counts> counts_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
