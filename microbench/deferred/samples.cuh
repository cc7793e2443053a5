// SPDX-License-Identifier: Apache-2.0
// Samples, and summaries of a record's samples: a section is smaller than its partial.
#pragma once

#include "microbench/deferred/sections.cuh"

#include <cstdint>

namespace deferred_bench {

/// Summary of a record's samples.
struct alignas(32) summary {
  std::uint64_t sum;
  std::uint32_t count;
  std::uint32_t most, most_inverse;  ///< largest sample; complement of the smallest sample
};
/// Distinct values, so that two lost samples and a doubled one do not cancel.
WARDEN_HOST_DEVICE std::uint32_t sample_of(std::uint32_t i) { return i * 2654435769u; }

/// Several samples as one section of 20 bytes, in a message of 24 bytes.
struct samples {
  std::uint32_t count, most, most_inverse;
  std::uint32_t sum[2];
  __device__ explicit samples(std::uint32_t value)
      : count{1}, most{value}, most_inverse{~value}, sum{value, 0} {}
  __device__ static samples of(std::uint32_t i) { return samples{sample_of(i)}; }
  __device__ static samples combine(samples a, samples b) {
    std::uint64_t const both = a.wide_sum() + b.wide_sum();
    a.sum[0] = static_cast<std::uint32_t>(both);
    a.sum[1] = static_cast<std::uint32_t>(both >> 32);
    a.count += b.count;
    a.most = a.most < b.most ? b.most : a.most;
    a.most_inverse = a.most_inverse < b.most_inverse ? b.most_inverse : a.most_inverse;
    return a;
  }
  __device__ void operator()(summary& s) const {
    s.sum += wide_sum();
    s.count += count;
    s.most = s.most < most ? most : s.most;
    s.most_inverse = s.most_inverse < most_inverse ? most_inverse : s.most_inverse;
  }

 private:
  [[nodiscard]] __device__ std::uint64_t wide_sum() const {
    return std::uint64_t{sum[1]} << 32 | sum[0];
  }
};
static_assert(sizeof(samples) == 20);

/// One sample, in a message of 8 bytes.
struct sample {
  std::uint32_t value;
  __device__ static sample of(std::uint32_t i) { return {sample_of(i)}; }
  __device__ void operator()(summary& s) const { samples{value}(s); }

  /// The section that several samples combine to.
  struct partial : samples {
    __device__ explicit partial(sample one) : samples{one.value} {}
    __device__ explicit partial(samples const& all) : samples{all} {}
    __device__ static partial combine(partial const& a, partial const& b) {
      return partial{samples::combine(a, b)};
    }
  };
};

/// A sample that a log runs by itself.
struct single_sample : sample {
  static constexpr bool combines = false;
  __device__ static single_sample of(std::uint32_t i) { return {sample::of(i)}; }
};
/// Guarded array of summaries. `Section` is `sample`, `single_sample` or `samples`.
template <class Section>
using sampled = warden::guarded<summary, Section>;
/// Log of a `sampled` array.
template <class Section>
using sample_log = warden::deferred<warden::policy<>, summary, Section>;

/// Arguments of the oracle, on records of the type `Summary`.
template <class Summary>
struct sample_check_arguments {
  Summary const* records;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  Summary* expected;
  std::uint64_t* wrong;
};
template <class Summary>
WARDEN_KERNEL void expect_samples(sample_check_arguments<Summary> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    Summary& e = a.expected[a.ids[i]];
    std::uint32_t const value = sample_of(static_cast<std::uint32_t>(i));
    simt::fetch_add(&e.sum, std::uint64_t{value});
    simt::fetch_add(&e.count, 1u);
    simt::fetch_max(&e.most, value);
    simt::fetch_max(&e.most_inverse, ~value);
  });
}
template <class Summary>
WARDEN_KERNEL void compare_samples(sample_check_arguments<Summary> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.keys, [&](std::uint64_t k) {
    Summary const found = a.records[k], e = a.expected[k];
    if (found.sum != e.sum || found.count != e.count || found.most != e.most ||
        found.most_inverse != e.most_inverse)
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

/// Checks that every sample was added once.
class sample_oracle {
 public:
  explicit sample_oracle(std::uint32_t keys) : expected_{keys}, wrong_{1} {}
  /// True if the records, 0 at the start, got each of the samples 0 to n - 1 once.
  bool holds(warden::buffer<summary> const& records, std::uint32_t const* ids, std::uint32_t n) {
    expected_.fill_bytes(0);
    wrong_.fill_bytes(0);
    auto const keys = static_cast<std::uint32_t>(records.size());
    sample_check_arguments<summary> const arguments{records.data(),   ids,          n, keys,
                                                    expected_.data(), wrong_.data()};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&expect_samples<summary>, blocks, threads, 0, arguments, {});
    simt::launch(&compare_samples<summary>, blocks, threads, 0, arguments, {});
    return wrong_.to_host()[0] == 0;
  }

 private:
  warden::buffer<summary> expected_;
  warden::buffer<std::uint64_t> wrong_;
};

}  // namespace deferred_bench
