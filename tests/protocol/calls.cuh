// SPDX-License-Identifier: Apache-2.0
// A section whose answer only its caller expects, and kernels that call it.
#pragma once

#include "tests/support/support.cuh"

#include <cstddef>
#include <cstdint>

namespace calls {

inline warden::guarded_options with(unsigned servers, unsigned capacity = 64) {
  warden::guarded_options o;
  o.servers = servers;
  o.capacity = capacity;
  return o;
}

/// `Bytes` bytes that only the caller of `argument` expects, and the record's turn.
template <std::size_t Bytes>
struct echoed {
  unsigned char bytes[Bytes];

  WARDEN_HOST_DEVICE static echoed of(std::uint32_t argument) {
    echoed e;
    for (std::size_t i = 0; i < Bytes; ++i)
      e.bytes[i] = static_cast<unsigned char>(test::mix(argument * 64ull + i));
    return e;
  }
  WARDEN_HOST_DEVICE bool operator==(echoed const& other) const {
    bool same = true;
    for (std::size_t i = 0; i < Bytes; ++i) same = same && bytes[i] == other.bytes[i];
    return same;
  }
};
template <std::size_t Bytes>
struct echo {
  static constexpr bool reads_other_memory = false;
  std::uint32_t argument;
  __device__ echoed<Bytes> operator()(std::uint32_t& runs, warden::no_context) const {
    runs += 1;
    return echoed<Bytes>::of(argument);
  }
};

enum class by { thread, block };
enum class then { gets, drops_odd_ones, keeps_four };

/// Operation i calls for its answer; a drop leaves the answer where it is.
template <std::size_t Bytes>
struct call_all {
  std::uint32_t n, records;
  by how;
  then what;
  std::uint32_t* wrong;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> block{ref, at};
    warden::thread_client<Ref> const thread{ref, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    using future = warden::future<Ref, echoed<Bytes>>;
    auto const call = [&](std::uint32_t i) {
      bool const valid = i < n;
      auto const id = test::id_of(i, records);
      if (how == by::block) return block.call(id, echo<Bytes>{i}, valid);
      return valid ? thread.call(id, echo<Bytes>{i}) : future{};
    };
    auto const check = [&](auto& future, std::uint32_t i) {
      auto const answer = future.get();
      bool const good = i < n ? answer && *answer == echoed<Bytes>::of(i)
                              : answer.error() == warden::call_error::not_called;
      if (!good) warden::simt::fetch_add(wrong, 1u);
    };
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += what == then::keeps_four ? 4 * step : step) {
      std::uint32_t const i = first + at.thread_rank();
      if (what == then::keeps_four) {
        auto a = call(i), b = call(i + step), c = call(i + 2 * step), d = call(i + 3 * step);
        block.flush();
        // In another order than they were called.
        check(c, i + 2 * step);
        check(a, i);
        check(d, i + 3 * step);
        check(b, i + step);
      } else {
        auto future = call(i);
        block.flush();
        if (what == then::gets || i % 2 == 0) check(future, i);
      }
    }
  }
};

}  // namespace calls
