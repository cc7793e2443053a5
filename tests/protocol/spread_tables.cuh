// SPDX-License-Identifier: Apache-2.0
// Sections that combine, on records that are spread over ranks, and the expected records.
#pragma once

#include "tests/protocol/spread.cuh"

#include <warden/policy.cuh>
#include <warden/section.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tabled {

namespace simt = warden::simt;

/// A record in which every section leaves a trace.
struct tally {
  std::uint64_t sum;
  std::uint32_t count;  ///< operations
  std::uint32_t runs;   ///< sections that ran
  std::uint64_t id;     ///< id of the record, as a section got it
};
/// Value that operation i adds.
WARDEN_HOST_DEVICE std::uint32_t value_of(std::uint32_t i) {
  return static_cast<std::uint32_t>(test::mix(i)) >> 16;
}

/// Combines to its like, and takes the id of its record. A message of 16 bytes, and a cell of 16.
struct deposit {
  std::uint32_t count, sum;
  WARDEN_HOST_DEVICE static deposit of(std::uint32_t i) { return {1, value_of(i)}; }
  __device__ void operator()(tally& t, warden::record_id id) const {
    t.sum += sum;
    t.count += count;
    ++t.runs;
    t.id = id;
  }
  __device__ static deposit combine(deposit a, deposit b) {
    return {a.count + b.count, a.sum + b.sum};
  }
};
/// A message of 8 bytes, and a partial of 24.
struct sample {
  std::uint32_t value;
  WARDEN_HOST_DEVICE static sample of(std::uint32_t i) { return {value_of(i)}; }
  __device__ void operator()(tally& t) const { partial{*this}(t); }

  struct partial {
    std::uint64_t sum;
    std::uint32_t count;
    __device__ explicit partial(sample s) : sum{s.value}, count{1} {}
    __device__ void operator()(tally& t) const {
      t.sum += sum;
      t.count += count;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial b) {
      a.sum += b.sum;
      a.count += b.count;
      return a;
    }
  };
};
/// A message without data members.
struct visit {
  WARDEN_HOST_DEVICE static visit of(std::uint32_t) { return {}; }
  __device__ void operator()(tally& t) const { partial{*this}(t); }

  struct partial {
    std::uint32_t count;
    __device__ explicit partial(visit) : count{1} {}
    __device__ void operator()(tally& t) const {
      t.count += count;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial b) {
      a.count += b.count;
      return a;
    }
  };
};

template <class Guarded>
struct arguments {
  typename Guarded::deferred_ref ref;
  std::uint32_t first, end;  ///< operations
  std::uint32_t keys;
};
/// Every thread by itself, so that each operation has a message.
template <class Guarded, class Section>
WARDEN_KERNEL void send_alone(arguments<Guarded> a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.end) a.ref.send(deferring::id_of(i, a.keys), Section::of(i));
}
/// By a block, which combines.
template <class Guarded, class Section, unsigned Threads>
WARDEN_KERNEL void send_together(arguments<Guarded> a) {
  using block = typename Guarded::template deferred_block<Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t base = a.first; base < a.end; base += Threads) {
    std::uint32_t const i = base + simt::thread_rank();
    client.send(deferring::id_of(i, a.keys), Section::of(i), i < a.end);
  }
  client.flush();
}

/// One rank's records, and kernels that send operations.
template <class Section, class Policy = deferring::small_blocks<>>
class bench {
 public:
  using guarded = warden::basic_spread_guarded<Policy, tally, Section>;
  static constexpr unsigned threads = 32;

  bench(warden::communicator const& world, std::uint32_t keys) : keys_{keys}, on_{world, keys} {}
  template <class Map>
  bench(warden::communicator const& world, std::uint32_t keys, Map map)
      : keys_{keys}, on_{world, keys, map} {}

  guarded& on() { return on_; }

  /// Sends operations on the first `keys` records.
  template <class Log>
  void send_alone(Log& to, std::uint32_t first, std::uint32_t end, std::uint32_t keys = 0) const {
    if (first == end) return;
    simt::launch(&tabled::send_alone<guarded, Section>, (end - first + threads - 1) / threads,
                 threads, 0, {to.ref(), first, end, keys == 0 ? keys_ : keys}, {});
  }
  template <class Log>
  void send_together(Log& to, std::uint32_t first, std::uint32_t end) const {
    using storage = typename guarded::template deferred_block<threads>::storage;
    simt::launch(&tabled::send_together<guarded, Section, threads>, 1, threads, sizeof(storage),
                 {to.ref(), first, end, keys_}, {});
  }

  /// Exactly the operations below `end` have run on this rank's records, each `times` times.
  void expect_ran(std::uint32_t end, std::uint32_t times = 1) const {
    std::vector<tally> expected(keys_);
    for (std::uint32_t i = 0; i < end; ++i) {
      tally& t = expected[deferring::id_of(i, keys_)];
      if constexpr (!std::is_same_v<Section, visit>) t.sum += std::uint64_t{value_of(i)} * times;
      t.count += times;
    }
    auto const found = on_.records().to_host();
    auto const ids = spreading::ids_of(on_);
    for (std::uint32_t place = 0; place < found.size(); ++place) {
      std::uint32_t const id = ids[place];
      if (id >= keys_) continue;
      ASSERT_EQ(found[place].count, expected[id].count)
          << "lost or doubled section on record " << id;
      ASSERT_EQ(found[place].sum, expected[id].sum) << "lost or doubled section on record " << id;
      if (std::is_same_v<Section, deposit> && found[place].count != 0) {
        ASSERT_EQ(found[place].id, id) << "another id on record " << id;
      }
    }
  }
  /// How many operations have run here.
  std::uint64_t ran() const {
    std::uint64_t count = 0;
    for (tally const& t : on_.records().to_host()) count += t.count;
    return count;
  }
  /// How many sections have run here.
  std::uint64_t sections_ran() const {
    std::uint64_t runs = 0;
    for (tally const& t : on_.records().to_host()) runs += t.runs;
    return runs;
  }

 private:
  std::uint32_t keys_;
  guarded on_;
};

/// True if a rank filled a table for another one in the last run of the log, whose phases are
/// recorded.
template <class Log>
bool filled_tables(Log const& log) {
  return log.phase_ends()[static_cast<std::size_t>(warden::run_phase::combine)].has_value();
}

}  // namespace tabled
