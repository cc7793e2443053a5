// SPDX-License-Identifier: Apache-2.0
// Streams words, and checks the result.

#include "microbench/allocation/word_stream.hpp"

#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstdint>

namespace allocation {

namespace simt = warden::simt;

struct alignas(16) word_vector {
  std::uint32_t words[4];
};
/// Divides vectors into parts whose sizes differ by at most 1, without a division on the device.
struct stream_side {
  std::uint64_t whole;     ///< vectors of each part
  std::uint64_t fraction;  ///< fraction of one more vector, in 2^-32, rounded up
  WARDEN_HOST_DEVICE static stream_side of(std::uint64_t vectors, std::uint64_t parts) {
    return {vectors / parts, ((vectors % parts << 32) + parts - 1) / parts};
  }
  /// First vector of a part. Precondition: there are fewer than 2^32 parts.
  WARDEN_HOST_DEVICE std::uint64_t begin(std::uint64_t part) const {
    return part * whole + (part * fraction >> 32);
  }
};
struct stream_arguments {
  word_vector const* in;
  word_vector* out;
  stream_side from, to;
  std::uint64_t parts;
  std::uint64_t* right;  ///< number of right vectors
};
/// Threads of a block; vectors of a part, on the longer of its two sides.
constexpr unsigned stream_threads = 256, part_vectors = 4 * stream_threads;

/// Calls `put(place, vector)` for each vector that the calling thread writes, in all parts of its
/// block.
template <class Put>
__device__ void for_streamed(stream_arguments const& a, Put put) {
  for (std::uint64_t part = simt::block_rank(); part < a.parts; part += simt::block_count()) {
    std::uint64_t const in = a.from.begin(part) + simt::thread_rank();
    std::uint64_t const out = a.to.begin(part) + simt::thread_rank();
    std::uint64_t const in_end = a.from.begin(part + 1), out_end = a.to.begin(part + 1);
    word_vector v{};
    WARDEN_UNROLL
    for (unsigned k = 0; k < part_vectors / stream_threads; ++k) {
      std::uint64_t const i = in + k * stream_threads;
      if (i >= in_end) continue;
      word_vector const loaded = a.in[i];
      for (unsigned w = 0; w < 4; ++w) v.words[w] ^= loaded.words[w];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < part_vectors / stream_threads; ++k) {
      std::uint64_t const i = out + k * stream_threads;
      v.words[0] += 1;
      if (i < out_end) put(i, v);
    }
  }
}
WARDEN_KERNEL void WARDEN_BOUNDS(stream_threads, 6) stream_words(stream_arguments a) {
  simt::assume_one_dimension();
  for_streamed(a, [&](std::uint64_t i, word_vector const& v) { a.out[i] = v; });
}
WARDEN_KERNEL void WARDEN_BOUNDS(stream_threads, 4) check_stream(stream_arguments a) {
  simt::assume_one_dimension();
  for_streamed(a, [&](std::uint64_t i, word_vector const& v) {
    word_vector const there = a.out[i];
    bool good = true;
    for (unsigned w = 0; w < 4; ++w) good = good && there.words[w] == v.words[w];
    if (good) simt::fetch_add(a.right, std::uint64_t{1});
  });
}

namespace {
stream_arguments arguments_of(word_stream const& s) {
  std::uint64_t const in = s.words_in / 4, out = s.words_out / 4;
  std::uint64_t const parts =
      std::max<std::uint64_t>((std::max(in, out) + part_vectors - 1) / part_vectors, 1);
  return {reinterpret_cast<word_vector const*>(s.in),
          reinterpret_cast<word_vector*>(s.out),
          stream_side::of(in, parts),
          stream_side::of(out, parts),
          parts,
          nullptr};
}
unsigned blocks_for(stream_arguments const& a) {
  auto const resident = static_cast<std::uint64_t>(
      warden::runtime::resident_blocks(simt::make_kernel(&stream_words), stream_threads, 0));
  return static_cast<unsigned>(std::min(a.parts, resident));
}
}  // namespace

void stream_async(word_stream const& s) {
  stream_arguments const a = arguments_of(s);
  simt::launch(&stream_words, blocks_for(a), stream_threads, 0, a, {});
}
bool was_streamed(word_stream const& s) {
  warden::buffer<std::uint64_t> right{1};
  right.fill_bytes(0);
  stream_arguments a = arguments_of(s);
  a.right = right.data();
  simt::launch(&check_stream, blocks_for(a), stream_threads, 0, a, {});
  return right.to_host()[0] == s.words_out / 4;
}

}  // namespace allocation
