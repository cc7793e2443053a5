// SPDX-License-Identifier: Apache-2.0
// What senders and receivers add up, so that a lost, doubled or torn message is seen.
#pragma once

#include <warden/detail/fused/message.cuh>

#include <cstdint>

namespace transport {

namespace simt = warden::simt;

/// The section of the benchmark, which does nothing: all its words are payload.
template <int Flits>
struct null_section {
  static constexpr bool reads_other_memory = false;
  static constexpr int words = 3 * Flits - 1;  ///< words of the payload after the local number
  std::uint32_t word[words];

  /// The section of message `i`; `mixed` is `mix(i)`.
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

/// A well-mixed word for each number, in few instructions: it is part of the measurement.
WARDEN_DEVICE std::uint32_t mix(std::uint32_t i) {
  std::uint32_t h = i * 2654435761u;
  h = (h ^ (h >> 15)) * 0x85ebca6bu;
  return h ^ (h >> 13);
}

/// The total of one side, in global memory.
struct total {
  std::uint64_t messages;
  std::uint32_t payload;  ///< sum of all words, modulo 2^32
};

/// The totals of a run, in global memory, zero before each.
struct run_totals {
  total sent, received;
  std::uint32_t blocks;  ///< blocks of the launch
};

/// True if everything sent was received once, and nothing else.
inline bool add_up(run_totals const& t) {
  return t.sent.messages == t.received.messages && t.sent.payload == t.received.payload;
}

/// One thread's part of a total, in registers.
class partial_total {
 public:
  template <int Flits>
  WARDEN_DEVICE void add(null_section<Flits> const& s) {
    ++messages_;
    payload_ += s.sum();
  }
  /// A message as received.
  template <int Flits>
  WARDEN_DEVICE void add(warden::detail::message<Flits> const& m) {
    using section = null_section<Flits>;
    add(warden::detail::message_format<section>::template unpack<section>(m));
  }
  /// Adds the warp's parts to the total: an atomic of each thread would be felt. Collective over
  /// the warp.
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
