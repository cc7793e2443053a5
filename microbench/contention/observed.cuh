// SPDX-License-Identifier: Apache-2.0
// Measures when the sections for cold keys have run. Cold keys are all keys of hot90 except the hot
// one.
#pragma once

#include "microbench/contention/arms.cuh"
#include "microbench/support/clock.cuh"
#include "microbench/support/workload.cuh"

#include <warden/guarded.cuh>

#include <algorithm>
#include <cstdint>
#include <string>

namespace contention {

/// The operation on one draw of hot90, whose sections for cold keys note the time when they have
/// run. A spare bit marks these sections, so messages keep their size.
template <class Operation>
struct observed : Operation {
  using plain = typename Operation::section;
  using record = typename Operation::record;

  /// Seed of the draw, by which sections know if their key is cold.
  static constexpr std::uint64_t seed = 90;
  /// Number of words for times, large enough that threads rarely contend for one.
  static constexpr std::uint32_t stripes = 1u << 16;

  struct context : Operation::context {
    std::uint64_t* latest;
  };

  struct section {
    static constexpr bool reads_other_memory = plain::reads_other_memory;
    plain marked;

    __device__ static section of(plain s, bool cold) {
      auto& word = Operation::marked_word(s);
      if (cold) word |= mark(word);
      return {s};
    }
    __device__ void operator()(record& r, context c) const {
      unmarked()(r, c);
      note(c);
    }
    __device__ void atomic(record* r, context c) const requires Operation::has_atomic {
      unmarked().atomic(r, c);
      note(c);
    }
    __device__ static section combine(section a, section b) requires warden::combining<plain> {
      return of(plain::combine(a.unmarked(), b.unmarked()), a.is_cold());
    }

   private:
    template <class Word>
    __device__ static Word mark(Word) {
      return Word{1} << (8 * sizeof(Word) - 1);
    }
    __device__ bool is_cold() const {
      plain s = marked;
      auto const word = Operation::marked_word(s);
      return (word & mark(word)) != 0;
    }
    __device__ plain unmarked() const {
      plain s = marked;
      auto& word = Operation::marked_word(s);
      word &= ~mark(word);
      return s;
    }
    __device__ void note(context c) const {
      if (!is_cold()) return;
      std::uint32_t const thread = simt::block_rank() * simt::block_threads() + simt::thread_rank();
      simt::fetch_max(&c.latest[thread % stripes], bench::nanosecond_clock::now());
    }
  };

  struct make {
    __device__ section operator()(std::uint32_t i) const {
      return section::of(typename Operation::make{}(i), bench::hot90_is_cold(i, seed));
    }
  };

  context make_context(std::uint32_t* per_operation) const {
    return {Operation::make_context(per_operation), latest};
  }
  /// Enqueues a kernel that stores the time. Call it just before the sections are enqueued.
  void note_begin() const {
    simt::launch(&bench::note<bench::nanosecond_clock>, 1, 1, 0, begin, {});
  }

  std::uint64_t* begin;  ///< time just before the launch
  std::uint64_t*
      latest;  ///< [thread % stripes] time after the thread's last section for a cold key
};

/// Runs each arm once more, with observed sections.
template <class Operation>
class cold_observer {
 public:
  struct result {
    std::uint64_t cold = 0;  ///< operations for cold keys
    double seconds = 0;      ///< from the start until the last section for a cold key had run
    bool verified = false;
  };

  cold_observer(std::uint32_t most_operations, std::uint32_t keys)
      : begin_{1},
        latest_{operation::stripes},
        runner_{most_operations, keys, operation{{}, begin_.data(), latest_.data()}} {}

  result run(std::string const& arm, bench::workload& w, std::uint32_t n,
             warden::baseline::lock_choice const& choice) {
    runner_.set_choice(choice);
    // Warm-up, because a cold start would count.
    runner_.run(arm, w, std::min(n, 1024u), operation::seed);
    latest_.fill_bytes(0);
    result r;
    r.verified = runner_.run(arm, w, n, operation::seed).verified;
    auto const times = latest_.to_host();
    std::uint64_t const end = *std::max_element(times.begin(), times.end());
    std::uint64_t const begin = begin_.to_host()[0];
    if (end > begin) r.seconds = static_cast<double>(end - begin) * 1e-9;
    for (std::uint32_t i = 0; i < n; ++i)
      r.cold += bench::hot90_is_cold(i, operation::seed) ? 1 : 0;
    return r;
  }

 private:
  using operation = observed<Operation>;
  warden::buffer<std::uint64_t> begin_, latest_;
  runner<operation> runner_;
};

}  // namespace contention
