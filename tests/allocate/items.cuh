// SPDX-License-Identifier: Apache-2.0
// Items that emit elements, as the tests of allocation have them.
#pragma once

#include <warden/allocate.cuh>

#include "tests/support/support.cuh"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// Element k of item i, in 64 bits: each differs from all others.
struct numbered {
  WARDEN_HOST_DEVICE std::uint64_t operator()(std::uint64_t i, std::uint32_t k) const {
    return (i + 1) << 32 | k;
  }
};
/// Numbered elements whose item is identified by its value.
struct numbered_by_value {
  WARDEN_HOST_DEVICE std::uint64_t item(std::uint64_t i) const { return i + 1; }
  WARDEN_HOST_DEVICE std::uint64_t operator()(std::uint64_t, std::uint32_t k,
                                              std::uint64_t value) const {
    return value << 32 | k;
  }
};
/// Numbered elements of another type, with fewer bits.
template <class T>
struct numbered_as {
  WARDEN_HOST_DEVICE T operator()(std::uint64_t i, std::uint32_t k) const {
    return static_cast<T>(mix(numbered{}(i, k)));
  }
};
struct counts_in {
  std::uint32_t const* counts;
  __device__ std::uint32_t operator()(std::uint64_t i) const { return counts[i]; }
};

/// The elements of all items, as a sequential loop gives them.
template <class Element = numbered>
auto elements_of(std::vector<std::uint32_t> const& counts, Element element = {}) {
  std::vector<decltype(element(0, 0))> all;
  for (std::uint64_t i = 0; i < counts.size(); ++i) {
    for (std::uint32_t k = 0; k < counts[i]; ++k) all.push_back(element(i, k));
  }
  return all;
}

/// Counts that differ in how they are spread.
struct spread {
  char const* name;
  std::vector<std::uint32_t> counts;
};
inline std::vector<spread> spreads() {
  std::size_t const n = sized<std::size_t>(400, 300'000);
  std::vector<spread> all;
  auto const add = [&](char const* name, std::size_t items, auto count) {
    std::vector<std::uint32_t> counts(items);
    for (std::size_t i = 0; i < items; ++i) counts[i] = static_cast<std::uint32_t>(count(i));
    all.push_back({name, counts});
  };
  add("few each", n, [](std::size_t i) { return mix(i) % 9; });
  add("one each", n, [](std::size_t) { return 1; });
  add("nothing", n, [](std::size_t) { return 0; });
  add("one emits all", n, [n](std::size_t i) { return i == n / 3 ? 20'000 : 0; });
  add("two emit most", n, [n](std::size_t i) {
    return i == n / 3 ? 20'000 : i == n / 3 * 2 ? 30'000 : i % 2;
  });
  add("skewed", n, [n](std::size_t i) { return n / (1 + mix(i) % n); });
  add("the last alone", n + 1, [n](std::size_t i) { return i == n ? 3 : 0; });
  add("one item", 1, [](std::size_t) { return 5; });
  add("a few items", 7, [](std::size_t i) { return 600 * i; });
  return all;
}

/// Device memory with elements before and after those of an output, which must stay untouched.
template <class T>
class guarded_memory {
 public:
  static constexpr std::size_t margin = 64;
  /// An untouched element of 64 bits.
  static constexpr std::uint64_t untouched = 0xa5a5a5a5a5a5a5a5;
  /// The output begins `offset` elements after a place that is aligned to 256 bytes.
  guarded_memory(std::size_t capacity, std::size_t offset)
      : all_(capacity + 2 * margin + offset), capacity_{capacity}, first_{margin + offset} {
    all_.fill_bytes(0xa5);
    warden::stream_ref{}.synchronize();
  }
  void clear(warden::stream_ref s) { all_.fill_bytes(0xa5, s); }
  [[nodiscard]] T* data() const { return all_.data() + first_; }
  [[nodiscard]] std::size_t size() const { return capacity_; }
  /// The elements; a failure if others were touched.
  [[nodiscard]] std::vector<T> to_host(warden::stream_ref s) const {
    std::vector<T> const host = all_.to_host(s);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(host.data());
    auto const is_untouched = [&](std::size_t from, std::size_t to) {
      return std::all_of(bytes + from * sizeof(T), bytes + to * sizeof(T),
                         [](unsigned char byte) { return byte == 0xa5; });
    };
    EXPECT_TRUE(is_untouched(0, first_) && is_untouched(first_ + capacity_, host.size()))
        << "touched beyond the output";
    return {host.begin() + static_cast<std::ptrdiff_t>(first_),
            host.begin() + static_cast<std::ptrdiff_t>(first_ + capacity_)};
  }

 private:
  warden::buffer<T> all_;
  std::size_t capacity_, first_;
};

}  // namespace test
