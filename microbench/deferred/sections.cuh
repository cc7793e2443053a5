// SPDX-License-Identifier: Apache-2.0
// Sections of the two common message sizes, and a check that each ran exactly once.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>

namespace deferred_bench {

namespace simt = warden::simt;

/// Record of one sector of memory.
struct alignas(32) record {
  std::uint64_t sum;    ///< sum of the sections' values
  std::uint64_t count;  ///< number of the sections
};

/// Section without data members, in a message of 8 bytes.
struct count_one {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned message_bytes = 8;
  __device__ static count_one of(std::uint32_t) { return {}; }
  __device__ static std::uint64_t value_of(std::uint32_t) { return 0; }
  __device__ void operator()(record& r) const { ++r.count; }
};
/// Section of 3 words, in a message of 16 bytes.
struct add_value {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned message_bytes = 16;
  std::uint32_t low, high, number;
  __device__ static add_value of(std::uint32_t i) {
    std::uint64_t const value = bench::mix(i, 9);
    return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32), i};
  }
  /// Distinct values, so that two lost sections and a doubled one do not cancel.
  __device__ static std::uint64_t value_of(std::uint32_t i) { return bench::mix(i, 9) + i; }
  __device__ void operator()(record& r) const {
    r.sum += (std::uint64_t{high} << 32 | low) + number;
    ++r.count;
  }
};
/// Makes the section of operation i.
template <class Section>
struct make {
  __device__ Section operator()(std::uint32_t i) const { return Section::of(i); }
};

/// Default policy, except for the placement.
template <warden::placement Where>
using policy = warden::policy<warden::options{.records = Where}>;
template <class Section, warden::placement Where = warden::placement::in_memory>
using table = warden::basic_guarded<policy<Where>, record, Section>;
template <class Section, warden::placement Where = warden::placement::in_memory>
using deferred_log = warden::deferred<policy<Where>, record, Section>;
/// A sender of deferred_senders.cuh or lone_lanes.cuh, for this log.
template <template <class, class> class Sender, class Section,
          warden::placement Where = warden::placement::in_memory>
using sender_of = Sender<typename table<Section, Where>::deferred_ref, make<Section>>;

/// Arguments of the oracle.
struct check_arguments {
  record const* records;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  std::uint64_t times;
  record* expected;
  std::uint64_t* wrong;
};
template <class Section>
WARDEN_KERNEL void expect_sections(check_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    record& e = a.expected[a.ids[i]];
    simt::fetch_add(&e.sum, a.times * Section::value_of(static_cast<std::uint32_t>(i)));
    simt::fetch_add(&e.count, a.times);
  });
}
template <class Section>
WARDEN_KERNEL void compare_records(check_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.keys, [&](std::uint64_t k) {
    if (a.records[k].sum != a.expected[k].sum || a.records[k].count != a.expected[k].count)
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

/// Checks that every section ran as often as it was sent.
class oracle {
 public:
  explicit oracle(std::uint32_t keys) : expected_{keys}, wrong_{1} {}
  /// True if each of the sections 0 to n - 1 ran `times` times on the records, which were 0 at the
  /// start.
  template <class Section>
  bool holds(warden::buffer<record> const& records, std::uint32_t const* ids, std::uint32_t n,
             std::uint64_t times = 1) {
    expected_.fill_bytes(0);
    wrong_.fill_bytes(0);
    check_arguments const arguments{
        records.data(),   ids,          n, static_cast<std::uint32_t>(records.size()), times,
        expected_.data(), wrong_.data()};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&expect_sections<Section>, blocks, threads, 0, arguments, {});
    simt::launch(&compare_records<Section>, blocks, threads, 0, arguments, {});
    return wrong_.to_host()[0] == 0;
  }

 private:
  warden::buffer<record> expected_;
  warden::buffer<std::uint64_t> wrong_;
};

}  // namespace deferred_bench
