// SPDX-License-Identifier: Apache-2.0
// Sections on two records without an order under many schedules.

#include "tests/protocol/several_pairs.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;

using several::cell;
using several::sighting;
using several::witness;
using warden::outcome;

constexpr warden::guarded_options patience{.time_limit_seconds = 1, .minimum_polls = 64};
constexpr unsigned threads = 32;
using cells = several::witnessed<threads>;
using log_type = warden::deferred_several<cells, witness>;

/// Random sections, few and many, from one hot record to many records.
TEST(several_pairs_seeds, have_a_serial_order) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    several::draws const draw{seed};
    if (seed % 5 == 0) test::let_one_block_be_resident();
    several::shape const of{.records = 1 + draw(0, seed % 3 == 0 ? 3 : 300),
                            .positions = 1 + draw(1, 2),
                            .writes = 16 + draw(2, 200),
                            .bad = 4};
    several::expect_as_in_some_order<threads>(of, 1 + draw(3, seed % 2 == 0 ? 100 : 1500), 2,
                                              patience, draw(4, 1u << 30));
  });
}

/// Sends the sections from `first` to `end`, and notes the number of each.
WARDEN_KERNEL void send(warden::several_ref<witness> log, several::shape of, std::uint32_t first,
                        std::uint32_t end, std::uint32_t* numbers) {
  std::uint32_t const i = first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < end) numbers[i] = log.send(witness{i, of, i});
}
/// Holds the records as a run does.
WARDEN_KERNEL void occupy(std::uint32_t* at_work, std::uint32_t value) {
  if (simt::thread_rank() == 0) simt::store_relaxed(at_work, value);
}
/// The log is filled twice, by kernels of two streams. One of them may find it full. The first run
/// may be put off.
TEST(several_pairs_seeds, logs_run_each_section_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    several::shape const of{.records = 1 + static_cast<std::uint32_t>(seed % 40), .positions = 2};
    std::uint32_t const n = 150, room = seed % 4 == 0 ? 100 : n;
    std::vector<cell> all = several::first_cells(of.records);
    warden::buffer<cell> records{all};
    warden::buffer<sighting> sightings{n};
    cells on{records, sightings.data(), patience};
    std::uint32_t* const at_work = warden::detail::guarded_access::shared(on)->at_work.data();
    log_type later{on, room};
    warden::buffer<std::uint32_t> numbers{n};
    warden::buffer<outcome> results{room};
    warden::stream one, other;
    for (unsigned run = 0; run < 2; ++run) {
      warden::launch(&send, 2, 40, one, later.ref(), of, 0u, 80u, numbers.data());
      warden::launch(&send, 2, 40, other, later.ref(), of, 80u, n, numbers.data());
      other.synchronize();
      if (seed % 3 == 0) {
        warden::launch(&occupy, 1, 1, one, at_work, 1u);
        later.run(results.data(), one);
        warden::launch(&occupy, 1, 1, one, at_work, 0u);
        one.synchronize();
        EXPECT_EQ(results.to_host(), std::vector<outcome>(room, outcome::not_run))
            << "lost or doubled section";
      }
      later.run(results.data(), one);
      if (room == n && seed % 3 != 0) {
        on.wait(one);
      } else {
        EXPECT_THROW(on.wait(one), warden::limit_error);
      }
      std::vector<witness> sent(room, witness{0, of, 0});
      std::uint32_t accepted = 0, i = 0;
      for (std::uint32_t const number : numbers.to_host()) {
        if (number < room) sent[number] = {i, of, i}, ++accepted;
        ++i;
      }
      EXPECT_EQ(accepted, room) << "lost or doubled section";
      std::vector<outcome> const seen = results.to_host();
      std::vector<sighting> const versions = sightings.to_host();
      several::serial_replay{sent, seen, versions}.run(all);
      if (testing::Test::HasFatalFailure()) return;
    }
    several::expect_same(records.to_host(), all);
  });
}
/// Lets the n-th launch from here on fail, or none for 0.
void fail_launch(std::uint64_t number) {
  warden::sim::settings s = warden::sim::current_settings();
  s.failing_launch = number;
  warden::sim::configure(s);
}
TEST(several_pairs_seeds, a_run_that_throws_has_run_nothing_or_reports_it) {
  // The last launch opens the log of the rounds. If it fails, the run launches it again.
  constexpr std::uint64_t launches = 9;
  constexpr std::uint32_t n = 300;
  several::shape const of{.records = 9, .positions = 2, .aborts = 0};
  for (std::uint64_t launch = 1; launch <= launches + 1; ++launch) {
    SCOPED_TRACE("launch " + std::to_string(launch) + " of the run fails");
    std::vector<cell> all = several::first_cells(of.records);
    warden::buffer<cell> records{all};
    warden::buffer<sighting> sightings{n};
    cells on{records, sightings.data(), patience};
    log_type later{on, n};
    warden::buffer<std::uint32_t> numbers{n};
    warden::buffer<outcome> results{n};
    warden::launch(&send, 1, n, {}, later.ref(), of, 0u, n, numbers.data());
    warden::stream_ref{}.synchronize();
    std::vector<witness> sent(n, witness{0, of, 0});
    std::uint32_t i = 0;
    for (std::uint32_t const number : numbers.to_host()) sent[number] = {i, of, i}, ++i;
    fail_launch(launch);
    bool failed = false;
    try {
      later.run(results.data());
    } catch (warden::cuda_error const&) {
      failed = true;
    }
    fail_launch(0);
    EXPECT_EQ(failed, launch < launches) << "a run has another number of launches";
    std::string const reported = test::error_text(on);
    std::vector<outcome> seen = results.to_host();
    auto const not_run = std::count(seen.begin(), seen.end(), outcome::not_run);
    if (failed && reported.empty()) {
      EXPECT_EQ(not_run, n) << "lost or doubled section";
    } else if (failed) {
      EXPECT_NE(reported.find("after it had begun, and its log was emptied"), std::string::npos);
    } else {
      EXPECT_EQ(not_run, 0) << "lost or doubled section";
    }
    // The log keeps sections that have not run and are not reported.
    later.run(results.data());
    on.wait();
    warden::outcome_counts const counts = later.counts();
    bool const is_kept = failed && reported.empty();
    EXPECT_EQ(counts.committed + counts.aborted, is_kept ? n : 0u) << "lost or doubled section";
    if (is_kept) seen = results.to_host();
    if (not_run == n && !is_kept) {
      several::expect_same(records.to_host(), all);
    } else {
      std::vector<sighting> const versions = sightings.to_host();
      several::serial_replay{sent, seen, versions}.run(all);
      several::expect_same(records.to_host(), all);
    }
  }
}
/// Names no record, and counts its executions.
struct tally {
  std::uint32_t unused;
  __device__ void access(warden::access_list<2>&) const {}
  __device__ outcome operator()(warden::records<cell, 2>&, std::uint32_t* const& runs) const {
    simt::add(runs, 1u);
    return outcome::commit;
  }
};
WARDEN_KERNEL void send_tallies(warden::several_ref<tally> log) { log.send({0}); }
/// Such a section excludes no other one, but may not run before those of its log do.
TEST(several_pairs_seeds, sections_without_records_run_once_if_a_launch_fails) {
  using policy = warden::policy<warden::options{}, warden::context<std::uint32_t*>>;
  using counted = warden::basic_guarded<policy, cell, several::clear>;
  constexpr std::uint32_t n = 40;
  for (std::uint64_t launch = 1; launch <= 9; ++launch) {
    SCOPED_TRACE("launch " + std::to_string(launch) + " of the run fails");
    warden::buffer<cell> records{several::first_cells(3)};
    warden::buffer<std::uint32_t> runs{std::vector<std::uint32_t>{0}};
    counted on{records, runs.data(), patience};
    warden::deferred_several<counted, tally> later{on, n};
    warden::launch(&send_tallies, 1, n, {}, later.ref());
    warden::stream_ref{}.synchronize();
    fail_launch(launch);
    try {
      later.run();
    } catch (warden::cuda_error const&) {
    }
    fail_launch(0);
    bool const are_lost = !test::error_text(on).empty();
    later.run();
    on.wait();
    EXPECT_LE(runs.to_host()[0], n);
    EXPECT_TRUE(are_lost || runs.to_host()[0] == n) << runs.to_host()[0];
  }
}

// ---- time limit

/// Sections wait for others, of the block or of another one. The blocks have records on chip then.
TEST(several_pairs_seeds, stopped_runs_are_as_their_results_say) {
  unsigned tried = 0, stopped = 0;
  test::under_many_schedules(20, [&](std::uint64_t seed) {
    if (seed % 8 > 1) return;  // each takes long
    ++tried;
    stopped += several::stops(2500, seed % 2 == 0 ? 256 : 1000, 250) ? 1 : 0;
  });
  if (tried > 4) {
    EXPECT_GT(stopped, 0u) << "no run was stopped";
  }
}

}  // namespace
