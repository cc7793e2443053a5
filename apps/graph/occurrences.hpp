// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers from 0 on without gaps for the numbers of a file, which may leave any out.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace graph {

/// Set of numbers, with ranks. It has a bit for each number up to the largest. If numbers are
/// sparse, most words are never written and take no memory.
class occurrences {
 public:
  /// Constructs an empty set of numbers up to `largest`. Throws std::bad_alloc.
  explicit occurrences(std::uint32_t largest)
      : words_{largest / 64 + std::size_t{1}},
        first_{static_cast<word*>(std::calloc(words_, sizeof(word)))} {
    if (first_ == nullptr) throw std::bad_alloc{};
  }
  void add(std::uint32_t v) { at(v).numbers |= std::uint64_t{1} << v % 64; }
  /// Computes ranks after all numbers are added. Returns the number of different numbers.
  std::uint64_t rank() {
    std::uint64_t before = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      word& here = first_.get()[w];
      if (here.numbers == 0) continue;
      here.before = before;
      before += static_cast<std::uint64_t>(std::popcount(here.numbers));
    }
    return before;
  }
  /// Returns the rank of `v`, which is in the set: the number of smaller ones.
  [[nodiscard]] std::uint32_t below(std::uint32_t v) const {
    word const& here = at(v);
    std::uint64_t const lower = here.numbers & ((std::uint64_t{1} << v % 64) - 1);
    return static_cast<std::uint32_t>(here.before +
                                      static_cast<std::uint64_t>(std::popcount(lower)));
  }
  /// Returns all `count` numbers.
  [[nodiscard]] std::vector<std::uint32_t> all(std::uint64_t count) const {
    std::vector<std::uint32_t> found;
    found.reserve(count);
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = first_.get()[w].numbers; left != 0; left &= left - 1) {
        found.push_back(
            static_cast<std::uint32_t>(64 * w + static_cast<unsigned>(std::countr_zero(left))));
      }
    }
    return found;
  }

 private:
  struct word {
    std::uint64_t numbers;  ///< a bit for each of 64
    std::uint64_t before;   ///< numbers of earlier words
  };
  struct freeing {
    void operator()(void* memory) const { std::free(memory); }
  };
  word& at(std::uint32_t v) const { return first_.get()[v / 64]; }

  std::size_t words_;
  std::unique_ptr<word, freeing> first_;
};

}  // namespace graph
