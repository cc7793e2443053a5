// SPDX-License-Identifier: Apache-2.0
// The baselines exclude, finish, and end their waits.

#include "tests/support/support.cuh"

#include <warden/detail/baseline/atomics.cuh>
#include <warden/detail/baseline/lock_as_written.cuh>
#include <warden/detail/baseline/lock_tuned.cuh>
#include <warden/stream.hpp>

#include <algorithm>

namespace {

namespace baseline = warden::baseline;

/// Two words that must stay in step: only exclusion keeps them so.
struct pair {
  std::uint32_t a, b;
  std::uint32_t torn, pad;
};
struct step_both {
  __device__ void operator()(pair& p, warden::no_context) const {
    p.torn += p.a != p.b ? 1 : 0;
    p.a += 1;
    p.b += 1;
  }
};
struct make_step {
  __device__ step_both operator()(std::uint32_t) const { return {}; }
};
using step_work = baseline::work<pair, make_step, warden::no_context>;

struct fixture {
  std::uint32_t n;
  warden::buffer<pair> records;
  warden::buffer<std::uint32_t> ids;
  baseline::lock_array locks;

  fixture(std::uint32_t n, std::uint32_t keys, double limit_seconds = 10)
      : n{n}, records{keys}, ids{make_ids(n, keys)}, locks{keys, limit_seconds} {
    records.fill_bytes(0);
  }
  static std::vector<std::uint32_t> make_ids(std::uint32_t n, std::uint32_t keys) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < n; ++i) ids.push_back(test::id_of(i, keys));
    return ids;
  }
  step_work work() const { return {records.data(), ids.data(), n, {}, {}}; }
  void check() {
    locks.wait();
    std::uint64_t sum = 0;
    for (pair const& p : records.to_host()) {
      EXPECT_EQ(p.torn, 0u);
      EXPECT_EQ(p.a, p.b);
      sum += p.a;
    }
    EXPECT_EQ(sum, n) << "sections lost or doubled";
    records.fill_bytes(0);
  }
};

TEST(baseline, lock_as_written_excludes) {
  for (std::uint32_t const keys : {1u, 7u, 100u}) {
    fixture f{test::sized(700u, 20'000u), keys};
    baseline::lock_as_written_async(f.work(), f.locks);
    f.check();
  }
}

TEST(baseline, every_tuned_lock_excludes) {
  for (std::uint32_t const keys : {1u, 7u, 100u}) {
    fixture f{test::sized(500u, 10'000u), keys};
    for (auto const how :
         {baseline::lanes::independent, baseline::lanes::serialized, baseline::lanes::grouped}) {
      for (bool const back_off : {false, true}) {
        for (unsigned const blocks : {1u, 3u}) {
          SCOPED_TRACE(to_string(baseline::lock_choice{how, back_off, blocks, 96}));
          baseline::lock_tuned_async(f.work(), f.locks, {how, back_off, blocks, 96});
          f.check();
        }
      }
    }
  }
}

TEST(baseline, tuning_returns_a_choice_that_works) {
  fixture f{test::sized(300u, 20'000u), 10};
  auto const choice = baseline::tune_locks(f.work(), f.locks);
  f.records.fill_bytes(0);
  baseline::lock_tuned_async(f.work(), f.locks, choice);
  f.check();
}

TEST(baseline, tuning_returns_a_good_choice) {
  fixture f{test::sized(256u, 50'000u), 1};
  warden::timer clock;
  auto const cost_of = [&](baseline::lock_choice const& choice) {
    double least = 1e300;
    for (int i = 0; i < 3; ++i) {
      clock.start({});
      baseline::lock_tuned_async(f.work(), f.locks, choice);
      clock.stop({});
      f.check();
      warden::measurement const m = clock.result();
      least = std::min(least, m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics));
    }
    return least;
  };
  auto const choice = baseline::tune_locks(f.work(), f.locks);
  f.records.fill_bytes(0);
  double const chosen = cost_of(choice);
  for (unsigned const blocks : {8u, 4u}) {
    for (auto const how : {baseline::lanes::independent, baseline::lanes::grouped}) {
      baseline::lock_choice const other{how, false, blocks, 32};
      EXPECT_LT(chosen, 2 * cost_of(other)) << to_string(choice) << ", " << to_string(other);
    }
  }
}

struct hold {
  baseline::lock_array_ref locks;
};
WARDEN_KERNEL void take_and_keep(hold a) { a.locks.try_lock(3, baseline::lock_array_ref::name(0)); }

TEST(baseline, a_lock_that_is_never_released) {
  // A spinning thread of the simulated device ages by a nanosecond a step.
  fixture f{400, 7, test::sized(1e-4, 0.5)};
  warden::simt::launch(&take_and_keep, 1, 1, 0, {f.locks.ref()}, {});
  for (int tuned = 0; tuned < 2; ++tuned) {
    if (tuned == 0) baseline::lock_as_written_async(f.work(), f.locks);
    if (tuned == 1) {
      warden::simt::launch(&take_and_keep, 1, 1, 0, {f.locks.ref()}, {});
      baseline::lock_tuned_async(f.work(), f.locks, {baseline::lanes::grouped, true, 2, 64});
    }
    try {
      f.locks.wait();
      ADD_FAILURE() << "no timeout_error";
    } catch (warden::timeout_error const& e) {
      EXPECT_EQ(e.dump().wait.kind, warden::wait_kind::lock);
      EXPECT_EQ(e.dump().wait.index, 3u);
    }
  }
  // Usable again.
  f.records.fill_bytes(0);
  baseline::lock_as_written_async(f.work(), f.locks);
  f.check();
}

struct add {
  std::uint64_t amount;
  __device__ void operator()(std::uint64_t& sum, warden::no_context) const { sum += amount; }
};
struct add_at_once {
  std::uint64_t amount;
  template <class Context>
  __device__ void operator()(std::uint64_t& sum, Context) const {
    sum += 1'000'000;  // only `atomic` is right
  }
  __device__ void atomic(std::uint64_t* sum, warden::no_context) const {
    warden::simt::fetch_add(sum, amount);
  }
};
template <class Section>
struct make_add {
  __device__ Section operator()(std::uint32_t i) const {
    Section s;
    s.amount = i;
    return s;
  }
};

template <class Section>
void check_atomics() {
  std::uint32_t const n = test::sized(1111u, 100'003u);
  warden::buffer<std::uint64_t> sums{5};
  sums.fill_bytes(0);
  warden::buffer<std::uint32_t> const ids{fixture::make_ids(n, 5)};
  baseline::atomics_async(baseline::work<std::uint64_t, make_add<Section>, warden::no_context>{
      sums.data(), ids.data(), n, {}, {}});
  std::uint64_t sum = 0;
  for (std::uint64_t s : sums.to_host()) sum += s;
  EXPECT_EQ(sum, std::uint64_t{n} * (n - 1) / 2);
}
TEST(baseline, atomics_by_compare_and_swap) { check_atomics<add>(); }
TEST(baseline, atomics_by_one_atomic) { check_atomics<add_at_once>(); }

struct visited {
  std::uint32_t count, last;
};
/// One thread, over the last numbers of 32 bits.
WARDEN_KERNEL void visit_last_numbers(visited* found) {
  if (warden::simt::thread_rank() != 0) return;
  *found = {0, 0};
  baseline::for_each_from(0xfffffff0u, 7, 0xffffffffu, [&](std::uint32_t i) {
    found->last = i;
    return ++found->count < 100;
  });
}
TEST(baseline, operations_end_below_2_to_the_32) {
  warden::buffer<visited> found{1};
  warden::simt::launch(&visit_last_numbers, 1, 32, 0, found.data(), {});
  EXPECT_EQ(found.to_host()[0].count, 3u);
  EXPECT_EQ(found.to_host()[0].last, 0xfffffffeu);
}

}  // namespace
