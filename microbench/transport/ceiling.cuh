// SPDX-License-Identifier: Apache-2.0
// The ceiling: the rate of sending without sorting.
//
// A whole batch goes to one channel; batches go to the channels in turn. A batch needs one
// reservation of a contiguous range and no staging: every thread publishes its messages from
// registers. Channels, credits and receivers are those of the library. The difference to the rate
// of the block client is the cost of sorting, staging, and one reservation per destination.
#pragma once

#include "microbench/transport/senders.cuh"

#include <algorithm>
#include <cstdint>

namespace transport {

/// Kernel that sends unsorted batches; same interface as `send_by`.
template <int Flits>
struct send_unsorted {
  static constexpr char const* name = "ceiling_copy";
  work all;

  /// Words that the first thread broadcasts to its block.
  struct shared_storage {
    std::uint64_t first;     ///< reserved index of the batch
    std::uint64_t released;  ///< released index of the channel, as last read
  };

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    constexpr unsigned batch = per_thread<Ref> * Ref::policy::block_threads;
    partial_total sent;
    auto const part = all.of(at);
    std::uint32_t const servers = ref.owners.servers();
    // Virtual blocks begin at different servers.
    auto server = static_cast<std::uint32_t>(std::uint64_t{mix(at.block_index())} * servers >> 32);
    for (std::uint32_t first = part.begin; first < part.end; first += batch) {
      std::uint32_t const left = part.end - first;
      if (!send_batch(at, ref, server, first, left < batch ? left : batch, sent)) break;
      server = server + 1 == servers ? 0 : server + 1;
    }
    sent.add_to(ref.sections_context->sent);
    if (at.global_rank() == 0) {
      simt::store_relaxed(&ref.sections_context->blocks, simt::block_count());
    }
  }

 private:
  /// Messages of a thread in one batch: the number that a block client stages.
  template <class Ref>
  static constexpr unsigned per_thread = Ref::outbox::per_thread;

  /// Sends messages `i` to `i + count - 1`. Collective. Returns false if the launch is poisoned.
  template <class Ref>
  __device__ bool send_batch(warden::virtual_block const& at, Ref const& ref, std::uint32_t server,
                             std::uint32_t i, std::uint32_t count, partial_total& sent) const {
    constexpr unsigned threads = Ref::policy::block_threads;
    unsigned const me = simt::thread_rank();
    auto const channel = ref.channel_of(server);
    auto& broadcast = *at.shared<shared_storage>();
    if (me == 0) {
      broadcast.first = channel.reserve(count);
      broadcast.released = channel.released();
    }
    simt::sync_block();
    std::uint64_t const first = broadcast.first;
    std::uint32_t published = 0;  // messages of the batch that all threads have published
    while (true) {
      std::uint64_t const released = broadcast.released;
      std::uint32_t const end = channel.credit(first, count, released);
      WARDEN_UNROLL
      for (unsigned k = 0; k < per_thread<Ref>; ++k) {
        std::uint32_t const place = k * threads + me;
        if (place < published || place >= end) continue;
        auto const section = null_section<Flits>::of(mix(i + place));
        sent.add(section);
        ref.publish(channel, first + place, Ref::format::pack(0, section));
      }
      published = end;
      simt::sync_block();
      if (published == count) return true;
      bool stops = false;
      if (me == 0) {
        stops = !ref.wait_for_credit(server, first + published);
        broadcast.released = channel.released();
      }
      if (simt::sync_block_or(stops)) return false;
    }
  }
};

}  // namespace transport
