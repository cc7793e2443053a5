// SPDX-License-Identifier: Apache-2.0
// Locks on two records exclude on both, whatever the order and the settings, and end their waits.

#include "tests/support/support.cuh"

#include <warden/detail/baseline/pair_locks.cuh>

namespace {

namespace baseline = warden::baseline;
using baseline::two_locks;

/// Two words that must stay in step: only exclusion keeps them so.
struct twin {
  std::int32_t a, b;
  std::uint32_t torn, firsts;
};
/// Asymmetric, so that records in the wrong order are seen.
struct shift {
  std::int32_t amount;
  __device__ void operator()(twin& first, twin& second, warden::no_context) const {
    first.torn += first.a != first.b || second.a != second.b ? 1 : 0;
    first.a -= amount;
    second.a += amount;
    first.b -= amount;
    second.b += amount;
    first.firsts += 1;
  }
};
struct make_shift {
  __device__ shift operator()(std::uint32_t i) const { return {static_cast<std::int32_t>(i % 10)}; }
};

struct fixture {
  std::uint32_t n, records_count;
  warden::buffer<twin> records;
  std::vector<std::uint32_t> first_ids, second_ids;
  warden::buffer<std::uint32_t> firsts, seconds;
  baseline::lock_array locks;

  fixture(std::uint32_t n, std::uint32_t keys, double limit_seconds = 10)
      : n{n},
        records_count{keys},
        records{keys},
        first_ids{ids(n, keys, 0)},
        second_ids{ids(n, keys, 1)},
        firsts{first_ids},
        seconds{second_ids},
        locks{std::size_t{keys} * baseline::most_words_for_a_lock, limit_seconds} {
    records.fill_bytes(0);
  }
  static std::vector<std::uint32_t> ids(std::uint32_t n, std::uint32_t keys, std::uint32_t which) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < n; ++i) all.push_back(test::id_of(2 * i + which, keys));
    return all;
  }
  template <two_locks Protocol>
  [[nodiscard]] auto work(std::uint32_t spread_log2 = 0) const {
    return baseline::pair_work<Protocol, twin, make_shift, warden::no_context>{
        records.data(), firsts.data(), seconds.data(), n, {}, {}, spread_log2};
  }
  void check() {
    locks.wait();
    std::vector<twin> wanted(records_count);
    for (std::uint32_t i = 0; i < n; ++i) {
      auto const amount = static_cast<std::int32_t>(i % 10);
      wanted[first_ids[i]].a -= amount;
      wanted[second_ids[i]].a += amount;
      wanted[first_ids[i]].firsts += 1;
    }
    auto const seen = records.to_host();
    for (std::uint32_t k = 0; k < records_count; ++k) {
      ASSERT_EQ(seen[k].torn, 0u) << "record " << k;
      ASSERT_EQ(seen[k].a, wanted[k].a) << "record " << k;
      ASSERT_EQ(seen[k].b, wanted[k].a) << "record " << k;
      ASSERT_EQ(seen[k].firsts, wanted[k].firsts) << "record " << k;
    }
    records.fill_bytes(0);
  }
};

TEST(pair_locks, as_written_exclude) {
  for (std::uint32_t const keys : {1u, 2u, 100u}) {
    fixture f{test::sized(300u, 20'000u), keys};
    baseline::lock_as_written_async(f.work<two_locks::in_order>(), f.locks);
    f.check();
  }
}

template <two_locks Protocol>
void check_every_setting() {
  // With one record both are always the same; with three every order meets every other.
  for (std::uint32_t const keys : {1u, 3u, 100u}) {
    fixture f{test::sized(200u, 10'000u), keys};
    std::uint32_t spread_log2 = 0;
    for (auto const how :
         {baseline::lanes::independent, baseline::lanes::serialized, baseline::lanes::grouped}) {
      for (bool const back_off : {false, true}) {
        spread_log2 = (spread_log2 + 3) % 6;
        baseline::pair_lock_choice const choice{{how, back_off, 3, 64}, spread_log2};
        SCOPED_TRACE(to_string(choice));
        baseline::lock_tuned_async(f.work<Protocol>(spread_log2), f.locks, choice.how);
        f.check();
      }
    }
  }
}
TEST(pair_locks, in_order_exclude) { check_every_setting<two_locks::in_order>(); }
TEST(pair_locks, all_or_none_exclude) { check_every_setting<two_locks::all_or_none>(); }

TEST(pair_locks, tuning_returns_a_choice_that_works) {
  fixture f{test::sized(100u, 20'000u), 10};
  auto const choice = baseline::tune_pair_locks(f.work<two_locks::all_or_none>(), f.locks);
  f.records.fill_bytes(0);
  baseline::lock_tuned_async(f.work<two_locks::all_or_none>(choice.spread_log2), f.locks,
                             choice.how);
  f.check();
}

struct hold {
  baseline::lock_array_ref locks;
  std::uint32_t lock;
};
WARDEN_KERNEL void take_and_keep(hold a) {
  a.locks.try_lock(a.lock, baseline::lock_array_ref::name(0));
}

template <two_locks Protocol>
void check_kept_lock(std::uint32_t kept, baseline::lock_choice const& choice) {
  SCOPED_TRACE("record " + std::to_string(kept) + ", " + to_string(choice));
  // A spinning thread of the simulated device ages by a nanosecond a step.
  fixture f{200, 7, test::sized(1e-4, 0.02)};
  constexpr std::uint32_t spread_log2 = 3;
  warden::simt::launch(&take_and_keep, 1, 1, 0, {f.locks.ref(), kept << spread_log2}, {});
  baseline::lock_tuned_async(f.work<Protocol>(spread_log2), f.locks, choice);
  try {
    f.locks.wait();
    ADD_FAILURE() << "no timeout_error";
  } catch (warden::timeout_error const& e) {
    EXPECT_EQ(e.dump().wait.kind, warden::wait_kind::lock);
    EXPECT_LT(e.dump().wait.index, 7u) << "a record";
    // Threads that keep their first lock make others wait for it as long as they wait themselves.
    // With all_or_none only the kept lock is held for long.
    if (Protocol == two_locks::all_or_none) {
      EXPECT_EQ(e.dump().wait.index, kept);
    }
  }
  // Usable again, by few threads: convoys of hundreds could outlast the short limit.
  f.n = 20;
  f.records.fill_bytes(0);
  baseline::lock_as_written_async(f.work<Protocol>(), f.locks);
  f.check();
}

TEST(pair_locks, a_lock_that_is_never_released) {
  // The lowest is always a pair's first, the highest always its second.
  for (std::uint32_t const kept : {0u, 6u}) {
    for (auto const how : {baseline::lanes::independent, baseline::lanes::grouped}) {
      baseline::lock_choice const choice{how, true, 2, 64};
      check_kept_lock<two_locks::in_order>(kept, choice);
      check_kept_lock<two_locks::all_or_none>(kept, choice);
    }
  }
}

using shifts = baseline::pair_work<two_locks::all_or_none, twin, make_shift, warden::no_context>;
struct watched {
  shifts work;
  baseline::lock_array_ref locks;
  std::uint32_t* names;
};
/// The second warp runs operation 0. A thread of the first counts the names under which it finds
/// lock 0 held, up to 2.
template <baseline::lanes How>
WARDEN_KERNEL void count_names(watched a) {
  using tuned = baseline::lock_tuned<baseline::lock_settings<How, true>, shifts>;
  namespace simt = warden::simt;
  std::uint32_t const mine = baseline::lock_array_ref::name(0);
  bool const is_first = simt::lane_id() == 0;
  if (simt::warp_rank() == 1) {
    if constexpr (How == baseline::lanes::grouped) {
      tuned::run_grouped(a.work, a.locks, 0, is_first, mine);
    } else if (is_first) {
      tuned::run_alone(a.work, a.locks, 0, mine);
    }
  } else if (is_first) {
    for (std::uint32_t last = 0; *a.names < 2 && !a.locks.poisoned();) {
      std::uint32_t const holder = a.locks.try_take(0, mine);
      if (holder == 0) {
        a.locks.give_back(0);
      } else if (holder != last) {
        *a.names += 1;
        last = holder;
      }
    }
  }
}

template <baseline::lanes How>
void check_names() {
  fixture f{1, 2, test::sized(1e-4, 0.02)};
  f.firsts = warden::buffer<std::uint32_t>{std::vector<std::uint32_t>{0}};
  f.seconds = warden::buffer<std::uint32_t>{std::vector<std::uint32_t>{1}};
  warden::buffer<std::uint32_t> names{1};
  names.fill_bytes(0);
  warden::simt::launch(&take_and_keep, 1, 1, 0, {f.locks.ref(), 1}, {});
  warden::simt::launch(&count_names<How>, 1, 64, 0,
                       {f.work<two_locks::all_or_none>(), f.locks.ref(), names.data()}, {});
  EXPECT_THROW(f.locks.wait(), warden::timeout_error);
  EXPECT_EQ(names.to_host()[0], 2u);
}

// A waiting thread takes a holder whose name never changes for one that never releases.
TEST(pair_locks, each_try_has_its_own_name) {
  check_names<baseline::lanes::independent>();
  check_names<baseline::lanes::grouped>();
}

}  // namespace
