// SPDX-License-Identifier: Apache-2.0
// Kernels that send hashed messages to hashed record ids, by each client of the library.
#pragma once

#include "microbench/transport/totals.cuh"

#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/thread_client.cuh>

#include <cstdint>

namespace transport {

/// Log2 of the number of records, which are never read or written.
inline constexpr std::uint32_t records_log2 = 20;

/// Messages of a launch, divided among its virtual blocks.
struct work {
  std::uint32_t messages;   ///< below 2^31
  std::uint32_t per_block;  ///< largest number of messages of a virtual block

  struct range {
    std::uint32_t begin, end;
  };
  [[nodiscard]] WARDEN_DEVICE range of(warden::virtual_block const& at) const {
    std::uint32_t const begin = at.block_index() * per_block;
    return {begin, messages - begin < per_block ? messages : begin + per_block};
  }
  /// Number of virtual blocks.
  [[nodiscard]] unsigned grid() const { return (messages + per_block - 1) / per_block; }
};

/// Client of a level whose library client needs no block and buffers no messages.
template <class Client>
class direct_client {
 public:
  template <class Ref>
  WARDEN_DEVICE direct_client(Ref const& ref, warden::virtual_block const& at) : client_{ref, at} {}
  WARDEN_DEVICE void flush() {}

 protected:
  Client client_;
};

/// Send levels. All threads of a block construct, use and flush the client of a level together.
struct block_level {
  static constexpr char const* name = "block";
  template <class Ref>
  class client {
   public:
    WARDEN_DEVICE client(Ref const& ref, warden::virtual_block const& at) : client_{ref, at} {}
    template <class Section>
    WARDEN_DEVICE void send(std::uint32_t id, Section const& s, bool valid) {
      client_.send(id, s, valid);
    }
    WARDEN_DEVICE void flush() { client_.flush(); }

   private:
    warden::block_client<Ref> client_;
  };
};
struct thread_level {
  static constexpr char const* name = "thread";
  template <class Ref>
  struct client : direct_client<warden::thread_client<Ref>> {
    using direct_client<warden::thread_client<Ref>>::direct_client;
    template <class Section>
    WARDEN_DEVICE void send(std::uint32_t id, Section const& s, bool valid) {
      if (valid) this->client_.send(id, s);
    }
  };
};

/// Kernel whose virtual blocks each send their part, and count their messages.
template <class Level, int Flits>
struct send_by {
  static constexpr char const* name = Level::name;
  work all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    typename Level::template client<Ref> client{ref, at};
    partial_total sent;
    auto const part = all.of(at);
    for (std::uint32_t first = part.begin; first < part.end; first += at.block_dim()) {
      std::uint32_t const i = first + at.thread_rank();
      bool const valid = i < part.end;
      std::uint32_t const mixed = mix(i);
      auto const section = null_section<Flits>::of(mixed);
      if (valid) sent.add(section);
      client.send(mixed >> (32 - records_log2), section, valid);
    }
    client.flush();
    sent.add_to(ref.sections_context->sent);
    if (at.global_rank() == 0) {
      simt::store_relaxed(&ref.sections_context->blocks, simt::block_count());
    }
  }
};

}  // namespace transport
