// SPDX-License-Identifier: Apache-2.0
// Ranks that fail: each other rank's calls end with an error, now and from then on, and nothing
// runs that has not come.

#include "tests/protocol/spread_tables.cuh"

#include <warden/simulation.hpp>

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace simt = warden::simt;
using spreading::on_ranks;
using spreading::ranks;
using spreading::texts;
using spreading::told;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using bench = spreading::rank_bench<deferring::small_blocks<>>;

constexpr std::uint32_t keys = 30, n = 100;

/// Makes records and a log, and runs it 3 times. Afterwards every call fails if one did.
void run_three_times(warden::communicator const& world, warden::deferred_options chosen = {}) {
  bench b{world, keys};
  warden::deferred later{b.on(), n, chosen};
  try {
    for (int k = 0; k < 3; ++k) {
      b.send_alone(later, 0, n);
      later.run();
    }
    b.on().wait();
  } catch (warden::communicator_error const&) {
    EXPECT_THAT(told([&] { later.run(); }), HasSubstr("rank "));
    EXPECT_THAT(told([&] { b.on().wait(); }), HasSubstr("rank "));
    throw;
  }
}

/// Killed as by SIGKILL: in each call that the rank makes.
TEST(spread_faults, a_killed_rank_is_an_error_on_all_others) {
  for (bool const shares : {false, true}) {
    int calls = 0;
    for (bool is_over = false; !is_over; ++calls) {
      auto chosen = ranks(3, static_cast<std::uint64_t>(calls));
      chosen.can_share = shares;
      chosen.dying_rank = 1;
      chosen.dies_at = static_cast<std::size_t>(calls);
      auto const all = texts(warden::run_ranks(
          chosen, [](warden::communicator const& world) { run_three_times(world); }));
      EXPECT_EQ(all[1], "");
      is_over = all[0].empty();
      if (is_over) continue;
      for (int const r : {0, 2}) {
        EXPECT_THAT(all[static_cast<std::size_t>(r)],
                    AllOf(HasSubstr("rank " + std::to_string(r) + " of 3: "),
                          HasSubstr("no end within 600 s of waiting for rank 1 (")));
      }
    }
    // Calls of the log, which gathers and may share memory, of three runs that gather and exchange,
    // and of wait.
    EXPECT_EQ(calls, shares ? 10 : 9);
  }
}

TEST(spread_faults, a_rank_that_is_late_by_less_than_the_limit_is_waited_for) {
  for (int late = 0; late < 2; ++late) {
    auto chosen = ranks(2);
    chosen.late_rank = late;
    chosen.late_seconds = 30;
    chosen.time_limit_seconds = 31;
    on_ranks(chosen, [](warden::communicator const& world) { run_three_times(world); });
  }
}
TEST(spread_faults, a_rank_that_is_later_than_the_limit_is_named) {
  for (int late = 0; late < 2; ++late) {
    auto chosen = ranks(2);
    chosen.late_rank = late;
    chosen.late_seconds = 30;
    chosen.time_limit_seconds = 29;
    auto const all = texts(warden::run_ranks(
        chosen, [](warden::communicator const& world) { run_three_times(world); }));
    // The late rank comes too late, to a communicator that has failed.
    EXPECT_THAT(all,
                Each(HasSubstr("no end within 29 s of waiting for rank " + std::to_string(late))));
  }
}

TEST(spread_faults, a_rank_that_aborts_is_an_error_on_all_ranks) {
  for (int runs = 0; runs < 2; ++runs) {
    auto const thrown = warden::run_ranks(ranks(3), [&](warden::communicator const& world) {
      bench b{world, keys};
      warden::deferred later{b.on(), n};
      for (int k = 0; k < runs; ++k) {
        b.send_alone(later, 0, n);
        later.run();
      }
      if (world.rank() == 2) world.abort();
      EXPECT_THAT(told([&] { later.run(); }), HasSubstr("rank 2 has aborted the communicator"));
      b.on().wait();
    });
    EXPECT_THAT(texts(thrown), Each(HasSubstr("rank 2 has aborted the communicator")));
  }
}

/// Before the ranks agree on a log, and after.
TEST(spread_faults, a_rank_without_memory_is_an_error_on_all_others) {
  std::size_t const places = std::size_t{1} << 29;
  for (bool const has_log : {false, true}) {
    auto const all = texts(warden::run_ranks(ranks(3), [&](warden::communicator const& world) {
      bench b{world, keys};
      bool const is_short = world.rank() == 1;
      warden::deferred later{b.on(),
                             is_short && !has_log ? places : n,
                             {.room = is_short && has_log ? places : 2 * n}};
      later.run();
      b.on().wait();
    }));
    EXPECT_THAT(all[1], HasSubstr("out of memory"));
    for (std::size_t const r : {0, 2}) EXPECT_THAT(all[r], HasSubstr("waiting for rank 1 ("));
  }
}

/// A rank's calls: the communicator fails while an exchange is under way.
class fails_late final : public warden::runtime::transport {
 public:
  fails_late(warden::communicator of, bool shares) : of_{std::move(of)}, shares_{shares} {
    word_.fill_bytes(0);
    warden::stream_ref{}.synchronize();
  }
  [[nodiscard]] int rank() const override { return of_.rank(); }
  [[nodiscard]] int size() const override { return of_.size(); }
  void all_gather(void const* own, void* all, std::size_t bytes, warden::stream_ref s,
                  std::source_location where) override {
    of_.transport().all_gather(own, all, bytes, s, where);
    // A word of each rank says that its copies are made.
    if (shares_ && bytes == sizeof(std::uint32_t)) word_.fill_bytes(1, s);
  }
  std::unique_ptr<warden::runtime::shared_memory> share(std::size_t bytes,
                                                        std::source_location where) override {
    return shares_ ? of_.transport().share(bytes, where) : nullptr;
  }
  void exchange(std::span<warden::runtime::outgoing const> sent,
                std::span<warden::runtime::incoming const> received, warden::stream_ref s,
                std::source_location where) override {
    of_.transport().exchange(sent, received, s, where);
    word_.fill_bytes(1, s);
  }
  void wait(warden::stream_ref s, std::source_location where) override {
    of_.transport().wait(s, where);
  }
  [[nodiscard]] std::uint32_t const* failed_word() const override { return word_.data(); }

 private:
  warden::communicator of_;
  bool shares_;
  warden::buffer<std::uint32_t> word_{1};
};
/// Runs n operations of each rank, of which only those on its own records arrive. Some of what came
/// may be what lay there before.
template <class Bench>
void expect_own_alone(warden::communicator const& world, bool shares) {
  Bench b{warden::communicator{std::make_shared<fails_late>(world, shares)}, keys};
  warden::deferred later{b.on(), n};
  b.send_alone(later, 0, n);
  later.run();
  warden::stream_ref{}.synchronize();
  std::uint64_t at_home = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    at_home += deferring::id_of(i, keys) % 2 == static_cast<std::uint32_t>(world.rank());
  }
  EXPECT_EQ(b.ran(), at_home) << "lost or doubled section";
}

/// Adds 1 in the first run, and 1,000 in the second one.
struct single_add {
  std::uint32_t value;
  __device__ void operator()(std::uint64_t& sum) const { sum += value; }
};
struct combined_add {
  std::uint32_t value;
  __device__ static combined_add combine(combined_add a, combined_add b) {
    return {a.value + b.value};
  }
  __device__ void operator()(std::uint64_t& sum) const { sum += value; }
};
template <class Ref>
struct adds {
  Ref to;
  std::uint32_t value, each;
};
/// Sends `each` sections a record.
template <class Section, class Ref>
WARDEN_KERNEL void send_adds(adds<Ref> a) {
  std::uint32_t const record = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  for (std::uint32_t k = 0; k < a.each; ++k) a.to.send(record, Section{a.value});
}
void fail_launch(std::uint64_t number) {
  warden::sim::settings s = warden::sim::current_settings();
  s.failing_launch = number;
  warden::sim::configure(s);
}
/// Lets a launch of the second run of rank 0 fail. Returns true if one did.
template <class Section>
bool fails_in_second_run(std::uint64_t launch, bool shares, std::uint32_t each) {
  constexpr std::uint32_t records = 64;
  using guarded = warden::spread_guarded<std::uint64_t, Section>;
  using ref = typename guarded::deferred_ref;
  fail_launch(0);
  auto chosen = ranks(2);
  chosen.can_share = shares;
  bool failed = false;
  unsigned told_ranks = 0;
  auto const all = texts(warden::run_ranks(chosen, [&](warden::communicator const& world) {
    guarded on{world, records};
    warden::deferred later{on, records * each};
    auto const send = [&](std::uint32_t value) {
      simt::launch(&send_adds<Section, ref>, 2, 32, 0, {later.ref(), value, each}, {});
    };
    send(1);
    later.run();
    on.wait();
    send(1000);
    std::string const told_by_run = told([&] {
      on.wait();  // until both have sent
      if (world.rank() == 0) fail_launch(launch);
      later.run();
    });
    if (world.rank() == 0) fail_launch(0);
    std::string const told_by_wait = told([&] { on.wait(); });
    failed = failed || told_by_run.find("failing_launch") != std::string::npos;
    told_ranks += told_by_run.empty() && told_by_wait.empty() ? 0 : 1;
    warden::stream_ref{}.synchronize();
    for (std::uint64_t const sum : on.records().to_host())
      EXPECT_EQ(sum % 1000, 2 * each) << "a section of the first run has run twice";
  }));
  EXPECT_THAT(all, Each(""));
  EXPECT_EQ(told_ranks, failed ? 2u : 0u) << "a rank is not told";
  return failed;
}
/// The next collective call of a rank whose run threw must not meet the others in that run.
template <class Section>
void expect_nothing_twice(std::uint32_t each, std::vector<bool> const& sharing) {
  for (bool const shares : sharing) {
    std::uint64_t launch = 1;
    for (; launch < 40; ++launch) {
      SCOPED_TRACE("launch " + std::to_string(launch) + " of the run fails");
      if (!fails_in_second_run<Section>(launch, shares, each)) break;
    }
    EXPECT_GT(launch, 6u);
    EXPECT_LT(launch, 40u);
  }
}
TEST(spread_faults, a_rank_whose_launch_fails_is_an_error_on_all_ranks) {
  expect_nothing_twice<single_add>(2, {false, true});
}
TEST(spread_faults, a_rank_whose_launch_fails_amid_tables_is_an_error_on_all_ranks) {
  expect_nothing_twice<combined_add>(20, {true});
}
TEST(spread_faults, what_comes_by_an_exchange_that_is_aborted_is_not_run) {
  for (bool const shares : {false, true}) {
    on_ranks(ranks(2), [&](warden::communicator const& world) {
      expect_own_alone<bench>(world, shares);
      expect_own_alone<tabled::bench<tabled::deposit>>(world, shares);
    });
  }
}

}  // namespace
