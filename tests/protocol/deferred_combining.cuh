// SPDX-License-Identifier: Apache-2.0
// Deferred sections that combine, and the expected records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace combined {

namespace simt = warden::simt;

/// Adds up what reached it, and counts the sections that ran.
struct total {
  std::uint64_t sum;
  std::uint64_t sums[4];  ///< [key]
  std::uint32_t operations;
  std::uint32_t runs;
  std::uint32_t most;
  std::uint32_t most_inverse;  ///< inverse of the least one
};
/// Value that operation i adds.
WARDEN_HOST_DEVICE std::uint32_t value_of(std::uint32_t i) {
  return static_cast<std::uint32_t>(test::mix(i)) >> 16;
}

/// Combines to its like.
struct add_up {
  std::uint32_t operations;
  std::uint32_t sum;
  WARDEN_HOST_DEVICE static add_up of(std::uint32_t i) { return {1, value_of(i)}; }
  __device__ void operator()(total& t) const {
    t.sum += sum;
    t.operations += operations;
    ++t.runs;
  }
  __device__ static add_up combine(add_up a, add_up b) {
    return {a.operations + b.operations, a.sum + b.sum};
  }
};

/// 8 bytes in a message, which become 24.
struct sample {
  std::uint32_t value;
  WARDEN_HOST_DEVICE static sample of(std::uint32_t i) { return {value_of(i)}; }
  __device__ void operator()(total& t) const {
    t.sum += value;
    if (t.most < value) t.most = value;
    if (t.most_inverse < ~value) t.most_inverse = ~value;
    ++t.operations;
    ++t.runs;
  }

  /// All members have different values, so that swapped ones are noticed.
  struct partial {
    std::uint32_t operations, least, most;
    std::uint32_t sum[2];
    __device__ explicit partial(sample s)
        : operations{1}, least{s.value}, most{s.value}, sum{s.value, 0} {}
    __device__ void operator()(total& t) const {
      t.sum += sum[0] + (std::uint64_t{sum[1]} << 32);
      if (t.most < most) t.most = most;
      if (t.most_inverse < ~least) t.most_inverse = ~least;
      t.operations += operations;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial b) {
      std::uint64_t const both = std::uint64_t{a.sum[0]} + b.sum[0];
      a.sum[0] = static_cast<std::uint32_t>(both);
      a.sum[1] += b.sum[1] + static_cast<std::uint32_t>(both >> 32);
      a.operations += b.operations;
      a.least = a.least < b.least ? a.least : b.least;
      a.most = a.most < b.most ? b.most : a.most;
      return a;
    }
  };
};
static_assert(sizeof(sample::partial) == 20);

/// A record has four sums: sections on one of them combine.
struct keyed_sample {
  std::uint32_t value;
  WARDEN_HOST_DEVICE static keyed_sample of(std::uint32_t i) { return {value_of(i)}; }
  __device__ std::uint32_t combine_key() const { return value % 4; }
  __device__ void operator()(total& t) const { partial{*this}(t); }

  struct partial {
    std::uint32_t key, operations, sum;
    __device__ explicit partial(keyed_sample s) : key{s.value % 4}, operations{1}, sum{s.value} {}
    __device__ std::uint32_t combine_key() const { return key; }
    __device__ void operator()(total& t) const {
      t.sum += sum;
      t.sums[key] += sum;
      t.operations += operations;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial b) {
      a.operations += b.operations;
      a.sum += b.sum;
      return a;
    }
  };
};
/// A section with a key whose partial is the section itself. It returns a value, which a
/// log ignores.
struct keyed_add {
  std::uint32_t key, operations, sum;
  WARDEN_HOST_DEVICE static keyed_add of(std::uint32_t i) {
    return {value_of(i) % 4, 1, value_of(i)};
  }
  __device__ std::uint32_t combine_key() const { return key; }
  __device__ void operator()(total& t) const {
    t.sum += sum;
    t.sums[key] += sum;
    t.operations += operations;
    ++t.runs;
  }
  __device__ static keyed_add combine(keyed_add a, keyed_add b) {
    a.operations += b.operations;
    a.sum += b.sum;
    return a;
  }
};
/// A section whose partial is another type of the same size in a message.
struct pair_of_values {
  std::uint32_t value;
  std::uint32_t same;
  WARDEN_HOST_DEVICE static pair_of_values of(std::uint32_t i) {
    return {value_of(i), value_of(i)};
  }
  __device__ void operator()(total& t) const { partial{*this}(t); }

  struct partial {
    std::uint32_t operations, sum, same;
    __device__ explicit partial(pair_of_values s) : operations{1}, sum{s.value}, same{s.same} {}
    __device__ void operator()(total& t) const {
      t.sum += (std::uint64_t{sum} + same) / 2;
      t.operations += operations;
      ++t.runs;
    }
    __device__ static partial combine(partial a, partial b) {
      a.operations += b.operations;
      a.sum += b.sum;
      a.same += b.same;
      return a;
    }
  };
};

/// A section with `combine` that a log runs by itself.
struct single_add : add_up {
  static constexpr bool combines = false;
  __device__ static single_add combine(single_add a, single_add b) {
    return {add_up::combine(a, b)};
  }
};
/// A section of 12 bytes, whose partial has 44.
struct wide_sample {
  std::uint32_t words[3];
  __device__ void operator()(total& t) const { t.sum += words[0]; }

  struct partial {
    std::uint32_t words[11];
    __device__ explicit partial(wide_sample s) : words{s.words[0]} {}
    __device__ void operator()(total& t) const { t.sum += words[0]; }
    __device__ static partial combine(partial a, partial) { return a; }
  };
};

template <class Executor, warden::placement Where>
using policy_of = warden::policy<warden::options{.records = Where, .block_threads = 32}, Executor>;
using policy = policy_of<warden::executor::automatic, warden::placement::in_memory>;
template <class Section, class Policy = policy>
using totals_of = warden::basic_guarded<Policy, total, Section>;
static_assert(sizeof(totals_of<sample>::deferred_ref::message_type) == 8);
static_assert(sizeof(totals_of<keyed_sample>::deferred_ref::message_type) == 8);
static_assert(sizeof(totals_of<pair_of_values>::deferred_ref::message_type) == 16);

/// Operations 0 to n - 1, and where they go.
struct operations {
  std::uint32_t n, keys;
  std::uint32_t hot;  ///< number of 256 operations that are for record 0
  /// Phases without operations for record 0: one bit for each of up to 64 phases of equal length.
  std::uint64_t cold_phases = 0;
  std::uint32_t phase = ~0u;

  /// Record of operation i: each has its own where there are enough.
  WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint32_t i) const {
    bool const is_cold = (cold_phases >> (i / phase % 64) & 1u) != 0;
    bool const is_hot = !is_cold && (test::mix(i * 2 + 1) & 255u) < hot;
    return is_hot ? 0 : n <= keys ? i : test::id_of(i, keys);
  }
  /// True if operation i is sent.
  WARDEN_HOST_DEVICE bool sends(std::uint32_t i) const { return i < n && i % 7 != 2; }
  /// How many of n operations are sent.
  [[nodiscard]] std::uint64_t sent() const { return n - (n + 4) / 7; }
};

/// Returns the number of the operation that is sent as element j.
WARDEN_HOST_DEVICE std::uint32_t operation_of(std::uint64_t j) {
  auto const within = static_cast<std::uint32_t>(j % 6);
  return static_cast<std::uint32_t>(j / 6 * 7) + within + (within >= 2 ? 1 : 0);
}
/// Sends one operation for each element.
template <class Section>
struct each_sent {
  operations all;
  std::uint64_t first = 0;
  __device__ auto operator()(std::uint64_t j) const {
    std::uint32_t const i = operation_of(first + j);
    return warden::to{all.id_of(i), Section::of(i)};
  }
};

/// Sends the operations from `first` to `end` - 1 by blocks; after each `flush_each` sends of a
/// block it flushes.
template <class Section, unsigned Threads, std::size_t Bytes, class Ref>
WARDEN_KERNEL void send_in_blocks(Ref ref, operations all, std::uint32_t first, std::uint32_t end,
                                  std::uint32_t flush_each) {
  using block = warden::deferred_block<Ref, Threads, Bytes>;
  block client{ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * Threads;
  std::uint32_t sends = 0;
  for (std::uint32_t base = first + simt::block_rank() * Threads; base < end; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    client.send(all.id_of(i), Section::of(i), i < end && all.sends(i));
    if (++sends % flush_each == 0) client.flush();
  }
  client.flush();
}
/// Sends the operations by single threads.
template <class Section, class Ref>
WARDEN_KERNEL void send_alone(Ref ref, operations all, std::uint32_t first, std::uint32_t end) {
  std::uint32_t const i = first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < end && all.sends(i)) ref.send(all.id_of(i), Section::of(i));
}

/// A guarded array, and its expected records.
template <class Section, class Policy = policy>
class bench {
 public:
  using guarded = totals_of<Section, Policy>;
  using ref = typename guarded::deferred_ref;

  explicit bench(operations all) : all_{all}, records_{all.keys}, on_{records_} {
    records_.fill_bytes(0);
  }
  guarded& on() { return on_; }

  template <unsigned Threads, std::size_t Bytes = warden::static_storage_bytes>
  void send_together(ref to, std::uint32_t first, std::uint32_t end, unsigned blocks,
                     std::uint32_t flush_each = ~0u) {
    using client = typename guarded::template deferred_block<Threads, Bytes>;
    warden::launch(&send_in_blocks<Section, Threads, Bytes, ref>,
                   {blocks, Threads, sizeof(typename client::storage)}, {}, to, all_, first, end,
                   flush_each);
  }
  void send_alone(ref to, std::uint32_t first, std::uint32_t end) {
    if (first == end) return;
    warden::launch(&combined::send_alone<Section, ref>, (end - first + 63) / 64, 64, {}, to, all_,
                   first, end);
  }

  static std::uint64_t summed(std::uint64_t sum) {
    return std::is_same_v<Section, sample> ? sum : static_cast<std::uint32_t>(sum);
  }
  /// Every operation has had its effect once. Returns how many sections ran.
  std::uint64_t expect_each_once() {
    std::vector<total> expected(all_.keys);
    for (std::uint32_t i = 0; i < all_.n; ++i) {
      if (!all_.sends(i)) continue;
      total& t = expected[all_.id_of(i)];
      std::uint32_t const value = value_of(i);
      t.sum += value;
      t.sums[value % 4] += value;
      t.most = std::max(t.most, value);
      t.most_inverse = std::max(t.most_inverse, ~value);
      ++t.operations;
    }
    std::uint64_t runs = 0;
    auto const found = records_.to_host();
    for (std::uint32_t k = 0; k < all_.keys && !testing::Test::HasFailure(); ++k) {
      EXPECT_EQ(found[k].operations, expected[k].operations)
          << "lost or doubled section on record " << k;
      // Partials have sums of 32 bits, except that of `sample`.
      EXPECT_EQ(summed(found[k].sum), summed(expected[k].sum))
          << "lost or doubled section on record " << k;
      if constexpr (std::is_same_v<Section, sample>) {
        EXPECT_EQ(found[k].most, expected[k].most) << "record " << k;
        EXPECT_EQ(found[k].most_inverse, expected[k].most_inverse) << "record " << k;
      }
      if constexpr (warden::has_combine_key<Section>) {
        for (int key = 0; key < 4; ++key)
          EXPECT_EQ(summed(found[k].sums[key]), summed(expected[k].sums[key]))
              << "another key's section, record " << k;
      }
      runs += found[k].runs;
    }
    return runs;
  }
  /// Operations that had their effect.
  std::uint64_t operations_ran() {
    std::uint64_t sum = 0;
    for (total const& t : records_.to_host()) sum += t.operations;
    return sum;
  }

 private:
  operations all_;
  warden::buffer<total> records_;
  guarded on_;
};

/// One block sends batches, some of which are for one record alone. The `cold` ones, by the bits of
/// a word, are for records that come once. The log has room for these and for `uncombined` more:
/// keys that repeat are found in time, or sections are refused.
template <class Section, unsigned Threads>
void expect_found_in_time(std::uint64_t cold, std::uint32_t batches, std::uint32_t uncombined) {
  using guarded = totals_of<Section>;
  std::uint32_t const batch = Threads * guarded::template deferred_block<Threads>::per_thread;
  operations const all{batches * batch, batches * batch, 256, cold, batch};
  std::uint64_t room = 0;
  for (std::uint32_t b = 0; b < batches; ++b) room += (cold >> b & 1u) * batch;
  bench<Section> b{all};
  warden::deferred later{b.on(), room + std::uint64_t{uncombined} * batch};
  b.template send_together<Threads>(later.ref(), 0, all.n, 1);
  later.run();
  b.on().wait();
  b.expect_each_once();
}
/// Batches 0, 4, 12, 28 and 60 are sampled until keys repeat. After those, samples are 4 batches
/// apart again.
template <class Section, unsigned Threads>
void expect_late_repeats_are_found() {
  auto const first = [](unsigned batches) { return (std::uint64_t{1} << batches) - 1; };
  for (unsigned const before : {1u, 5u, 12u, 13u, 29u}) {
    unsigned sampled = 0;
    for (unsigned distance = 4; sampled < before; distance *= 2) sampled += distance;
    expect_found_in_time<Section, Threads>(first(before), 64, sampled - before);
  }
  // Batch 35 does not combine, so batch 39 is sampled. Batch 38 repeats before that.
  expect_found_in_time<Section, Threads>(first(12) | first(3) << 35, 64, 1);
}

/// Sends and runs; every operation has its effect once. Returns how many sections ran.
template <class Section, unsigned Threads, class Policy = policy>
std::uint64_t expect_each_once(operations all, unsigned blocks) {
  bench<Section, Policy> b{all};
  warden::deferred later{b.on(), all.n};
  b.template send_together<Threads>(later.ref(), 0, all.n, blocks);
  later.run();
  b.on().wait();
  return b.expect_each_once();
}

}  // namespace combined
