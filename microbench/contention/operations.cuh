// SPDX-License-Identifier: Apache-2.0
// Operations of the benchmark, each with an oracle that detects lost, doubled and torn sections.
// `marked_word` returns a member of the section whose highest bit is unused.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace contention {

namespace simt = warden::simt;
using bench::mix;

/// Scratch of all oracles: one word for each operation, one for each key, and a count of errors.
struct oracle_memory {
  std::uint32_t* per_operation;
  std::uint64_t* per_key;  ///< two words for each key
  std::uint64_t* wrong;
};

/// Arguments of an operation's oracle.
template <class Record, class Context>
struct oracle_arguments {
  Record const* records;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  Context result;
  oracle_memory memory;
};

// ---- push: next[i] = head[k]; head[k] = i

struct push {
  static constexpr char const* name = "push";
  using record = std::uint32_t;  ///< newest node + 1; 0 for none
  struct context {
    std::uint32_t* next;
  };
  struct section {
    static constexpr bool reads_other_memory = false;
    std::uint32_t node;
    __device__ void operator()(record& head, context c) const {
      c.next[node] = head;
      head = node + 1;
    }
    __device__ void atomic(record* head, context c) const {
      c.next[node] = simt::exchange(head, node + 1);
    }
  };
  struct make {
    __device__ section operator()(std::uint32_t i) const { return {i}; }
  };
  __device__ static auto& marked_word(section& s) { return s.node; }
  static constexpr bool has_atomic = true;
  static context make_context(std::uint32_t* per_operation) { return {per_operation}; }

  using check_arguments = oracle_arguments<record, context>;
  /// Checks that exactly one head or next of the node's key points to each node.
  __device__ static void first_check(check_arguments const& a) {
    bench::for_each_of(std::uint64_t{a.n} + a.keys, [&](std::uint64_t i) {
      std::uint32_t const to = i < a.n ? a.result.next[i] : a.records[i - a.n];
      std::uint32_t const key = i < a.n ? a.ids[i] : static_cast<std::uint32_t>(i - a.n);
      if (to == 0) return;
      bool const good = to <= a.n && a.ids[to - 1] == key &&
                        simt::fetch_add(&a.memory.per_operation[to - 1], 1u) == 0;
      if (!good) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
  __device__ static void second_check(check_arguments const& a) {
    bench::for_each_of(a.n, [&](std::uint64_t i) {
      if (a.memory.per_operation[i] != 1) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
};

// ---- add

struct add {
  static constexpr char const* name = "add";
  using record = std::uint64_t;
  struct context {};
  struct section {
    static constexpr bool reads_other_memory = false;
    std::uint64_t amount;
    __device__ void operator()(record& sum, context) const { sum += amount; }
    __device__ void atomic(record* sum, context) const { simt::fetch_add(sum, amount); }
    __device__ static section combine(section a, section b) { return {a.amount + b.amount}; }
  };
  struct make {
    /// Distinct amounts, so that two lost sections and a doubled one do not cancel.
    __device__ section operator()(std::uint32_t i) const { return {mix(i, 7) >> 32}; }
  };
  __device__ static auto& marked_word(section& s) { return s.amount; }
  static constexpr bool has_atomic = true;
  static context make_context(std::uint32_t*) { return {}; }

  using check_arguments = oracle_arguments<record, context>;
  __device__ static void first_check(check_arguments const& a) {
    bench::for_each_of(a.n, [&](std::uint64_t i) {
      simt::fetch_add(&a.memory.per_key[2 * std::uint64_t{a.ids[i]}],
                      make{}(static_cast<std::uint32_t>(i)).amount);
    });
  }
  __device__ static void second_check(check_arguments const& a) {
    bench::for_each_of(a.keys, [&](std::uint64_t k) {
      if (a.records[k] != a.memory.per_key[2 * k])
        simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
};

// ---- update: needs more than one atomic

struct update {
  static constexpr char const* name = "update";
  struct alignas(32) record {  // one sector, so that threads load and store whole records
    std::int64_t balance;      ///< never below zero
    std::uint64_t amounts;     ///< sum of a hash of all accepted operations
    std::uint32_t count;
    std::int32_t minimum;
    std::int32_t maximum;
    std::uint32_t last_writer;
  };
  static_assert(sizeof(record) == 32);
  /// Not linear: two lost sections and a doubled one do not cancel. Few instructions, because it is
  /// part of the section.
  WARDEN_HOST_DEVICE static std::uint64_t hash(std::uint32_t writer) {
    return std::uint64_t{writer * 0x9e3779b1u} * (writer ^ 0x85ebca6bu);
  }
  /// [operation] outcome: 1 accepted, 2 refused.
  struct context {
    std::uint32_t* outcome;
  };
  struct section {
    static constexpr bool reads_other_memory = false;
    std::int32_t amount;
    std::uint32_t writer;
    __device__ void operator()(record& r, context c) const {
      // Few instructions with a condition: a hot record takes about 1 ns for each.
      bool const accepted = r.balance + amount >= 0;
      if (accepted) {
        r.balance += amount;
        r.amounts += hash(writer);
        if (amount < r.minimum) r.minimum = amount;
        if (amount > r.maximum) r.maximum = amount;
        ++r.count;
        r.last_writer = writer + 1;
      }
      c.outcome[writer] = accepted ? 1 : 2;
    }
  };
  struct make {
    /// Amounts from -8 to 7, so that balances stay near 0 and many operations are refused.
    __device__ section operator()(std::uint32_t i) const {
      return {static_cast<std::int32_t>(mix(i, 5) >> 60) - 8, i};
    }
  };
  __device__ static auto& marked_word(section& s) { return s.writer; }
  static constexpr bool has_atomic = false;
  static context make_context(std::uint32_t* per_operation) { return {per_operation}; }

  using check_arguments = oracle_arguments<record, context>;
  /// Adds up amounts and hashes of the accepted operations of each key. An operation without an
  /// outcome was lost.
  __device__ static void first_check(check_arguments const& a) {
    bench::for_each_of(a.n, [&](std::uint64_t i) {
      auto const s = make{}(static_cast<std::uint32_t>(i));
      std::uint32_t const outcome = a.result.outcome[i];
      record const& r = a.records[a.ids[i]];
      bool good = outcome == 1 || outcome == 2;
      if (outcome == 1) {
        good = s.amount >= r.minimum && s.amount <= r.maximum;
        simt::fetch_add(
            &a.memory.per_key[2 * std::uint64_t{a.ids[i]}],
            static_cast<std::uint64_t>(std::int64_t{s.amount}) + (std::uint64_t{1} << 40));
        simt::fetch_add(&a.memory.per_key[2 * std::uint64_t{a.ids[i]} + 1],
                        hash(static_cast<std::uint32_t>(i)));
      }
      if (!good) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
  __device__ static void second_check(check_arguments const& a) {
    bench::for_each_of(a.keys, [&](std::uint64_t k) {
      record const& r = a.records[k];
      std::uint64_t const sum =
          static_cast<std::uint64_t>(r.balance) + (std::uint64_t{r.count} << 40);
      bool good = r.balance >= 0 && sum == a.memory.per_key[2 * k] &&
                  r.amounts == a.memory.per_key[2 * k + 1];
      if (r.count != 0) {
        std::uint32_t const last = r.last_writer - 1;
        good = good && last < a.n && a.ids[last] == k && a.result.outcome[last] == 1;
      }
      if (!good) simt::fetch_add(a.memory.wrong, std::uint64_t{1});
    });
  }
};

/// Operation `update`, written with masks. Everything that does not depend on the record can be
/// computed before it is loaded, but a section takes twice as many instructions.
struct update_mask : update {
  static constexpr char const* name = "update_mask";
  struct section {
    static constexpr bool reads_other_memory = false;
    std::int32_t amount;
    std::uint32_t writer;
    __device__ void operator()(record& r, context c) const {
      bool const accepted = r.balance + amount >= 0;
      std::uint64_t const mask = 0 - std::uint64_t{accepted};
      r.balance += amount & static_cast<std::int64_t>(mask);
      r.amounts += hash(writer) & mask;
      r.minimum = accepted && amount < r.minimum ? amount : r.minimum;
      r.maximum = accepted && amount > r.maximum ? amount : r.maximum;
      r.count += accepted ? 1 : 0;
      r.last_writer = accepted ? writer + 1 : r.last_writer;
      c.outcome[writer] = accepted ? 1 : 2;
    }
  };
  struct make {
    __device__ section operator()(std::uint32_t i) const {
      auto const s = update::make{}(i);
      return {s.amount, s.writer};
    }
  };
  __device__ static auto& marked_word(section& s) { return s.writer; }
};

/// Oracle in two passes, each a launch of its own.
template <class Operation>
WARDEN_KERNEL void first_check(typename Operation::check_arguments a) {
  simt::assume_one_dimension();
  Operation::first_check(a);
}
template <class Operation>
WARDEN_KERNEL void second_check(typename Operation::check_arguments a) {
  simt::assume_one_dimension();
  Operation::second_check(a);
}

}  // namespace contention
