// SPDX-License-Identifier: Apache-2.0
// Random programs of one configuration, under very many schedules of the simulated device.
//
// A configuration is a policy and the section types that it runs. Each .cu file of this folder has
// one, or two similar ones. Every section must run exactly once, whole, on its records, alone; it
// must see all earlier ones; every answer must be that of its call; nothing may throw.
#pragma once

#include "client.cuh"
#include "oracle.hpp"
#include "tests/support/many_schedules.cuh"

#include <type_traits>
#include <vector>

namespace fuzz {

/// `Reach` is that of all `Sections`.
template <class Policy, fuzz::reach Reach, class... Sections>
struct configuration {
  using guarded = warden::basic_guarded<Policy, record, Sections...>;
  static constexpr fuzz::reach reach = Reach;
  static constexpr unsigned kinds = (unsigned{Sections::what} | ...);
  /// Sections on two records need that with every executor but pair_messages.
  static constexpr bool one_owner = guarded::ref::has_pairs && !guarded::ref::nests;

  /// Calls `f(std::type_identity<Section>{})` for each.
  template <class F>
  WARDEN_DEVICE static void for_each_section(F f) {
    (f(std::type_identity<Sections>{}), ...);
  }
};

/// Common part of the configurations: small enough that channels fill and tables wrap.
template <unsigned Threads, warden::placement Where, class Base = warden::policy<>>
using small = warden::with_values<warden::with_parts<Base, warden::context<world>>,
                                  &warden::options::block_threads, Threads,
                                  &warden::options::records, Where, &warden::tuning::channel_bytes,
                                  2048, &warden::options::calls_per_thread, 2>;

/// A second guarded array in the same launches.
template <unsigned Threads, fuzz::reach Reach>
using partner_policy =
    warden::with_parts<small<Threads, warden::placement::in_memory>, warden::executor::locks<8>>;
template <unsigned Threads, fuzz::reach Reach>
using partner = configuration<partner_policy<Threads, Reach>, Reach, plain_section<Reach>>;

/// A guarded array of a program, its memory, and the expected records.
template <class Setup>
class ground {
 public:
  ground(std::uint64_t seed, std::uint32_t records, std::uint32_t operations,
         warden::guarded_options const& options)
      : domain_{seed, records, Setup::kinds, Setup::one_owner},
        records_(std::vector<record>(records)),
        copies_(std::vector<record>(records)),
        letters_(std::vector<std::uint32_t>(3 * operations + 1)),
        turns_(std::vector<std::uint32_t>(operations + 1)),
        faults_(std::vector<std::uint32_t>(fault_kinds)),
        oracle_{domain_},
        guarded{records_,
                world{domain_, copies_.data(), letters_.data(), turns_.data(), faults_.data()},
                options} {}

  void expect_run(launch const& l) {
    for (std::uint32_t i = 0; i < l.operations; ++i) oracle_.run(l.begin + i);
  }
  void wait() {
    guarded.wait();
    EXPECT_FALSE(warden::sim::last_report().deadlock) << warden::sim::last_report().deadlock_text;
  }
  /// When all has been waited for.
  void verify() const {
    oracle_.expect_records(records_.to_host(), "");
    if (Setup::reach.copies) oracle_.expect_records(copies_.to_host(), ", kept as a copy");
    oracle_.expect_turns(turns_.to_host());
    auto const faults = faults_.to_host();
    EXPECT_EQ(faults[torn], 0u) << "torn messages";
    EXPECT_EQ(faults[stale_letter], 0u) << "stale reads";
    EXPECT_EQ(faults[wrong_answer], 0u) << "wrong answers";
  }

 private:
  domain domain_;
  warden::buffer<record> records_, copies_;
  warden::buffer<std::uint32_t> letters_, turns_, faults_;
  oracle oracle_;

 public:
  typename Setup::guarded guarded;
};

template <class Setup>
void run(program p) {
  constexpr unsigned threads = Setup::guarded::policy::block_threads;
  using partner = fuzz::partner<threads, reach{Setup::reach.letters, true}>;
  if constexpr (Setup::guarded::ref::sends_sections)
    p.options.forward_capacity = Setup::guarded::ref::server::least_ring << p.seed / 2 % 2;
  warden::sim::configure(p.device);
  ground<Setup> mine{p.seed, p.records, p.operations(), p.options};
  ground<partner> other{p.seed + 1, p.partner_records, p.operations(), p.partner_options};
  for (launch const& l : p.launches) {
    kernel<Setup, partner> const k{l};
    mine.expect_run(l);
    if (l.company != company::alone) other.expect_run(l);
    switch (l.company) {
      case company::alone:
        launch_fused(k, l.grid, threads, {}, mine.guarded);
        break;
      case company::first:
        launch_fused(k, l.grid, threads, {}, mine.guarded, other.guarded);
        break;
      case company::second:
        launch_fused(k, l.grid, threads, {}, other.guarded, mine.guarded);
        break;
    }
    if (l.waits) {
      mine.wait();
      other.wait();
    }
  }
  mine.wait();
  other.wait();
  mine.verify();
  other.verify();
}

/// 100 programs, unless more or fewer are asked for: each configuration has two placements.
template <class Setup>
void many_programs() {
  test::under_many_schedules(5, [](std::uint64_t seed) {
    program const p = program::of(seed, Setup::one_owner);
    SCOPED_TRACE(testing::Message() << p);
    ASSERT_NO_THROW(run<Setup>(p));
  });
}

}  // namespace fuzz
