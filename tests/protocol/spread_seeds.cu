// SPDX-License-Identifier: Apache-2.0
// Records of several ranks under many schedules: of the ranks, of their streams, and of threads.

#include "tests/protocol/spread_order.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstdint>

namespace {

namespace simt = warden::simt;
using spreading::on_ranks;
using spreading::placement;
using spreading::ranks;

/// Numbers that the seed and `which` choose.
std::uint32_t draw(std::uint64_t seed, std::uint64_t which, std::uint32_t below) {
  return static_cast<std::uint32_t>(test::mix(seed * 16 + which) % below);
}

using by_default = deferring::small_blocks<>;

/// Each rank sends some or none of the operations, in two runs.
TEST(spread_seeds, each_section_runs_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    int const count = 2 + static_cast<int>(draw(seed, 0, 2));
    std::uint32_t const keys = 1 + draw(seed, 1, 80), n = 1 + draw(seed, 2, 150);
    warden::deferred_options chosen{.partitions = draw(seed, 3, 2) * 2,
                                    .split = 1u << draw(seed, 4, 4)};
    chosen.room = std::size_t{2} * static_cast<std::size_t>(count) * n;
    on_ranks(ranks(count, seed), [&](warden::communicator const& world) {
      spreading::rank_bench<by_default> b{world, keys};
      warden::deferred later{b.on(), n, chosen};
      auto const rank = static_cast<std::uint32_t>(world.rank());
      for (std::uint32_t round = 0; round < 2; ++round) {
        std::uint32_t const first = round * n;
        std::uint32_t const begin = first + n * rank / static_cast<std::uint32_t>(count);
        std::uint32_t const end = first + n * (rank + 1) / static_cast<std::uint32_t>(count);
        std::uint32_t const middle = begin + draw(seed, 5 + rank, end - begin + 1);
        b.send_alone(later, begin, middle);
        if (middle != end) b.send_together(later, middle, end, 1 + draw(seed, 9, 3));
        later.run();
      }
      b.on().wait();
      b.expect_ran(2 * n);
    });
  });
}

/// A kernel in another stream sends while the logs are run, or before, or behind.
TEST(spread_seeds, what_is_sent_while_the_log_is_run_is_refused_or_runs_later) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    std::uint64_t ran = 0, refused = 0;
    on_ranks(ranks(2, seed), [&](warden::communicator const& world) {
      using guarded = spreading::rank_bench<by_default>::guarded;
      spreading::rank_bench<by_default> b{world, 20};
      warden::deferred later{b.on(), 500, {.room = 2000}};
      warden::buffer<std::uint64_t> told{1};
      told.fill_bytes(0);
      warden::stream_ref{}.synchronize();
      warden::stream one, other;
      auto const send = [&](std::uint32_t end, warden::stream const& s) {
        simt::launch(&deferring::send_alone<guarded, 1>, (end + 31) / 32, 32, 0,
                     {later.ref(), 0, end, 20, told.data()}, s);
      };
      send(300, one);
      later.run(one);
      send(100, other);
      later.run(one);
      one.synchronize();
      other.synchronize();
      later.run(one);
      spreading::told([&] { b.on().wait(one); });
      ran += b.ran();
      refused += told.to_host()[0];
    });
    EXPECT_EQ(ran + refused, 800u) << "lost or doubled section";
  });
}

TEST(spread_seeds, what_a_rank_throws_comes_out_and_not_that_others_waited_for_it) {
  auto const thrown = spreading::told([] {
    warden::run_on_gpus(3, [](warden::communicator const& world) {
      if (world.rank() == 2) throw warden::limit_error{"no more"};
      spreading::rank_bench<by_default> b{world, 20};
      warden::deferred later{b.on(), 10};
      later.run();
    });
  });
  EXPECT_EQ(thrown.substr(0, 7), "no more");
  // Rank 0 knows only that another one had something.
  EXPECT_EQ(spreading::told([] {
              warden::run_on_gpus(2, [](warden::communicator const& world) {
                spreading::rank_bench<by_default> b{world, 20};
                warden::deferred later{b.on(), 100};
                b.send_alone(later, 0, 100, world.rank() == 1 ? 60 : 20);
                later.run();
                b.on().wait();
              });
            }).substr(0, 16),
            "send: record id ");
  EXPECT_EQ(spreading::told([] { warden::run_on_gpus(65, [](auto const&) {}); }).substr(0, 30),
            "run_on_gpus: 65 simulated GPUs");
}

/// Two ranks and more share a loop.
TEST(spread_seeds, sections_run_in_order) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    int const count = 2 + static_cast<int>(draw(seed, 0, 2));
    std::uint32_t const keys = 1 + draw(seed, 1, 40), n = 40 + draw(seed, 2, 150);
    spreading::expect_order<placement::in_memory, 64>(
        ranks(count, seed), keys, n, 1 + draw(seed, 3, 4), {.split = 1u << draw(seed, 4, 3)});
  });
}

}  // namespace
