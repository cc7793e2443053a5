// SPDX-License-Identifier: Apache-2.0
// Whether counters handed out each of their places once.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocation {

namespace simt = warden::simt;

/// One request to a counter: the number of places, and the first of them.
struct taking {
  std::uint32_t counter, first, count;
};

struct place_memory {
  std::uint64_t* asked;  ///< [counter] places
  std::uint64_t* begin;  ///< [counter] places of those before
  std::uint32_t* marks;  ///< a bit a place
  std::uint64_t* wrong;
};

/// `Takings`: gives what i got, for i < n.
template <class Takings>
struct place_check {
  Takings takings;
  std::uint64_t n;
  place_memory memory;
};
template <class Takings>
WARDEN_KERNEL void count_places(place_check<Takings> a) {
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    taking const t = a.takings(i);
    simt::fetch_add(&a.memory.asked[t.counter], std::uint64_t{t.count});
  });
}
template <class Takings>
WARDEN_KERNEL void mark_places(place_check<Takings> a) {
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    taking const t = a.takings(i);
    bool good = std::uint64_t{t.first} + t.count <= a.memory.asked[t.counter];
    std::uint64_t place = a.memory.begin[t.counter] + t.first;
    std::uint64_t const end = good ? place + t.count : place;
    while (place < end) {
      auto const bit = static_cast<unsigned>(place % 32);
      std::uint64_t const left = end - place;
      unsigned const bits = left < 32 - bit ? static_cast<unsigned>(left) : 32 - bit;
      std::uint32_t const mask = ~0u >> (32 - bits) << bit;
      good = (simt::fetch_xor(&a.memory.marks[place / 32], mask) & mask) == 0 && good;
      place += bits;
    }
    if (!good) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
  });
}

/// Looks whether each counter handed out the places 0, 1, 2 and so on once each, as many as were
/// asked for. They lie below that number, no two takings meet, and together they are as many.
class place_oracle {
 public:
  /// For up to `most` places of all counters together.
  place_oracle(std::uint32_t counters, std::uint64_t most)
      : asked_{counters}, begin_{counters}, marks_{most / 32 + 1}, wrong_{1}, most_{most} {}

  /// How many takings are wrong; of counters that lie in memory also how many of these. Throws
  /// std::logic_error if there are more places.
  template <class Takings, class Counter = std::uint32_t>
  std::uint64_t wrong(std::uint64_t n, Takings takings,
                      warden::buffer<Counter> const* counters = nullptr) {
    asked_.fill_bytes(0);
    marks_.fill_bytes(0);
    wrong_.fill_bytes(0);
    place_check<Takings> const check{
        takings, n, {asked_.data(), begin_.data(), marks_.data(), wrong_.data()}};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&count_places<Takings>, blocks, threads, 0, check, {});
    std::vector<std::uint64_t> const asked = asked_.to_host();
    std::uint64_t const all = std::accumulate(asked.begin(), asked.end(), std::uint64_t{0});
    if (all > most_) throw std::logic_error{"places to check: " + std::to_string(all)};
    std::vector<std::uint64_t> begin(asked.size());
    std::exclusive_scan(asked.begin(), asked.end(), begin.begin(), std::uint64_t{0});
    warden::copy(begin_.data(), begin.data(), begin.size());
    simt::launch(&mark_places<Takings>, blocks, threads, 0, check, {});
    std::uint64_t wrong = wrong_.to_host()[0];
    if (counters != nullptr) {
      std::vector<Counter> const values = counters->to_host();
      for (std::size_t c = 0; c < asked.size(); ++c) wrong += values[c] != asked[c] ? 1 : 0;
    }
    return wrong;
  }

 private:
  warden::buffer<std::uint64_t> asked_, begin_;
  warden::buffer<std::uint32_t> marks_;
  warden::buffer<std::uint64_t> wrong_;
  std::uint64_t most_;
};

}  // namespace allocation
