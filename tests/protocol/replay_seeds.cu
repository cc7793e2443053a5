// SPDX-License-Identifier: Apache-2.0
// Logs that are replayed, under many schedules.

#include "tests/protocol/replay.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstdint>
#include <string>

namespace {

namespace simt = warden::simt;

TEST(replay_seeds, every_section_runs_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    auto const draw = [&](std::uint64_t which, std::uint32_t below) {
      return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
    };
    replay::bench b{1 + draw(0, 30), {.servers = 1 + draw(1, 3)}};
    std::uint32_t const n = 1 + draw(2, 120), together = draw(3, n + 1);
    warden::deferred later{b.on(), n};
    // Twice: after a run the log is empty.
    for (std::uint32_t first : {0u, n}) {
      if (together != 0) b.send_together(later, first, first + together, 1 + draw(4, 2));
      if (together != n) b.send_alone(later, first + together, first + n);
      later.run();
    }
    b.on().wait();
    b.expect_ran(0, 2 * n);
  });
}

/// Two logs run in two streams without an order between them: one of them may be put off, and then
/// touches nothing of the other's launch.
TEST(replay_seeds, runs_that_meet_are_put_off_and_reported) {
  std::uint64_t put_off = 0;
  test::under_many_schedules(1, [&](std::uint64_t) {
    replay::bench b{20};
    warden::deferred first{b.on(), 100}, second{b.on(), 100};
    warden::stream one, other;
    b.send_together(first, 0, 60, 2, one);
    b.send_alone(second, 60, 120, other);
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
      first.run(one);
      second.run(one);
      b.on().wait(one);
    }
    b.expect_ran(0, 120);
  });
  if (test::seeds().end > 100) {
    EXPECT_GT(put_off, 0u) << "no seed had runs that met";
  }
}

/// Takes places, and has not written to them when the log is closed.
WARDEN_KERNEL void take_only(replay::guarded::deferred_ref ref) {
  using side = replay::guarded::deferred_ref::log_type::side;
  if (simt::thread_rank() == 0) {
    ref.log.take<side::flat>(0, 3);
    ref.log.take<side::batch>(0, 4);
  }
}
TEST(replay_seeds, missing_messages_are_reported_and_nothing_runs_in_their_place) {
  replay::bench b{10};
  warden::deferred later{b.on(), 128};
  b.send_together(later, 0, 128, 2);
  later.run();
  simt::launch(&take_only, 1, 32, 0, later.ref(), {});
  later.run();
  try {
    b.on().wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("7 sections were lost, because a kernel was still"),
              std::string::npos)
        << e.what();
  }
  b.expect_ran(0, 128);
}

/// The device takes no cooperative launch as large as that of the run.
TEST(replay_seeds, a_run_that_the_device_refuses_leaves_the_log_as_it_was) {
  replay::bench b{20, {.servers = 2}};
  warden::deferred later{b.on(), 200};
  b.send_together(later, 0, 100, 2);
  b.send_alone(later, 100, 150);
  auto s = warden::sim::current_settings();
  auto const before = s;
  s.refuse_blocks_over = 1;
  warden::sim::configure(s);
  EXPECT_THROW(later.run(), warden::limit_error);
  warden::sim::configure(before);
  b.send_alone(later, 150, 200);
  later.run();
  b.on().wait();
  b.expect_ran(0, 200);
}

}  // namespace
