// SPDX-License-Identifier: Apache-2.0
// Checks that counters handed out each place once.
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

/// One request to a counter: the number of places, and the first place.
struct taking {
  std::uint32_t counter, first, count;
};

struct place_memory {
  std::uint64_t* taken;  ///< [counter] places that were taken of it
  std::uint64_t* begin;  ///< [counter] sum of the places of all counters before it
  std::uint32_t* marks;  ///< one bit per place
  std::uint64_t* wrong;
};

/// `takings(i)` returns request i, for i < n.
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
    simt::fetch_add(&a.memory.taken[t.counter], std::uint64_t{t.count});
  });
}
template <class Takings>
WARDEN_KERNEL void mark_places(place_check<Takings> a) {
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    taking const t = a.takings(i);
    bool good = std::uint64_t{t.first} + t.count <= a.memory.taken[t.counter];
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

/// Checks that each counter handed out places 0, 1, 2 and so on, each once. For a counter that
/// handed out m places, all places are below m and no two requests overlap, so that each place was
/// handed out.
class place_oracle {
 public:
  /// `most` is the largest number of places of all counters together.
  place_oracle(std::uint32_t counters, std::uint64_t most)
      : taken_{counters}, begin_{counters}, marks_{most / 32 + 1}, wrong_{1}, most_{most} {}

  /// Returns the number of wrong requests, plus the number of wrong counters if `counters` is
  /// given. Throws std::logic_error if there are more than `most` places.
  template <class Takings, class Counter = std::uint32_t>
  std::uint64_t wrong(std::uint64_t n, Takings takings,
                      warden::buffer<Counter> const* counters = nullptr) {
    taken_.fill_bytes(0);
    marks_.fill_bytes(0);
    wrong_.fill_bytes(0);
    place_check<Takings> const check{
        takings, n, {taken_.data(), begin_.data(), marks_.data(), wrong_.data()}};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&count_places<Takings>, blocks, threads, 0, check, {});
    std::vector<std::uint64_t> const taken = taken_.to_host();
    std::uint64_t const all = std::accumulate(taken.begin(), taken.end(), std::uint64_t{0});
    if (all > most_) throw std::logic_error{"places to check: " + std::to_string(all)};
    std::vector<std::uint64_t> begin(taken.size());
    std::exclusive_scan(taken.begin(), taken.end(), begin.begin(), std::uint64_t{0});
    warden::copy(begin_.data(), begin.data(), begin.size());
    simt::launch(&mark_places<Takings>, blocks, threads, 0, check, {});
    std::uint64_t wrong = wrong_.to_host()[0];
    if (counters != nullptr) {
      std::vector<Counter> const values = counters->to_host();
      for (std::size_t c = 0; c < taken.size(); ++c) wrong += values[c] != taken[c] ? 1 : 0;
    }
    return wrong;
  }

 private:
  warden::buffer<std::uint64_t> taken_, begin_;
  warden::buffer<std::uint32_t> marks_;
  warden::buffer<std::uint64_t> wrong_;
  std::uint64_t most_;
};

}  // namespace allocation
