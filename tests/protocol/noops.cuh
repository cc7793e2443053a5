// SPDX-License-Identifier: Apache-2.0
// No-op sections that one thread runs, on records that show which sections ran unchecked.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>

#include <bitset>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace noops {

namespace simt = warden::simt;

/// A set of numbers below 64. `Words` of 16 are too many to be held in registers.
template <unsigned Words>
struct set {
  std::uint64_t bits;
  std::uint32_t begun, ended;  ///< sections that changed something; equal between two sections
  std::uint32_t filler[Words];
};
/// Puts a number into a set, unless it is there. Checked amid another section it says that it is,
/// and is then missed.
struct put {
  static constexpr bool reads_other_memory = false;
  std::uint32_t number;

  WARDEN_HOST_DEVICE static put of(std::uint32_t i) {
    return {static_cast<std::uint32_t>(test::mix(i + 5) % 64)};
  }
  template <unsigned Words>
  __device__ bool is_in(set<Words> const& s) const {
    return (s.bits >> number & 1) != 0;
  }
  __device__ bool is_noop(set<1> const& s) const { return is_in(s) || s.begun != s.ended; }
  __device__ bool is_noop(set<16> const& s) const { return is_in(s) || s.begun != s.ended; }
  template <unsigned Words>
  __device__ void operator()(set<Words>& s) const {
    if (is_in(s)) return;
    ++s.begun;
    s.bits |= std::uint64_t{1} << number;
    ++s.ended;
  }
};
/// Changes something each time, and is not checked.
struct touch {
  static constexpr bool reads_other_memory = false;
  __device__ static touch of(std::uint32_t) { return {}; }
  template <unsigned Words>
  __device__ void operator()(set<Words>& s) const {
    ++s.begun;
    ++s.ended;
  }
};
/// Puts several numbers, and combines with others.
struct put_all {
  std::uint64_t bits;
  __device__ static put_all of(std::uint32_t i) { return {std::uint64_t{1} << put::of(i).number}; }
  __device__ static put_all combine(put_all a, put_all b) { return {a.bits | b.bits}; }
  __device__ bool is_noop(set<1> const& s) const {
    return (bits & ~s.bits) == 0 || s.begun != s.ended;
  }
  __device__ void operator()(set<1>& s) const {
    if ((bits & ~s.bits) == 0) return;
    ++s.begun;
    s.bits |= bits;
    ++s.ended;
  }
};
/// Puts a number, and sends a touch to another record if the number was not there.
struct put_and_touch {
  std::uint32_t number, keys;
  __device__ bool is_noop(set<1> const& s) const { return put{number}.is_noop(s); }
  template <class Next>
  __device__ void operator()(set<1>& s, warden::no_context, Next& next) const {
    if (put{number}.is_in(s)) return;
    put{number}(s);
    next.send(number % keys, touch{});
  }
};

/// Checks the sets after the operations 0 .. n-1. Each third one touches, if `touches`.
template <unsigned Words>
void expect_sets(std::vector<set<Words>> const& sets, std::uint32_t n, bool touches,
                 bool counts = true) {
  auto const keys = static_cast<std::uint32_t>(sets.size());
  std::vector<std::bitset<64>> wanted(keys);
  std::vector<std::uint32_t> touched(keys);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const k = test::id_of(i, keys);
    if (touches && i % 3 == 2) {
      ++touched[k];
    } else {
      wanted[k].set(put::of(i).number);
    }
  }
  for (std::uint32_t k = 0; k < keys; ++k) {
    ASSERT_EQ(sets[k].bits, wanted[k].to_ullong()) << "lost section on record " << k;
    ASSERT_EQ(sets[k].begun, sets[k].ended);
    if (!counts) continue;
    ASSERT_EQ(sets[k].begun, wanted[k].count() + touched[k])
        << "lost or doubled section on record " << k;
  }
}

template <class Executor, warden::placement Where = warden::placement::in_memory>
using policy = warden::policy<warden::options{.records = Where,
                                              .block_threads = 64,
                                              .tuning = {.minimum_blocks_per_multiprocessor = 2}},
                              Executor>;
template <class Policy>
using in_order = warden::with_parts<Policy, warden::order::sequential>;
template <class Policy>
using combined = warden::with_values<Policy, &warden::tuning::combine_in_fused, true>;

template <class Ref>
struct sending {
  Ref ref;
  std::uint32_t n, keys;
};
/// Each third operation touches.
template <class Ref>
WARDEN_KERNEL void send_all(sending<Ref> a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.n) return;
  if (i % 3 == 2) {
    a.ref.send(test::id_of(i, a.keys), touch{});
  } else {
    a.ref.send(test::id_of(i, a.keys), put::of(i));
  }
}
/// Defers `n` operations on `keys` records.
template <class Policy, unsigned Words = 1>
void defer(std::uint32_t n, std::uint32_t keys) {
  using guarded = warden::basic_guarded<Policy, set<Words>, put, touch>;
  test::guarded_records<guarded> g{keys};
  warden::deferred later{g.guarded, n};
  simt::launch(&send_all<typename guarded::deferred_ref>, (n + 63) / 64, 64, 0,
               sending<typename guarded::deferred_ref>{later.ref(), n, keys}, {});
  later.run();
  g.guarded.wait();
  expect_sets(g.records.to_host(), n, true);
}
/// Applies `n` sections of one type, which are put_all or put.
template <class Policy, class Section>
void apply(std::uint32_t n, std::uint32_t keys) {
  std::vector<std::uint32_t> ids(n);
  std::vector<Section> sections(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    ids[i] = test::id_of(i, keys);
    if constexpr (std::is_same_v<Section, put>) {
      sections[i] = put::of(i);
    } else {
      sections[i] = {std::uint64_t{1} << put::of(i).number};
    }
  }
  test::guarded_records<warden::basic_guarded<Policy, set<1>, Section>> g{keys};
  warden::buffer<std::uint32_t> const to{ids};
  warden::buffer<Section> const all{sections};
  g.guarded.apply_async(to.data(), all.data(), n);
  g.guarded.wait();
  expect_sets(g.records.to_host(), n, false, std::is_same_v<Section, put>);
}
/// Sends `n` sections of one type by a fused launch.
template <class Policy, class Section, unsigned Words = 1>
void fuse(std::uint32_t n, std::uint32_t keys) {
  warden::guarded_options options;
  options.servers = 2;
  test::guarded_records<warden::basic_guarded<Policy, set<Words>, Section>> g{keys, options};
  warden::launch_fused(test::send_sections<Section>{n, keys}, 3, 64, {}, g.guarded);
  g.guarded.wait();
  expect_sets(g.records.to_host(), n, false, std::is_same_v<Section, put>);
}

/// Sends put_and_touch for operation i.
struct send_chains {
  std::uint32_t n, keys;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const number = put::of(static_cast<std::uint32_t>(i)).number;
      client.send(test::id_of(i, keys), put_and_touch{number, keys}, i < n);
    });
    client.flush();
  }
};
/// Each number that is put sends one touch.
template <class Policy>
void chain(std::uint32_t n, std::uint32_t keys) {
  warden::guarded_options options;
  options.servers = 2;
  test::guarded_records<warden::basic_guarded<Policy, set<1>, put_and_touch, touch>> g{keys,
                                                                                       options};
  warden::launch_fused(send_chains{n, keys}, 3, 64, {}, g.guarded);
  g.guarded.wait();
  auto const sets = g.records.to_host();
  expect_sets(sets, n, false, false);
  std::uint64_t changes = 0, numbers = 0;
  for (set<1> const& s : sets) {
    changes += s.begun;
    numbers += std::bitset<64>{s.bits}.count();
  }
  EXPECT_EQ(changes, 2 * numbers) << "lost or doubled sections";
}

}  // namespace noops
