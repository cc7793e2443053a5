// SPDX-License-Identifier: Apache-2.0
// Totals of senders and receivers, which differ after a lost, doubled or torn message.
#pragma once

#include <warden/detail/fused/message.cuh>

#include <cstdint>

namespace transport {

namespace simt = warden::simt;

/// Section that does nothing. All its words are payload.
template <int Flits>
struct null_section {
  static constexpr bool reads_other_memory = false;
  static constexpr int words = 3 * Flits - 1;  ///< words of the payload after the local number
  std::uint32_t word[words];

  /// Makes the section of message `i`; `mixed` is `mix(i)`.
  WARDEN_DEVICE static null_section of(std::uint32_t mixed) {
    null_section s;
    WARDEN_UNROLL
    for (int w = 0; w < words; ++w) s.word[w] = mixed + static_cast<std::uint32_t>(w);
    return s;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t sum() const {
    std::uint32_t s = 0;
    WARDEN_UNROLL
    for (int w = 0; w < words; ++w) s += word[w];
    return s;
  }
  __device__ void operator()(std::uint32_t&) const {}
};

/// Returns a hash of the number. Has few instructions, because they are part of the measurement.
WARDEN_DEVICE std::uint32_t mix(std::uint32_t i) {
  std::uint32_t h = i * 2654435761u;
  h = (h ^ (h >> 15)) * 0x85ebca6bu;
  return h ^ (h >> 13);
}

/// Total of all senders or of all receivers, in global memory.
struct total {
  std::uint64_t messages;
  std::uint32_t payload;  ///< sum of all words, modulo 2^32
};

/// Totals of a repetition, in global memory; 0 before it.
struct run_totals {
  total sent, received;
  std::uint32_t blocks;  ///< blocks of the launch
};

/// True if the totals agree: every message was received once.
inline bool add_up(run_totals const& t) {
  return t.sent.messages == t.received.messages && t.sent.payload == t.received.payload;
}

/// Part of a total that one thread adds up, in registers.
class partial_total {
 public:
  template <int Flits>
  WARDEN_DEVICE void add(null_section<Flits> const& s) {
    ++messages_;
    payload_ += s.sum();
  }
  /// Adds a received message.
  template <int Flits>
  WARDEN_DEVICE void add(warden::detail::message<Flits> const& m) {
    using section = null_section<Flits>;
    add(warden::detail::message_format<section>::template unpack<section>(m));
  }
  /// Adds the parts of the warp to the total by one atomic, because an atomic for each thread would
  /// slow the benchmark. Collective over the warp.
  WARDEN_DEVICE void add_to(total& t) const {
    std::uint32_t messages = messages_, payload = payload_;
    for (unsigned distance = simt::warp_size / 2; distance != 0; distance /= 2) {
      unsigned const other = simt::lane_id() ^ distance;
      messages += simt::shuffle(simt::full_warp, messages, other);
      payload += simt::shuffle(simt::full_warp, payload, other);
    }
    if (simt::lane_id() != 0 || messages == 0) return;
    simt::fetch_add(&t.messages, std::uint64_t{messages});
    simt::fetch_add(&t.payload, payload);
  }

 private:
  std::uint32_t messages_ = 0, payload_ = 0;
};

}  // namespace transport
