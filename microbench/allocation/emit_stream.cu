// SPDX-License-Identifier: Apache-2.0
// Upper bounds for emissions.

#include "microbench/allocation/emit_arm.hpp"
#include "microbench/allocation/word_stream.hpp"
#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <memory>

namespace allocation {

namespace simt = warden::simt;

namespace {

struct word_count {
  std::uint32_t const* words;
  std::uint64_t n;
  std::uint32_t value;
  std::uint64_t* found;
};
/// Counts the words that have a value.
WARDEN_KERNEL void count_words(word_count a) {
  simt::assume_one_dimension();
  std::uint64_t found = 0;
  bench::for_each_of(a.n, [&](std::uint64_t i) { found += a.words[i] == a.value ? 1 : 0; });
  simt::fetch_add(a.found, found);
}

std::uint64_t words_in(emission const& e) {
  return (e.values == nullptr ? 1 : 2) * std::uint64_t{e.n};
}

class stream_arm final : public emit_arm {
 public:
  void run_async(emission const& e) override { stream_async(stream_of(e)); }
  std::uint64_t wait(emission const& e) override {
    return was_streamed(stream_of(e)) ? e.total : 0;
  }

 private:
  /// Values, if any, follow the counts in memory.
  static word_stream stream_of(emission const& e) {
    return {e.counts, words_in(e), e.elements, e.total};
  }
};

class memcpy_arm final : public emit_arm {
 public:
  explicit memcpy_arm(emission const& e) : from_{(words_in(e) + e.room) / 2} {
    from_.fill_bytes(byte);
  }
  void run_async(emission const& e) override { warden::copy(e.elements, from_.data(), half(e)); }
  std::uint64_t wait(emission const& e) override {
    found_.fill_bytes(0);
    auto const [blocks, threads] = bench::shape_of_helpers();
    constexpr std::uint32_t word = byte * 0x01010101u;
    simt::launch(&count_words, blocks, threads, 0, {e.elements, e.room, word, found_.data()}, {});
    return found_.to_host()[0] == half(e) ? e.total : 0;
  }

 private:
  static constexpr unsigned char byte = 0x5a;
  static std::uint64_t half(emission const& e) { return (words_in(e) + e.total) / 2; }
  warden::buffer<std::uint32_t> from_;
  warden::buffer<std::uint64_t> found_{1};
};

}  // namespace

std::unique_ptr<emit_arm> make_memcpy(emission const& e) { return std::make_unique<memcpy_arm>(e); }
std::unique_ptr<emit_arm> make_stream(emission const&) { return std::make_unique<stream_arm>(); }

}  // namespace allocation
