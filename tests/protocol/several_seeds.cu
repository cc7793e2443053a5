// SPDX-License-Identifier: Apache-2.0
// Sections on several records under many schedules.

#include "tests/protocol/several_arrays.cuh"
#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace simt = warden::simt;

using several::cell;
using several::cells;
using several::expect_as_in_a_loop;
using warden::outcome;

constexpr warden::guarded_options patience{.time_limit_seconds = 0.002, .minimum_polls = 64};

/// Random sections, from one hot record to many records.
TEST(several_seeds, are_as_in_a_loop) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    several::draws const draw{seed};
    if (seed % 5 == 0) test::let_one_block_be_resident();
    several::shape const of{.records = 1 + draw(0, seed % 3 == 0 ? 3 : 60),
                            .positions = 1 + draw(1, 5),
                            .writes = 16 + draw(2, 200),
                            .bad = 4};
    expect_as_in_a_loop<5>(of, 1 + draw(3, 250), 2, patience, draw(4, 1u << 30));
  });
}

/// Random sections, most of them on hot records, of one group or several.
TEST(several_seeds, hot_records_are_as_in_a_loop) {
  std::uint64_t by_owners = 0;
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    several::draws const draw{seed};
    if (seed % 5 == 0) test::let_one_block_be_resident();
    std::uint32_t const groups = 1 + draw(0, 4);
    several::shape const of{.records = groups * (1 + draw(1, seed % 3 == 0 ? 3 : 20)),
                            .positions = 1 + draw(2, 5),
                            .writes = 16 + draw(3, 200),
                            .bad = 4,
                            .groups = groups};
    std::uint32_t const most = seed % 4 == 1 ? 600 : 200;
    by_owners += expect_as_in_a_loop<5>(of, 1 + draw(4, most), 2, patience, draw(5, 1u << 30),
                                        {.hot_accesses = 2 + draw(6, 40)});
  });
  EXPECT_GT(by_owners, 0u);
}

/// Random sections on several arrays, some of which are full. Rows are appended in order.
TEST(several_seeds, arrays_are_as_in_a_loop) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    several::draws const draw{seed};
    if (seed % 5 == 0) test::let_one_block_be_resident();
    several::expect_arrays_as_in_a_loop({.cells = 1 + draw(0, 40),
                                         .wides = 1 + draw(1, 9),
                                         .narrows = 1 + draw(2, 9),
                                         .places = seed % 3 == 0 ? draw(3, 450) : 6 * 300,
                                         .bad = 4,
                                         .unnamed = 4},
                                        1 + draw(4, 150), draw(5, 1u << 30), patience, 2,
                                        {.hot_accesses = seed % 2 == 0 ? 2 + draw(6, 20) : 0});
  });
}

// ---- logs

using section = several::mixed<5>;
using log_type = warden::deferred_several<cells, section>;

/// Sends the sections from `first` to `end`, and notes the number of each.
WARDEN_KERNEL void send(warden::several_ref<section> log, several::shape of, std::uint32_t first,
                        std::uint32_t end, std::uint32_t* numbers) {
  std::uint32_t const i = first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < end) numbers[i] = log.send(section{i, of});
}
/// The log is filled twice, by kernels of two streams. One of them may find it full.
TEST(several_seeds, logs_run_in_the_order_of_numbers) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    several::shape const of{.records = 1 + static_cast<std::uint32_t>(seed % 40), .positions = 5};
    std::uint32_t const n = 150, room = seed % 4 == 0 ? 100 : n;
    std::vector<cell> all = several::first_cells(of.records);
    warden::buffer<cell> records{all};
    cells on{records, patience};
    // Runs with owners take most of the time here, and logs are the same without owners.
    log_type later{on, room, {.hot_accesses = seed % 5 == 0 ? 16u : 0u}};
    warden::buffer<std::uint32_t> numbers{n};
    warden::buffer<outcome> results{room};
    warden::stream one, other;
    for (unsigned run = 0; run < 2; ++run) {
      warden::launch(&send, 2, 40, one, later.ref(), of, 0u, 80u, numbers.data());
      warden::launch(&send, 2, 40, other, later.ref(), of, 80u, n, numbers.data());
      other.synchronize();
      later.run(results.data(), one);
      if (room == n) {
        on.wait(one);
      } else {
        EXPECT_THROW(on.wait(one), warden::limit_error);
      }
      std::vector<std::uint32_t> sent(room, ~0u);
      std::uint32_t refused = 0, i = 0;
      for (std::uint32_t const number : numbers.to_host()) {
        if (number < room) {
          sent[number] = i;
        } else {
          ++refused;
        }
        ++i;
      }
      EXPECT_EQ(refused, n - room) << "lost or doubled section";
      std::vector<outcome> const seen = results.to_host();
      for (std::uint32_t k = 0; k < room; ++k) {
        ASSERT_LT(sent[k], n) << "lost or doubled section";
        ASSERT_EQ(seen[k], (section{sent[k], of}.run_alone(all))) << "not as in a loop";
      }
    }
    several::expect_same(records.to_host(), all);
  });
}
/// Lets a launch of the next run fail; 0: none.
void fail(std::uint64_t launch) {
  warden::sim::settings s;
  s.failing_launch = launch;
  warden::sim::configure(s);
}
/// Runs a log whose kernel with number `launch`, counted from 1, cannot be launched, if it `fails`.
void expect_a_run_that_throws_leaves_all(std::uint64_t launch, bool fails,
                                         warden::several_options hot) {
  SCOPED_TRACE("launch " + std::to_string(launch) + " of the run fails");
  several::shape const of{.records = 9, .positions = 5};
  std::vector<cell> all = several::first_cells(of.records);
  warden::buffer<cell> records{all};
  cells on{records, patience};
  log_type later{on, 64, hot};
  warden::buffer<std::uint32_t> numbers{64};
  warden::buffer<outcome> results{64};
  warden::launch(&send, 1, 16, {}, later.ref(), of, 0u, 16u, numbers.data());
  later.run(results.data());
  on.wait();
  all = records.to_host();
  warden::launch(&send, 1, 32, {}, later.ref(), of, 0u, 32u, numbers.data());
  warden::stream_ref{}.synchronize();
  fail(launch);
  if (fails) {
    EXPECT_THROW(later.run(results.data()), warden::cuda_error);
  } else {
    later.run(results.data());
  }
  fail(0);
  on.wait();
  warden::outcome_counts counts = later.counts();
  EXPECT_EQ(counts.committed + counts.aborted, fails ? 0u : 32u);
  if (fails) {
    several::expect_same(records.to_host(), all);
    EXPECT_EQ(results.to_host(), std::vector<outcome>(64, outcome::not_run));
  }
  warden::launch(&send, 1, 32, {}, later.ref(), of, 32u, 64u, numbers.data());
  later.run();
  on.wait();
  counts = later.counts();
  EXPECT_EQ(counts.committed + counts.aborted, fails ? 64u : 32u) << "lost section";
}
TEST(several_seeds, a_run_that_throws_leaves_the_log_and_the_records) {
  // The second number: kernels of a run.
  for (auto const& [hot, kernels] : {std::pair{0u, 5u}, std::pair{2u, 8u}}) {
    for (std::uint64_t launch = 1; launch <= kernels + 1; ++launch)
      expect_a_run_that_throws_leaves_all(launch, launch <= kernels, {.hot_accesses = hot});
  }
}
/// Sends one section by each thread, again if the log refuses it, up to 200 times.
WARDEN_KERNEL void insist(warden::several_ref<section> log, several::shape of,
                          std::uint32_t* accepted) {
  for (unsigned tries = 0; tries < 200; ++tries) {
    if (log.send(section{simt::thread_rank(), of}) != log.not_sent) {
      simt::add(accepted, 1u);
      return;
    }
    simt::back_off(4);
  }
}
/// The end of a run opens its log. The sections that are sent then take the memory of those that
/// the run has read.
TEST(several_seeds, sections_are_sent_while_a_run_ends) {
  unsigned met = 0;
  test::under_many_schedules(2, [&](std::uint64_t) {
    several::shape const of{.records = 40, .positions = 5};
    constexpr std::uint32_t n = 300, more = 32;  // run by two blocks
    warden::buffer<cell> records{several::first_cells(of.records)};
    cells on{records, patience};
    // While a cooperative kernel runs, the simulated device runs no other one.
    log_type later{on, n, {.hot_accesses = 0}};
    warden::stream running, sending;
    warden::buffer<std::uint32_t> numbers{n};
    warden::launch(&send, 1, n, running, later.ref(), of, 0u, n, numbers.data());
    running.synchronize();
    later.run(nullptr, running);
    warden::buffer<std::uint32_t> accepted{std::vector<std::uint32_t>{0}};
    warden::launch(&insist, 1, more, sending, later.ref(), of, accepted.data());
    sending.synchronize();
    // The log refuses sections while it is run, and reports that.
    bool const refused = !test::error_text(on).empty();
    std::uint32_t const sent = accepted.to_host()[0];
    met += refused && sent != 0 ? 1 : 0;
    later.run(nullptr, running);
    on.wait(running);
    warden::outcome_counts const counts = later.counts(running);
    EXPECT_EQ(counts.committed + counts.aborted, sent) << "lost section";
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(met, 0u) << "no seed had sends that met the end of a run";
  }
}

// ---- which sections overlap

/// Counts of the sections that are inside, and of the most at once.
struct inside {
  std::uint32_t now, most;
};
struct look {
  bool writes;
  __device__ void access(warden::access_list<2>& a) const {
    if (writes) a.write(0);
    a.read(0);
  }
  __device__ outcome operator()(warden::records<cell, 2>&, inside* const& count) const {
    std::uint32_t const others = simt::fetch_add(&count->now, 1u);
    simt::fetch_max(&count->most, others + 1);
    simt::add(&count->now, ~0u);
    return outcome::commit;
  }
};
using watched = warden::basic_guarded<
    warden::policy<warden::options{}, warden::context<inside*>, warden::order::sequential>, cell,
    several::clear>;
/// Returns the largest number of sections that were inside at once.
std::uint32_t most_inside(bool writes) {
  warden::buffer<cell> records{several::first_cells(1)};
  warden::buffer<inside> count{std::vector<inside>{{0, 0}}};
  watched on{records, count.data(), patience};
  warden::deferred_several<watched, look> later{on, 20};
  warden::buffer<look> const sections{std::vector<look>(20, look{writes})};
  later.apply_async(sections.data(), 20);
  on.wait();
  return count.to_host()[0].most;
}
TEST(several_seeds, readers_share_a_record_and_writers_do_not) {
  std::uint32_t most = 0;
  test::under_many_schedules(5, [&](std::uint64_t) {
    EXPECT_EQ(most_inside(true), 1u) << "overlapping sections";
    most = std::max(most, most_inside(false));
  });
  EXPECT_GT(most, 1u) << "readers do not overlap";
}

}  // namespace
