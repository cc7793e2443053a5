// SPDX-License-Identifier: Apache-2.0
// The critical sections of the random programs. Each adds to its records, and checks that the
// memory kept for them is as the protocol promises; errors are counted.
#pragma once

#include "operation.cuh"

#include <cstdint>

namespace fuzz {

/// Counts the sections that ran on it. A copy is kept apart from the records.
struct alignas(8) record {
  std::uint32_t count, sum;
};

/// Errors, each with a counter.
enum fault : unsigned {
  torn,          ///< a message in which words of two are mixed
  stale_letter,  ///< a section or a caller did not see an earlier write
  wrong_answer,  ///< none, or that of another call
  fault_kinds
};

/// The context: all memory that sections and clients use, apart from the records.
struct world {
  domain operations;
  record* copies;          ///< one for each record, written by the sections on that record
  std::uint32_t* letters;  ///< three for each operation, see `letter`
  std::uint32_t* turns;    ///< one for each operation: what its caller was told, or 0
  std::uint32_t* faults;   ///< by `fault`

  WARDEN_DEVICE operation operation_of(std::uint32_t number) const {
    return operation::of(operations, number);
  }
  WARDEN_DEVICE void note(fault f) const { warden::simt::fetch_add(faults + f, 1u); }

  /// The letter of chain `which` of an operation. Its sender writes the operation's value into it,
  /// and each section one more than it found: so each step proves that it saw the one before.
  WARDEN_DEVICE std::uint32_t* letter(std::uint32_t number, std::uint32_t which) const {
    return letters + 3 * std::uint64_t{number} + which;
  }
  WARDEN_DEVICE void write(std::uint32_t number, std::uint32_t which) const {
    warden::simt::store_relaxed(letter(number, which), operation_of(number).value);
  }
  /// Passes the letter on, by the section that comes after `steps` others.
  WARDEN_DEVICE void pass_on(std::uint32_t number, std::uint32_t which, std::uint32_t steps) const {
    std::uint32_t* const word = letter(number, which);
    std::uint32_t const wanted = operation_of(number).value + steps;
    if (warden::simt::load_relaxed(word) != wanted) note(stale_letter);
    warden::simt::store_relaxed(word, wanted + 1);
  }
};

/// Memory that sections touch, apart from their records.
struct reach {
  bool letters;  ///< which is why they are fenced: reads_other_memory
  bool copies;   ///< the copy that is reached through the record alone
};

/// Answer of a section: its operation, and its turn at its record, from 1 on.
struct told {
  std::uint32_t echo, turn;
};
WARDEN_HOST_DEVICE std::uint32_t echo_of(kind k, std::uint32_t number) {
  return ~number * 2654435761u ^ k;
}

/// Adds to a record, and to its copy, by accesses that may be seen late.
template <reach Reach>
WARDEN_DEVICE void add_to(record& r, world const& w, std::uint32_t id, std::uint32_t value,
                          std::uint32_t count = 1) {
  r.count += count;
  r.sum += value;
  if constexpr (Reach.copies) {
    record* const b = w.copies + id;
    warden::simt::store_relaxed(&b->count, warden::simt::load_relaxed(&b->count) + count);
    warden::simt::store_relaxed(&b->sum, warden::simt::load_relaxed(&b->sum) + value);
  }
}

template <reach Reach>
struct plain_section {
  static constexpr kind what = plain;
  static constexpr bool reads_other_memory = Reach.letters;
  std::uint32_t number;

  WARDEN_DEVICE static plain_section of(std::uint32_t number, operation const&) { return {number}; }
  __device__ told operator()(record& r, world const& w) const {
    operation const o = w.operation_of(number);
    add_to<Reach>(r, w, o.first, o.value);
    return answer(w, r.count);
  }
  /// The section for the executor of atomics: both words are one.
  __device__ told atomic(record* r, world const& w) const {
    std::uint64_t const one = std::uint64_t{w.operation_of(number).value} << 32 | 1u;
    auto const before = warden::simt::fetch_add(reinterpret_cast<std::uint64_t*>(r), one);
    return answer(w, static_cast<std::uint32_t>(before) + 1);
  }

 private:
  WARDEN_DEVICE told answer(world const& w, std::uint32_t turn) const {
    if constexpr (Reach.letters) w.pass_on(number, 0, 0);
    return {echo_of(plain, number), turn};
  }
};

/// A section in the place of a plain one where sections are combined.
template <reach Reach>
struct combined_section {
  static constexpr kind what = plain;
  static constexpr bool reads_other_memory = Reach.letters;
  std::uint32_t value, count;
  std::uint32_t number;  ///< number of one of the operations that it was made of

  WARDEN_DEVICE static combined_section of(std::uint32_t number, operation const& o) {
    return {o.value, 1, number};
  }
  __device__ static combined_section combine(combined_section a, combined_section b) {
    return {a.value + b.value, a.count + b.count, a.number};
  }
  __device__ void operator()(record& r, world const& w) const {
    add_to<Reach>(r, w, w.operation_of(number).first, value, count);
    if constexpr (Reach.letters) w.pass_on(number, 0, 0);
  }
};

template <reach Reach>
struct wide_section {
  static constexpr kind what = wide;
  static constexpr bool reads_other_memory = Reach.letters;
  static constexpr std::uint32_t words = 5;
  std::uint32_t word[words];

  WARDEN_DEVICE static wide_section of(std::uint32_t number, operation const&) {
    wide_section s{{number}};
    for (std::uint32_t i = 1; i < words; ++i) s.word[i] = word_of(number, i);
    return s;
  }
  __device__ void operator()(record& r, world const& w) const {
    std::uint32_t const number = word[0];
    for (std::uint32_t i = 1; i < words; ++i) {
      if (word[i] != word_of(number, i)) w.note(torn);
    }
    operation const o = w.operation_of(number);
    add_to<Reach>(r, w, o.first, o.value);
    if constexpr (Reach.letters) w.pass_on(number, 0, 0);
  }

 private:
  WARDEN_DEVICE static std::uint32_t word_of(std::uint32_t number, std::uint32_t i) {
    return static_cast<std::uint32_t>(mix(number * 8ull + i));
  }
};

/// The value that it adds tells the two records apart.
template <reach Reach>
struct pair_section {
  static constexpr kind what = pair;
  static constexpr bool reads_other_memory = Reach.letters;
  std::uint32_t number;

  WARDEN_DEVICE static pair_section of(std::uint32_t number, operation const&) { return {number}; }
  __device__ told operator()(record& first, record& second, world const& w) const {
    operation const o = w.operation_of(number);
    add_to<Reach>(first, w, o.first, o.value);
    std::uint32_t const turn = first.count;
    add_to<Reach>(second, w, o.second, 3 * o.value);
    if constexpr (Reach.letters) w.pass_on(number, 0, 0);
    return {echo_of(pair, number), turn};
  }
};

/// One section of a chain, which sends the next one. What it adds tells its place in the chain.
template <reach Reach>
struct chain_section {
  static constexpr kind what = chain;
  static constexpr bool reads_other_memory = Reach.letters;
  std::uint32_t number;
  std::uint16_t which, left;

  WARDEN_DEVICE static chain_section of(std::uint32_t number, operation const& o) {
    return {number, 0, static_cast<std::uint16_t>(o.links)};
  }
  template <class Next>
  __device__ told operator()(record& r, world const& w, Next& next) const {
    operation const o = w.operation_of(number);
    add_to<Reach>(r, w, station(w.operations, number, which, left), o.value + left);
    if constexpr (Reach.letters) w.pass_on(number, which, o.links - left);
    if (left != 0) {
      auto const rest = static_cast<std::uint16_t>(left - 1);
      next.send(station(w.operations, number, which, rest), chain_section{number, which, rest});
    }
    return {echo_of(chain, number), r.count};
  }
};

/// Begins two chains.
template <reach Reach>
struct fork_section {
  static constexpr kind what = fork;
  static constexpr bool reads_other_memory = Reach.letters;
  static constexpr unsigned sends_sections = 2;
  std::uint32_t number;

  WARDEN_DEVICE static fork_section of(std::uint32_t number, operation const&) { return {number}; }
  template <class Next>
  __device__ told operator()(record& r, world const& w, Next& next) const {
    operation const o = w.operation_of(number);
    add_to<Reach>(r, w, o.first, o.value);
    if constexpr (Reach.letters) w.pass_on(number, 0, 0);
    for (std::uint16_t which = 1; which <= 2; ++which) {
      if constexpr (Reach.letters) w.write(number, which);
      next.send(station(w.operations, number, which, o.links),
                chain_section<Reach>{number, which, static_cast<std::uint16_t>(o.links)});
    }
    return {echo_of(fork, number), r.count};
  }
};

}  // namespace fuzz
