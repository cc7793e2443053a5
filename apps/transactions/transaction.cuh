// SPDX-License-Identifier: Apache-2.0
/// @file
/// A transaction on 10 rows: the rows that it reads and writes, and how it computes new rows.
#pragma once

#include "apps/graph/generators/random.cuh"

#include <warden/simt/annotations.cuh>

#include <cstdint>

namespace transactions {

/// Operations of a transaction.
inline constexpr unsigned operations = 10;
/// Largest number of rows: the id of a row, its operation and the kind of access fit 32 bits.
inline constexpr std::uint32_t most_rows = 1u << 27;

/// A row. Its words are loaded and stored one by one.
template <class Word, unsigned Count>
struct row {
  using word = Word;
  static constexpr unsigned count = Count;
  Word words[Count];
};
using small_row = row<std::uint64_t, 1>;
using wide_row = row<std::uint32_t, 25>;
static_assert(sizeof(small_row) == 8 && sizeof(wide_row) == 100);

/// Returns word `k` of row `id` before the first transaction.
WARDEN_HOST_DEVICE std::uint64_t first_word(std::uint32_t id, unsigned k) {
  return graph::random_numbers::mixed((std::uint64_t{id} << 8) + k + 1);
}

/// Sum of the numbers that are added. It depends on their order. A transaction adds the sums of all
/// rows that it reads.
class read_sum {
 public:
  WARDEN_HOST_DEVICE void add(std::uint64_t number) { sum_ = (sum_ ^ number) * factor; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t value() const {
    return graph::random_numbers::mixed(sum_);
  }

 private:
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ull;
  std::uint64_t sum_ = 1;
};

/// Returns the sum of a row's words.
template <class Row>
WARDEN_HOST_DEVICE std::uint64_t row_sum(Row const& r) {
  if constexpr (Row::count == 1) {
    return r.words[0];
  } else {
    read_sum sum;
    for (auto const word : r.words) sum.add(word);
    return sum.value();
  }
}

/// Returns the new value of word `k` of a row that operation `operation` writes. It depends on the
/// old value and on all rows that the transaction read, and updates do not commute: another order
/// of transactions gives other bits.
template <class Word>
WARDEN_HOST_DEVICE Word new_word(Word old, std::uint64_t sum, unsigned operation, unsigned k) {
  return static_cast<Word>(old * Word{0x2545f491u} + static_cast<Word>(sum >> (k & 31)) +
                           operation);
}

/// A transaction reads all of its rows, then writes new values to some of them, in the order of its
/// operations.
struct transaction {
  std::uint32_t accesses[operations];  ///< id << 1, plus 1 if the operation writes

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t id(unsigned k) const { return accesses[k] >> 1; }
  [[nodiscard]] WARDEN_HOST_DEVICE bool writes(unsigned k) const { return (accesses[k] & 1) != 0; }
};

}  // namespace transactions
