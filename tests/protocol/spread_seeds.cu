// SPDX-License-Identifier: Apache-2.0
// Records of several ranks under many schedules: of the ranks, of their streams, and of threads.

#include "tests/protocol/spread_order.cuh"
#include "tests/protocol/spread_tables.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

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

/// Likewise of sections that combine, on at most `most_keys` records. Some pairs of ranks exchange
/// tables, others messages.
template <class Section>
void run_combining(std::uint64_t seed, std::uint32_t most_keys, std::uint32_t most) {
  constexpr bool has_wide = !std::is_same_v<warden::partial_of<Section>, Section>;
  int const count = 2 + static_cast<int>(draw(seed, 0, 2));
  std::uint32_t const keys = 1 + draw(seed, 1, most_keys), n = 1 + draw(seed, 2, most);
  warden::deferred_options chosen{.partitions = draw(seed, 3, 2) * 2,
                                  .split = has_wide ? 0 : 1u << draw(seed, 4, 3)};
  chosen.room = std::size_t{2} * static_cast<std::size_t>(count) * n;
  on_ranks(ranks(count, seed), [&](warden::communicator const& world) {
    tabled::bench<Section> b{world, keys};
    warden::deferred later{b.on(), n, chosen};
    auto const rank = static_cast<std::uint32_t>(world.rank());
    for (std::uint32_t turn = 0; turn < 2; ++turn) {
      // Rank 0 has half of the operations, so that it sends more tables.
      bool const is_last = world.rank() == count - 1;
      std::uint32_t const first = turn * n + (rank == 0 ? 0 : n / 2 + n / 4 * (rank - 1));
      std::uint32_t const end = turn * n + (is_last ? n : n / 2 + n / 4 * rank);
      std::uint32_t const middle = first + draw(seed, 5 + rank, end - first + 1);
      b.send_alone(later, first, middle);
      if (middle != end) b.send_together(later, middle, end);
      later.run();
    }
    b.on().wait();
    b.expect_ran(2 * n);
  });
}
TEST(spread_seeds, each_section_that_combines_runs_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    // A block then takes several partitions.
    if (seed % 3 == 0) test::let_one_block_be_resident();
    if (seed % 4 == 3) {
      // Enough on one record that a batch has wide partials.
      run_combining<tabled::sample>(seed, 6, 1000);
    } else {
      run_combining<tabled::deposit>(seed, 30, 250);
    }
  });
}

/// The cells of a partition would take all of the shared memory of a block.
TEST(spread_seeds, tables_that_do_not_fit_the_chip_are_filled_in_memory) {
  constexpr std::uint32_t keys = 2000, n = 5000;
  test::let_blocks_have(keys / 2 * sizeof(warden::detail::partial_cell<tabled::deposit>));
  on_ranks(ranks(2), [](warden::communicator const& world) {
    tabled::bench<tabled::deposit> b{world, keys};
    warden::deferred later{b.on(), n, {.partitions = 1, .split = 1}};
    later.record_phases();
    auto const first = static_cast<std::uint32_t>(world.rank()) * n;
    b.send_alone(later, first, first + n);
    later.run();
    EXPECT_TRUE(tabled::filled_tables(later));
    b.on().wait();
    b.expect_ran(2 * n);
  });
  warden::sim::configure({});
}

/// A kernel in another stream sends during the run of the logs, or before, or after it.
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

/// A rank's calls, with an action after each wait. NCCL copies memory byte by byte unless it is
/// aligned to 16 bytes.
class watched final : public warden::runtime::transport {
 public:
  watched(warden::communicator of, std::function<void(warden::stream_ref)> after_wait)
      : of_{std::move(of)}, after_wait_{std::move(after_wait)} {}
  [[nodiscard]] int rank() const override { return of_.rank(); }
  [[nodiscard]] int size() const override { return of_.size(); }
  void all_gather(void const* own, void* all, std::size_t bytes, warden::stream_ref s,
                  std::source_location where) override {
    of_.transport().all_gather(own, all, bytes, s, where);
  }
  void exchange(std::span<warden::runtime::outgoing const> sent,
                std::span<warden::runtime::incoming const> received, warden::stream_ref s,
                std::source_location where) override {
    for (auto const& m : sent) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data) % 16, 0u);
    for (auto const& m : received) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data) % 16, 0u);
    of_.transport().exchange(sent, received, s, where);
  }
  void wait(warden::stream_ref s, std::source_location where) override {
    of_.transport().wait(s, where);
    after_wait_(s);
  }

 private:
  warden::communicator of_;
  std::function<void(warden::stream_ref)> after_wait_;
};
/// Only the communicator waits for other ranks: it has a time limit.
TEST(spread_seeds, the_last_run_is_waited_for_with_a_limit_whatever_stream_it_was_in) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    on_ranks(ranks(2, seed), [](warden::communicator const& world) {
      warden::stream one, other;
      deferring::entry const* records = nullptr;
      std::size_t places = 0;
      std::uint64_t ran = 0;
      warden::communicator const seen{
          std::make_shared<watched>(world, [&](warden::stream_ref waited) {
            if (waited.handle() != warden::stream_ref{other}.handle()) return;
            // Nothing may run now, so this asks no stream.
            for (std::size_t i = 0; i < places; ++i) ran += records[i].count;
          })};
      spreading::rank_bench<by_default> b{seen, 20};
      warden::deferred later{b.on(), 100};
      warden::stream_ref{}.synchronize();
      if (world.rank() == 0) b.send_alone(later, 0, 100);
      warden::stream_ref{}.synchronize();
      later.run(one);
      records = b.on().records().data();
      places = b.on().records().size();
      b.on().wait(other);
      EXPECT_EQ(ran, b.ran());
    });
  });
}

/// The calls that fail next: on all ranks, before anything is sent.
struct failures {
  bool exchange = false, gather = false;
};
/// A rank's calls, some of which fail once.
class flaky final : public warden::runtime::transport {
 public:
  flaky(warden::communicator of, failures& next) : of_{std::move(of)}, next_{next} {}
  [[nodiscard]] int rank() const override { return of_.rank(); }
  [[nodiscard]] int size() const override { return of_.size(); }
  void all_gather(void const* own, void* all, std::size_t bytes, warden::stream_ref s,
                  std::source_location where) override {
    if (std::exchange(next_.gather, false)) throw warden::communicator_error{"not now", where};
    of_.transport().all_gather(own, all, bytes, s, where);
  }
  void exchange(std::span<warden::runtime::outgoing const> sent,
                std::span<warden::runtime::incoming const> received, warden::stream_ref s,
                std::source_location where) override {
    if (std::exchange(next_.exchange, false))
      throw warden::communicator_error{"not this time", where};
    of_.transport().exchange(sent, received, s, where);
  }
  void wait(warden::stream_ref s, std::source_location where) override {
    of_.transport().wait(s, where);
  }

 private:
  warden::communicator of_;
  failures& next_;
};
TEST(spread_seeds, a_run_after_a_failed_exchange_runs_each_section_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    std::uint32_t const n = 2 + draw(seed, 0, 150);
    on_ranks(ranks(2, seed), [&](warden::communicator const& world) {
      failures next{.exchange = true};
      spreading::rank_bench<by_default> b{
          warden::communicator{std::make_shared<flaky>(world, next)}, 20};
      warden::deferred later{b.on(), 2 * n, {.room = 8 * std::size_t{n}}};
      auto const begin = 2 * n * static_cast<std::uint32_t>(world.rank());
      b.send_alone(later, begin, begin + n / 2);
      b.send_together(later, begin + n / 2, begin + n, 1);
      EXPECT_THROW(later.run(), warden::communicator_error);
      // After those that the run has sorted.
      b.send_alone(later, begin + n, begin + 2 * n);
      later.run();
      b.on().wait();
      b.expect_ran(4 * n);
    });
  });
}

/// The log still has what the tables held.
TEST(spread_seeds, a_run_after_a_failed_exchange_of_tables_runs_each_section_once) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    std::uint32_t const n = 60 + draw(seed, 0, 100);
    on_ranks(ranks(2, seed), [&](warden::communicator const& world) {
      failures next{.exchange = true};
      tabled::bench<tabled::deposit> b{warden::communicator{std::make_shared<flaky>(world, next)},
                                       10};
      warden::deferred later{b.on(), 2 * n};
      later.record_phases();
      auto const begin = 2 * n * static_cast<std::uint32_t>(world.rank());
      b.send_alone(later, begin, begin + n);
      EXPECT_THROW(later.run(), warden::communicator_error);
      EXPECT_TRUE(tabled::filled_tables(later));
      b.send_alone(later, begin + n, begin + 2 * n);
      later.run();
      b.on().wait();
      b.expect_ran(4 * n);
    });
  });
}

TEST(spread_seeds, what_went_wrong_here_is_thrown_although_the_ranks_cannot_be_asked) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    failures next;
    spreading::rank_bench<by_default> b{warden::communicator{std::make_shared<flaky>(world, next)},
                                        20};
    warden::deferred later{b.on(), 10};
    b.send_alone(later, 0, 25);
    next.gather = true;
    try {
      b.on().wait();
      FAIL() << "no error";
    } catch (warden::communicator_error const& e) {
      ASSERT_EQ(e.all().size(), 2u) << e.what();
      EXPECT_EQ(e.all()[0].example, "not now");
      EXPECT_EQ(e.all()[1].type, warden::error_type::limit);
      EXPECT_EQ(e.all()[1].count, 15u);
    }
    EXPECT_EQ(spreading::told([&] { b.on().wait(); }), "") << "reported twice";
  });
}

TEST(spread_seeds, what_travels_is_aligned) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 301;
    spreading::rank_bench<by_default> b{
        warden::communicator{std::make_shared<watched>(world, [](warden::stream_ref) {})}, 20};
    warden::deferred later{b.on(), n, {.room = 3 * n}};
    for (std::uint32_t round = 0; round < 4; ++round) {
      std::uint32_t const first = (3 * round + static_cast<std::uint32_t>(world.rank())) * n;
      b.send_alone(later, first, first + n);
      later.run();
    }
    b.on().wait();
    b.expect_ran(12 * n);
  });
}
/// The logs are open again before the next run closes them, whatever stream that is in.
TEST(spread_seeds, a_run_comes_after_one_that_found_no_room) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    on_ranks(ranks(2, seed), [](warden::communicator const& world) {
      warden::stream one, other;
      spreading::rank_bench<by_default> b{world, 20};
      warden::deferred later{b.on(), 60, {.room = 59}};
      b.send_alone(later, 0, 60, 1);
      warden::stream_ref{}.synchronize();
      for (warden::stream const* s : {&one, &other}) {
        EXPECT_EQ(spreading::told([&] { later.run(*s); }).substr(0, 44),
                  "run: 60 sections would come to rank 0, whose");
      }
      EXPECT_EQ(spreading::told([&] { b.on().wait(other); }), "");
    });
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
  EXPECT_EQ(spreading::told([] {
              warden::run_on_gpus(1, [](auto const&) {}, {.time_limit_seconds = -1});
            }).substr(0, 33),
            "run_on_gpus: a time limit of -1 s");
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
