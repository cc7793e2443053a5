// SPDX-License-Identifier: Apache-2.0
// Logs under many schedules: small and full ones, flat messages and batches in every mixture.

#include "tests/protocol/deferred.cuh"
#include "tests/protocol/deferred_combining.cuh"
#include "tests/protocol/order.cuh"
#include "tests/support/many_schedules.cuh"
#include "tests/support/unordered_launches.hpp"

#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using by_default = deferring::small_blocks<>;

/// Sends `n` sections, some together and some alone, to logs of different sizes.
void expect_as_many_as_fit(std::uint64_t seed) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
  };
  deferring::bench<by_default> b{1 + draw(0, 60)};
  std::uint32_t const capacity = 1 + draw(1, 900);
  std::uint32_t const n = seed % 3 == 0 ? capacity : std::max(41u, capacity + draw(2, 80)) - 40;
  std::uint32_t const together = draw(3, n + 1);
  warden::deferred later{b.on(), capacity, {.partitions = draw(6, 2), .split = 1u << draw(5, 4)}};
  // Twice: after a run the log is empty.
  for (std::uint32_t first : {0u, n}) {
    if (together != 0) b.send_together(later, first, first + together, 1 + draw(4, 3));
    if (together != n) b.send_alone(later, first + together, first + n);
    later.run();
  }
  std::uint64_t const refused = 2 * std::uint64_t{n - std::min(n, capacity)};
  if (refused == 0) {
    b.on().wait();
    b.expect_ran(0, 2 * n);
  } else {
    EXPECT_THROW(b.on().wait(), warden::limit_error);
  }
  EXPECT_EQ(b.refused(), refused) << "lost or doubled section";
  EXPECT_EQ(b.ran(), 2 * std::uint64_t{std::min(n, capacity)}) << "lost or doubled section";
}
TEST(deferred_seeds, exactly_as_many_as_fit_run) {
  test::under_many_schedules(1, expect_as_many_as_fit);
}

/// A kernel in another stream sends during the run of the log, or before, or after it.
TEST(deferred_seeds, what_is_sent_while_the_log_is_run_is_refused_or_runs_later) {
  test::under_many_schedules(1, [](std::uint64_t) {
    deferring::bench<by_default> b{20};
    warden::deferred later{b.on(), 1000};
    warden::stream one, other;
    b.send_together(later, 0, 300, 2, one);
    later.run(one);
    b.send_alone(later, 300, 400, other);
    later.run(one);
    one.synchronize();
    other.synchronize();
    later.run(one);
    try {
      b.on().wait(one);
    } catch (warden::limit_error const&) {
      // Some were refused, and counted.
    }
    EXPECT_EQ(b.ran() + b.refused(), 400u) << "lost or doubled section";
  });
}

/// Two logs run in two streams without an order between them: one of them may be put off.
TEST(deferred_seeds, runs_that_meet_are_put_off_and_reported) {
  std::uint64_t put_off = 0;
  test::under_many_schedules(1, [&](std::uint64_t) {
    deferring::bench<by_default> b{20};
    warden::deferred first{b.on(), 1000}, second{b.on(), 1000};
    warden::stream one, other;
    b.send_together(first, 0, 200, 2, one);
    b.send_alone(second, 200, 400, other);
    first.run(one);
    second.run(other);
    one.synchronize();
    try {
      b.on().wait(other);
    } catch (warden::limit_error const& e) {
      ++put_off;
      EXPECT_NE(std::string{e.what()}.find("1 runs of logs found the guarded array"),
                std::string::npos)
          << e.what();
      // The sections are still there.
      first.run(one);
      second.run(one);
      b.on().wait(one);
    }
    b.expect_ran(0, 400);
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(put_off, 0u) << "no seed had runs that met";
  }
}

/// Two runs of one log in two streams: one of them has the sections, the other one is put off or
/// finds nothing.
TEST(deferred_seeds, runs_of_one_log_that_meet_leave_it_in_order) {
  test::under_many_schedules(2, [&](std::uint64_t) {
    deferring::bench<by_default> b{20};
    warden::deferred later{b.on(), 500};
    warden::stream one, other;
    b.send_together(later, 0, 200, 2, one);
    b.send_alone(later, 200, 300, one);
    one.synchronize();
    later.run(one);
    later.run(other);
    one.synchronize();
    try {
      b.on().wait(other);
    } catch (warden::limit_error const&) {
      // One was put off.
    }
    b.expect_ran(0, 300);
    b.send_together(later, 300, 800, 2, one);
    later.run(one);
    b.on().wait(one);
    b.expect_ran(0, 800);
  });
}

/// A run and a fused launch in two streams without an order between them. The launch may have been
/// captured when there was no log yet.
void expect_reported_where_they_meet(bool captured) {
  unsigned met = 0;
  test::under_many_schedules(2, [&](std::uint64_t) {
    deferring::bench<deferring::small_blocks<>> b{50};
    warden::prepare_fused(b.on());
    warden::stream one, other;
    auto const launch = [&] {
      warden::launch_fused(deferring::send_fused<decltype(b)::guarded>{}, 1, other, b.on());
    };
    std::optional<warden::graph> graph;
    if (captured) graph.emplace(warden::graph::capture(other, launch));
    warden::deferred later{b.on(), 300};
    b.send_alone(later, 0, 200, one);
    later.run(one);
    if (graph) {
      graph->launch(other);
    } else {
      launch();
    }
    bool const stopped = test::sections_met([&] {
      one.synchronize();
      try {
        b.on().wait(other);
      } catch (warden::limit_error const&) {
        ++met;
      }
    });
    met += stopped ? 1 : 0;
    if (stopped) return;
    later.run(one);
    b.on().wait(one);
    EXPECT_EQ(b.ran(), 232u) << "lost or doubled section";
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(met, 0u) << "no seed had a run that met a launch";
  }
}
TEST(deferred_seeds, a_run_and_a_fused_launch_that_meet_are_reported) {
  expect_reported_where_they_meet(false);
}
TEST(deferred_seeds, a_run_and_a_captured_launch_that_meet_are_reported) {
  expect_reported_where_they_meet(true);
}

/// Some together and some alone, to logs that they fill to the last place.
template <class Section>
void expect_combined(std::uint64_t seed) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
  };
  combined::operations const all{1 + draw(0, 1500), 1 + draw(1, 60), draw(2, 256)};
  // Sometimes one block runs all partitions.
  if (draw(8, 4) == 0) test::let_one_block_be_resident();
  combined::bench<Section> b{all};
  warden::deferred later{b.on(), std::max<std::uint64_t>(1, all.sent())};
  std::uint32_t const alone = draw(3, 3) == 0 ? draw(4, all.n) : 0;
  b.send_alone(later.ref(), 0, alone);
  std::uint32_t const each = draw(6, 3) == 0 ? 1 + draw(7, 12) : ~0u;
  // Some in two runs.
  std::uint32_t const half = draw(3, 3) == 1 ? all.n / 2 : alone;
  if (half != alone) {
    b.template send_together<64>(later.ref(), alone, half, 1 + draw(5, 3), each);
    later.run();
  }
  b.template send_together<64>(later.ref(), half, all.n, 1 + draw(5, 3), each);
  later.run();
  b.on().wait();
  b.expect_each_once();
}
TEST(deferred_seeds, what_repeats_is_combined) {
  test::under_many_schedules(1, expect_combined<combined::add_up>);
}
TEST(deferred_seeds, samples_are_combined_to_partials) {
  test::under_many_schedules(1, expect_combined<combined::sample>);
}
TEST(deferred_seeds, sections_with_a_key_combine_within_it) {
  test::under_many_schedules(1, expect_combined<combined::keyed_sample>);
  test::under_many_schedules(1, expect_combined<combined::keyed_add>);
}

/// Sends the sections of few records by `send_async`, which combines them in tables.
template <class Section>
void expect_sent_by_tables(std::uint64_t seed) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 4 + which) % below);
  };
  combined::operations const all{1300 + draw(0, 300), 1 + draw(1, 10), draw(2, 256)};
  combined::bench<Section, warden::policy<warden::options{.block_threads = 64}>> b{all};
  warden::deferred later{b.on(), all.sent()};
  warden::send_async(later, all.sent(), combined::each_sent<Section>{all});
  later.run();
  b.on().wait();
  EXPECT_LT(b.expect_each_once(), all.sent() / 4);
}
TEST(deferred_seeds, tables_are_sent) {
  test::under_many_schedules(8, expect_sent_by_tables<combined::add_up>);
  test::under_many_schedules(8, expect_sent_by_tables<combined::sample>);
}

/// Which batches are looked at is the same under every schedule.
TEST(deferred_seeds, what_repeats_late_is_found) {
  combined::expect_late_repeats_are_found<combined::add_up, 64>();
  combined::expect_late_repeats_are_found<combined::sample, 64>();
}

TEST(deferred_seeds, sections_run_in_order) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    auto const draw = [&](std::uint64_t which, std::uint32_t below) {
      return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
    };
    // One of three shapes for each schedule: any, many short segments, many partitions.
    switch (seed % 3) {
      case 0:
        ordering::expect_order<warden::placement::on_chip, 64>(
            1 + draw(0, 100), 1 + draw(1, 900), 1 + draw(2, 9), 1u << draw(3, 5), 1u << draw(4, 3));
        break;
      case 1:
        ordering::expect_order<warden::placement::on_chip, 32>(1 + draw(0, 40), 1200 + draw(1, 900),
                                                               1, 1u << draw(3, 5), 1);
        break;
      default:
        ordering::expect_order<warden::placement::on_chip, 64>(200, 1 + draw(1, 900), 3, 128, 1);
    }
  });
}

}  // namespace
