// SPDX-License-Identifier: Apache-2.0
// Sections whose result tells in which tree they were combined, and the expected result.
#pragma once

#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace deterministic_test {

/// Combines in no order but the one it was written in: any other tree gives another number.
struct mixed {
  std::uint64_t value;
  __device__ static mixed combine(mixed const& a, mixed const& b) {
    return {test::mix(a.value * 3 + b.value)};
  }
  __device__ void operator()(std::uint64_t& record) const { record = test::mix(record + value); }
};
using in_trees = warden::policy<warden::options{}, warden::order::deterministic>;
using guarded = warden::basic_guarded<in_trees, std::uint64_t, mixed>;

/// Section i.
struct numbered {
  __device__ mixed operator()(std::uint64_t i) const { return {i + 1}; }
};
/// Such a section with a number of type `T`.
template <class T>
struct small_mixed {
  T value;
  __device__ static small_mixed combine(small_mixed const& a, small_mixed const& b) {
    return {static_cast<T>(test::mix(std::uint64_t{a.value} * 3 + b.value))};
  }
  __device__ void operator()(std::uint64_t& record) const { record = test::mix(record + value); }
  struct numbered {
    __device__ small_mixed operator()(std::uint64_t i) const {
      return {static_cast<T>(test::mix(i))};
    }
  };
};
/// Section of several words, each of which is mixed on its own as in `mixed`.
template <unsigned Words>
struct long_mixed {
  std::uint32_t values[Words];
  __device__ static long_mixed combine(long_mixed const& a, long_mixed const& b) {
    long_mixed all{};
    for (unsigned w = 0; w < Words; ++w)
      all.values[w] =
          static_cast<std::uint32_t>(test::mix(std::uint64_t{a.values[w]} * 3 + b.values[w]));
    return all;
  }
  __device__ void operator()(std::uint64_t& record) const {
    for (std::uint32_t const value : values) record = test::mix(record * 3 + value);
  }
  struct numbered {
    __device__ long_mixed operator()(std::uint64_t i) const {
      long_mixed one{};
      for (unsigned w = 0; w < Words; ++w)
        one.values[w] = static_cast<std::uint32_t>(test::mix(i * Words + w));
      return one;
    }
  };
};

/// Section i of `Section`, for the record that an array names, unless i is a multiple of 7. It is
/// called with i - `first`.
template <class Section>
struct sized_numbered_to {
  std::uint32_t const* ids;
  std::uint32_t first = 0;
  __device__ warden::nothing_or<warden::to<Section>> operator()(std::uint64_t i) const {
    i += first;
    if (i % 7 == 0) return {};
    return warden::to{ids[i], typename Section::numbered{}(i)};
  }
};
/// Sends such sections of all `n` ids to a log of `g`, and runs it. They fill all places, so that
/// the ends of shards cut batches.
template <class Section, class Guarded>
void run_sized(Guarded& g, std::uint32_t const* ids, std::uint32_t n) {
  warden::deferred log{g, n - (n + 6) / 7};
  warden::send_async(log, n / 2, sized_numbered_to<Section>{ids});
  warden::send_async(log, n - n / 2, sized_numbered_to<Section>{ids, n / 2});
  log.run();
}

/// Sections of all records, for the kernel below.
struct sections_by_record {
  std::uint32_t const* numbers;  ///< [section] those of one record together, in order
  std::uint32_t const* begins;   ///< [record + 1]
  std::uint64_t* records;        ///< gets the results
  std::uint32_t size;            ///< records
};
template <class Numbered>
WARDEN_KERNEL void expect(sections_by_record a) {
  for (std::uint32_t r = warden::simt::block_rank(); r < a.size; r += warden::simt::block_count()) {
    std::uint32_t const begin = a.begins[r], count = a.begins[r + 1] - begin;
    if (count == 0) continue;
    auto const sum = warden::detail::combined_in_tree(
        count, [&](std::uint64_t k) { return Numbered{}(a.numbers[begin + k]); });
    sum(a.records[r]);
  }
}
/// Returns the records after sections of `Numbered` on `ids`, from records that are all `initial`.
/// Ids outside the records have no section.
template <class Numbered = numbered>
std::vector<std::uint64_t> expected(std::vector<std::uint32_t> const& ids, std::uint32_t records,
                                    std::uint64_t initial) {
  std::vector<std::vector<std::uint32_t>> of(records);
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < records) of[ids[i]].push_back(i);
  }
  std::vector<std::uint32_t> numbers, begins{0};
  for (auto const& one : of) {
    numbers.insert(numbers.end(), one.begin(), one.end());
    begins.push_back(static_cast<std::uint32_t>(numbers.size()));
  }
  warden::buffer<std::uint32_t> const all{numbers}, starts{begins};
  warden::buffer<std::uint64_t> results{std::vector<std::uint64_t>(records, initial)};
  warden::launch(&expect<Numbered>, std::min(records, 1024u), 1, {},
                 sections_by_record{all.data(), starts.data(), results.data(), records});
  return results.to_host();
}

inline constexpr std::uint64_t initial = 7;

/// Returns the records after one `apply_async` of all sections.
inline std::vector<std::uint64_t> found(std::vector<std::uint32_t> const& ids,
                                        std::uint32_t records) {
  warden::buffer<std::uint32_t> const on{ids};
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, initial)};
  guarded g{values};
  g.apply_async(on.data(), ids.size(), numbered{});
  g.wait();
  return values.to_host();
}
/// Returns n ids below `records`, of which low ones are more frequent the larger `skew` is.
inline std::vector<std::uint32_t> random_ids(std::uint32_t n, std::uint32_t records, double skew) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    double const u = static_cast<double>(test::mix(i + 1) >> 11) * 0x1p-53;
    ids[i] = static_cast<std::uint32_t>(std::pow(u, 1 + skew) * records);
  }
  return ids;
}

/// A sum and a number, as a partial of one number each.
struct weighted {
  std::uint64_t sum, count;
  explicit __device__ weighted(mixed const& one) : sum{one.value}, count{1} {}
  __device__ weighted(std::uint64_t s, std::uint64_t c) : sum{s}, count{c} {}
  __device__ static weighted combine(weighted const& a, weighted const& b) {
    return {a.sum + b.sum, a.count + b.count};
  }
  __device__ void operator()(std::uint64_t& record, std::uint64_t const& scale,
                             warden::record_id id) const {
    record += scale * sum + (count << 40) + (id << 50);
  }
};
struct counted : mixed {
  using partial = weighted;
  __device__ void operator()(std::uint64_t&, std::uint64_t const&, warden::record_id) const {}
};

}  // namespace deterministic_test
