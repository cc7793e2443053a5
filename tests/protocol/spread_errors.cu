// SPDX-License-Identifier: Apache-2.0
// Errors of sections on records of any rank: each is reported on all ranks.

#include "tests/protocol/spread.cuh"

#include <warden/detail/fused/fused_state.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>

namespace {

namespace simt = warden::simt;
using spreading::entry;
using spreading::on_ranks;
using spreading::rank_bench;
using spreading::ranks;
using spreading::texts;
using spreading::told;
using testing::Each;
using testing::HasSubstr;
using warden::placement;
using by_default = deferring::small_blocks<>;

TEST(spread, ids_outside_the_whole_are_told_where_they_were_sent_and_noted_elsewhere) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 30};
    warden::deferred later{b.on(), 100};
    b.send_alone(later, 0, 100, world.rank() == 1 ? 60 : 30);
    later.run();
    std::string const text = told([&] { b.on().wait(); });
    if (world.rank() == 1) {
      EXPECT_THAT(text, HasSubstr("is not below 30 ("));
    } else {
      EXPECT_THAT(text, HasSubstr("no error here, but on rank 1; wait reports them there"));
    }
    // Reported once; the guarded array can be used again.
    b.send_alone(later, 0, 100);
    later.run();
    EXPECT_EQ(told([&] { b.on().wait(); }), "");
  });
}
TEST(spread, a_rank_without_room_is_named_on_all_ranks_and_nothing_is_lost) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 400;
    rank_bench<by_default> b{world, 30};
    std::optional<
        warden::deferred<decltype(b)::guarded::policy, entry, deferring::add<1>, deferring::tick>>
        later{std::in_place, b.on(), n, warden::deferred_options{.room = 700}};
    b.send_alone(*later, 0, n / 2, 1);
    b.send_together(*later, 0, 200, 2);
    later->run();
    b.on().wait();
    auto const before = b.ran();
    b.send_alone(*later, 0, n, 1);
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(
          told([&] { later->run(); }),
          HasSubstr("run: 800 sections would come to rank 0, whose log has room for 700; "
                    "the logs keep their sections, which did not run: increase the option room"));
    }
    EXPECT_EQ(told([&] { b.on().wait(); }), "");
    EXPECT_EQ(b.ran(), before);
    // They are still there, every one.
    later.reset();
    EXPECT_THAT(told([&] { b.on().wait(); }),
                HasSubstr(std::to_string(n) + " deferred sections were never run"));
  });
}
TEST(spread, room_is_counted_to_the_last_place) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 400;
    rank_bench<by_default> b{world, 30};
    warden::deferred later{b.on(), n, {.room = n}};
    b.send_alone(later, 0, n, 1);
    later.run();
    b.on().wait();
    EXPECT_EQ(b.ran(), world.rank() == 0 ? 2 * n : 0);
  });
}
WARDEN_KERNEL void use_up_rows(rank_bench<by_default>::guarded::deferred_ref to) {
  to.log.control->rows = to.log.rows;
}
/// Kernels that send while a log is emptied may take rows in vain, until there is none for sections
/// that single threads sent.
TEST(spread, what_finds_no_row_is_told) {
  for (int const count : {1, 2}) {
    on_ranks(ranks(count), [](warden::communicator const& world) {
      constexpr std::uint32_t n = 6000;
      rank_bench<by_default> b{world, 30};
      warden::deferred later{b.on(), n};
      b.send_alone(later, 0, n);
      simt::launch(&use_up_rows, 1, 1, 0, later.ref(), {});
      later.run();
      EXPECT_THAT(told([&] { b.on().wait(); }),
                  testing::StartsWith("run: 6000 sections were lost, because a kernel was"));
      EXPECT_EQ(b.ran(), 0u);
      b.send_alone(later, 0, n);
      later.run();
      b.on().wait();
      EXPECT_GT(b.ran(), 0u);
    });
  }
}
TEST(spread, a_rank_at_work_puts_all_off) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 30};
    warden::deferred later{b.on(), 100};
    b.send_alone(later, 50 * static_cast<std::uint32_t>(world.rank()),
                 50 * static_cast<std::uint32_t>(world.rank()) + 50);
    using warden::detail::guarded_access;
    auto& state = *guarded_access::shared(guarded_access::local(b.on()));
    if (world.rank() == 1) warden::detail::mark_records(state, true, {}, {});
    later.run();
    if (world.rank() == 1) warden::detail::mark_records(state, false, {}, {});
    EXPECT_THAT(told([&] { b.on().wait(); }),
                HasSubstr(world.rank() == 1 ? "runs of logs found the guarded array in another run"
                                            : "but on rank 1"));
    EXPECT_EQ(b.ran(), 0u);
    later.run();
    b.on().wait();
    b.expect_ran(100);
  });
}
TEST(spread, errors_here_and_on_other_ranks_are_thrown_together) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 30};
    warden::deferred later{b.on(), 10};
    // More than the log holds; nothing on the last rank.
    b.send_alone(later, 0, world.rank() == 2 ? 0 : 25);
    later.run();
    try {
      b.on().wait();
      FAIL() << "no error";
    } catch (warden::limit_error const& e) {
      EXPECT_NE(world.rank(), 2);
      ASSERT_EQ(e.all().size(), 2u) << e.what();
      EXPECT_THAT(e.all()[0].example, HasSubstr("15 deferred sections were refused"));
      EXPECT_EQ(e.all()[1].type, warden::error_type::other_rank);
      EXPECT_EQ(e.all()[1].count, 1u);
      EXPECT_THAT(
          e.all()[1].example,
          HasSubstr(world.rank() == 0 ? ": errors also on rank 1; wait reports them there"
                                      : ": errors also on rank 0; wait reports them there"));
    } catch (warden::other_rank_error const& e) {
      EXPECT_EQ(world.rank(), 2);
      ASSERT_EQ(e.all().size(), 1u);
      EXPECT_EQ(e.all()[0].count, 2u);
      EXPECT_THAT(e.what(), HasSubstr("no error here, but on rank 0, 1; wait reports them there"));
    }
    EXPECT_EQ(told([&] { b.on().wait(); }), "") << "reported once";
  });
}
TEST(spread, a_log_outlives_its_guarded) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    std::optional<rank_bench<by_default>> b{std::in_place, world, 30u};
    warden::deferred later{b->on(), 100};
    b->send_alone(later, 0, 100);
    auto const share = b->on().share();
    auto const ids = spreading::ids_of(b->on());
    b.reset();
    warden::buffer<deferring::entry> other{share.places};
    other.fill_bytes(0xff);
    later.run();
    std::vector<deferring::entry> records(share.places);
    warden::copy(records.data(), share.records, share.places);
    warden::stream_ref{}.synchronize();
    for (std::uint32_t place = 0; place < share.places; ++place) {
      std::uint32_t wanted = 0;
      for (std::uint32_t i = 0; i < 100; ++i) wanted += deferring::id_of(i, 30) == ids[place];
      EXPECT_EQ(records[place].count, 2 * wanted);
    }
  });
}
TEST(spread, logs_that_do_not_match_are_refused_on_all_ranks) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 3000};
    unsigned const partitions = world.rank() == 0 ? 8 : 4;
    EXPECT_THAT(told([&] {
                  warden::deferred later{b.on(), 100, {.partitions = partitions}};
                }),
                HasSubstr("rank 1 has 4 partitions of a rank, and rank 0 has 8"));
    EXPECT_THAT(
        told([&] {
          warden::deferred later{b.on(), 100, {.partitions = 512}};
        }),
        HasSubstr("512 partitions; a log on the records of 2 ranks has at most 256 for each"));
    EXPECT_THAT(told([&] {
                  warden::deferred later{b.on(), 100, {.room = std::size_t{1} << 31}};
                }),
                HasSubstr("room for 2147483648 sections; the limit is 1073741824"));
  });
}
TEST(spread, runs_in_another_order_are_refused_on_all_ranks) {
  for (bool const can_share : {true, false}) {
    warden::loopback_settings chosen = ranks(2);
    chosen.can_share = can_share;
    on_ranks(chosen, [](warden::communicator const& world) {
      constexpr std::uint32_t n = 100;
      rank_bench<by_default> a{world, 30}, b{world, 50};
      warden::deferred first{a.on(), n}, second{b.on(), n};
      a.send_alone(first, 0, n);
      b.send_alone(second, 0, n);
      bool const is_first = world.rank() == 0;
      EXPECT_THAT(told([&] { (is_first ? first : second).run(); }),
                  HasSubstr(is_first ? "run: rank 0 runs log 1, and rank 1 runs log 2, counted"
                                     : "run: rank 1 runs log 2, and rank 0 runs log 1, counted"));
      EXPECT_EQ(a.ran() + b.ran(), 0u);
      first.run();
      second.run();
      a.on().wait();
      b.on().wait();
      EXPECT_GT(a.ran(), 0u);
      EXPECT_GT(b.ran(), 0u);
    });
  }
}
TEST(spread, default_room_is_not_too_much) {
  using on_chip = deferring::small_blocks<warden::executor::locks<64>, placement::on_chip>;
  rank_bench<on_chip> b{warden::communicator::alone(), 100'000};
  // A log as large as this is refused for another reason, before there is any memory for it.
  EXPECT_THAT(
      told([&] {
        warden::deferred later{b.on(), (std::size_t{1} << 29) + 1, {.partitions = 1, .split = 1}};
      }),
      HasSubstr("do not fit the chip"));
}
TEST(spread, a_run_is_not_captured) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 30};
    warden::deferred later{b.on(), 100};
    warden::stream s;
    std::string text;
    warden::graph::capture(s, [&] { text = told([&] { later.run(s); }); });
    b.on().wait();
    EXPECT_THAT(text, HasSubstr("run: the stream is being captured into a graph"));
  });
}

/// A rank that ends before the others.
TEST(spread, a_rank_that_does_not_come_is_an_error_on_all_others) {
  for (int missing = 0; missing < 2; ++missing) {
    auto const thrown = warden::run_ranks(ranks(3), [&](warden::communicator const& world) {
      rank_bench<by_default> b{world, 30};
      warden::deferred later{b.on(), 100};
      b.send_alone(later, 0, 100);
      if (world.rank() == 2 && missing == 0) return;
      later.run();
      if (world.rank() == 2) return;
      b.on().wait();
    });
    auto const all = texts(thrown);
    EXPECT_THAT(all[0], HasSubstr("rank 0 of 3: "));
    EXPECT_THAT(all[0], HasSubstr("no end within 600 s of waiting for rank 2"));
    EXPECT_THAT(all[1], HasSubstr("no end within 600 s of waiting for rank 2"));
    EXPECT_EQ(all[2], "");
  }
}
TEST(spread, a_communicator_in_error_is_told_by_every_call) {
  for (int call = 0; call < 9; ++call) {
    auto chosen = ranks(2);
    chosen.fails_at = call;
    auto const thrown = warden::run_ranks(chosen, [&](warden::communicator const& world) {
      rank_bench<by_default> b{world, 30};
      warden::deferred later{b.on(), 100};
      for (int k = 0; k < 4; ++k) {
        b.send_alone(later, 0, 100);
        later.run();
      }
      b.on().wait();
    });
    EXPECT_THAT(texts(thrown), Each(HasSubstr("the communicator is in error")));
  }
}

}  // namespace
