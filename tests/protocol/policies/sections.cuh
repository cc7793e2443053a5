// SPDX-License-Identifier: Apache-2.0
// Records and sections of the random programs on logs. A record notes what must never be seen.
#pragma once

#include "choices.hpp"

#include "tests/support/support.cuh"

#include <warden/deferred_pairs.cuh>

#include <cstdint>
#include <type_traits>

namespace policies {

namespace simt = warden::simt;

/// Errors that a section found, as bits.
enum fault : std::uint32_t { torn = 1, misordered = 2, half_done = 4 };

/// Counts the operations and adds up their values.
struct alignas(8) word_record {
  static constexpr unsigned words = 0;
  std::uint32_t count, sum;
  std::uint32_t last;    ///< with an order: one more than the number of the last operation
  std::uint32_t faults;  ///< bits of `fault`
};
/// Also adds up the values in each word of a row.
struct row_record : word_record {
  static constexpr unsigned words = 30;
  std::uint32_t row[words];
};

/// The context: how often each operation ran, where a section knows its number.
struct marks {
  std::uint32_t* ran;
};

WARDEN_HOST_DEVICE std::uint32_t value_of(std::uint32_t number) {
  return static_cast<std::uint32_t>(test::mix(number + 1));
}
/// Word i > 0 of a payload that begins with `first`. Linear, so that it holds for sums as well.
WARDEN_HOST_DEVICE std::uint32_t word_after(std::uint32_t first, unsigned i) {
  return first * (2 * i + 1);
}

// ---- payloads

/// `Words` words, which all depend on the first.
template <unsigned Words>
struct checked_words {
  std::uint32_t word[Words];

  WARDEN_HOST_DEVICE static checked_words of(std::uint32_t first) {
    checked_words w{};
    for (unsigned i = 0; i < Words; ++i) w.word[i] = i == 0 ? first : word_after(first, i);
    return w;
  }
  WARDEN_DEVICE bool is_torn() const {
    bool is = false;
    for (unsigned i = 1; i < Words; ++i) is = is || word[i] != word_after(word[0], i);
    return is;
  }
  WARDEN_DEVICE void add(checked_words const& other) {
    for (unsigned i = 0; i < Words; ++i) word[i] += other.word[i];
  }
};

/// The number of one operation.
template <payload Payload>
struct operation {
  static constexpr bool has_number = true;
  checked_words<Payload == payload::wide ? 10 : 1> number;

  WARDEN_HOST_DEVICE void set(std::uint32_t n) { number = number.of(n); }
  WARDEN_DEVICE std::uint32_t operations() const { return 1; }
  WARDEN_DEVICE std::uint32_t value() const { return value_of(number.word[0]); }
  WARDEN_DEVICE bool is_torn() const { return number.is_torn(); }
};
template <>
struct operation<payload::empty> {
  static constexpr bool has_number = false;
  WARDEN_HOST_DEVICE void set(std::uint32_t) {}
  WARDEN_DEVICE std::uint32_t operations() const { return 1; }
  WARDEN_DEVICE std::uint32_t value() const { return 1; }
  WARDEN_DEVICE bool is_torn() const { return false; }
};
/// The number of several operations, and the sum of their values.
template <payload Payload>
struct total {
  static constexpr bool has_number = false;
  std::uint32_t n;
  checked_words<Payload == payload::wide ? 10 : 1> sum;

  WARDEN_HOST_DEVICE void set(std::uint32_t number) {
    n = 1;
    sum = sum.of(value_of(number));
  }
  WARDEN_DEVICE std::uint32_t operations() const { return n; }
  WARDEN_DEVICE std::uint32_t value() const { return sum.word[0]; }
  WARDEN_DEVICE bool is_torn() const { return sum.is_torn(); }
  WARDEN_DEVICE void add(total const& other) {
    n += other.n;
    sum.add(other.sum);
  }
};

// ---- what sections do

/// Lane `lane` of `Lanes` adds `times` times the payload's value to its part of a record.
template <bool InOrder, unsigned Lanes = 1, class Payload, class Record, class Sync>
WARDEN_DEVICE void add_to(Record& r, Payload const& p, std::uint32_t times, unsigned lane,
                          Sync sync) {
  std::uint32_t const value = p.value() * times;
  if constexpr (Record::words != 0) {
    bool is_half = false;
    for (unsigned i = lane; i < Record::words; i += Lanes) is_half |= r.row[i] != r.sum;
    if (is_half) simt::fetch_or(&r.faults, std::uint32_t{half_done});
    sync();
    for (unsigned i = lane; i < Record::words; i += Lanes) r.row[i] += value;
    sync();
  }
  if (lane != 0) return;
  r.count += p.operations();
  r.sum += value;
  if (p.is_torn()) simt::fetch_or(&r.faults, std::uint32_t{torn});
  if constexpr (InOrder && Payload::has_number) {
    std::uint32_t const number = p.number.word[0];
    if (number < r.last) simt::fetch_or(&r.faults, std::uint32_t{misordered});
    r.last = number + 1;
  }
}
template <class Payload>
WARDEN_DEVICE void mark(Payload const& p, marks const& m) {
  if constexpr (Payload::has_number) simt::fetch_add(m.ran + p.number.word[0], 1u);
}
/// The section as one atomic, which leaves the row unchanged.
template <class Payload>
WARDEN_DEVICE void add_atomically(word_record* r, Payload const& p) {
  simt::fetch_add(reinterpret_cast<std::uint64_t*>(r),
                  std::uint64_t{p.value()} << 32 | p.operations());
  if (p.is_torn()) simt::fetch_or(&r->faults, std::uint32_t{torn});
}

// ---- sections

inline constexpr auto no_sync = [] {};

/// On one record, by one thread.
template <policy_choices P, class Payload>
struct single : Payload {
  template <class Record>
  __device__ void operator()(Record& r, marks const& m) const {
    add_to<P.order == order::sequential>(r, *this, 1, 0, no_sync);
    mark(*this, m);
  }
  __device__ void atomic(word_record* r, marks const& m) const {
    add_atomically(r, *this);
    mark(*this, m);
  }
};
/// On one record, by several lanes.
template <policy_choices P>
struct grouped : operation<P.payload> {
  static constexpr unsigned group_size = 8;
  template <class Record>
  __device__ void operator()(Record& r, marks const& m,
                             warden::lane_group<group_size> const& g) const {
    add_to<P.order == order::sequential, group_size>(r, *this, 1, g.lane(), [&] { g.sync(); });
    if (g.lane() == 0) mark(*this, m);
  }
};
/// On two records: the added values tell them apart.
template <policy_choices P>
struct pair : operation<P.payload> {
  template <class Record>
  __device__ void operator()(Record& first, Record& second, marks const& m) const {
    add_to<false>(first, *this, 1, 0, no_sync);
    add_to<false>(second, *this, 3, 0, no_sync);
    mark(*this, m);
  }
};
template <policy_choices P>
struct grouped_pair : operation<P.payload> {
  static constexpr unsigned group_size = 8;
  template <class Record>
  __device__ void operator()(Record& first, Record& second, marks const& m,
                             warden::lane_group<group_size> const& g) const {
    auto const sync = [&] { g.sync(); };
    add_to<false, group_size>(first, *this, 1, g.lane(), sync);
    sync();
    add_to<false, group_size>(second, *this, 3, g.lane(), sync);
    if (g.lane() == 0) mark(*this, m);
  }
};
/// Combines to its own type.
template <policy_choices P>
struct like : single<P, total<P.payload>> {
  __device__ static like combine(like a, like const& b) {
    a.add(b);
    return a;
  }
};
/// Combines to another type.
template <policy_choices P>
struct sample : single<P, operation<P.payload>> {
  struct partial : single<P, total<P.payload>> {
    __device__ explicit partial(sample const& s) {
      this->n = 1;
      this->sum = this->sum.of(s.value());
      if (s.is_torn()) this->sum.word[0] += 1;
    }
    __device__ static partial combine(partial a, partial const& b) {
      a.add(b);
      return a;
    }
  };
};

// ---- what a policy is made of

template <policy_choices P>
constexpr auto section_type() {
  constexpr bool groups = P.payload == payload::group;
  if constexpr (P.executor == executor::pair_messages) {
    return std::type_identity<std::conditional_t<groups, grouped_pair<P>, pair<P>>>{};
  } else if constexpr (P.combining == combining::like) {
    return std::type_identity<like<P>>{};
  } else if constexpr (P.combining == combining::partial) {
    return std::type_identity<sample<P>>{};
  } else {
    return std::type_identity<
        std::conditional_t<groups, grouped<P>, single<P, operation<P.payload>>>>{};
  }
}
/// Executors so small that windows are full and locks are shared.
template <executor E>
using executor_type = std::conditional_t<
    E == executor::sorted, warden::executor::sorted<64>,
    std::conditional_t<E == executor::locks, warden::executor::locks<16>,
                       std::conditional_t<E == executor::atomics, warden::executor::atomics<64>,
                                          warden::executor::automatic>>>;

/// `Threads` of the blocks that run the log.
template <policy_choices P, unsigned Threads>
using policy =
    warden::policy<warden::options{
                       .records =
                           P.on_chip() ? warden::placement::on_chip : warden::placement::in_memory,
                       .block_threads = Threads,
                       .tuning = {.minimum_blocks_per_multiprocessor = 1, .apply_bytes = 4096}},
                   warden::context<marks>, executor_type<P.executor>,
                   std::conditional_t<P.order == policies::order::sequential,
                                      warden::order::sequential, warden::order::unordered>>;

}  // namespace policies
