// SPDX-License-Identifier: Apache-2.0
// Sections on records of any rank: each that was accepted runs once, on the rank that has its
// record, and what goes wrong is told on all ranks.

#include "tests/protocol/spread.cuh"

#include <warden/detail/fused/fused_state.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <algorithm>
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

template <class Policy>
class spread_by : public testing::Test {};
using policies =
    testing::Types<deferring::small_blocks<>,
                   deferring::small_blocks<warden::executor::locks<64>, placement::on_chip>>;
TYPED_TEST_SUITE(spread_by, policies);

/// Each rank sends an equal part of n operations, half of them by threads, in three runs.
template <class Policy, unsigned Words = 1>
void run_parts(warden::communicator const& world, std::uint32_t keys, std::uint32_t n,
               warden::deferred_options chosen = {}) {
  rank_bench<Policy, Words> b{world, keys};
  warden::deferred later{b.on(), n, chosen};
  auto const size = static_cast<std::uint32_t>(world.size());
  auto const rank = static_cast<std::uint32_t>(world.rank());
  std::uint32_t const rounds = 3, each = n / (rounds * size);
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t const first = (r * size + rank) * each, middle = first + each / 2;
    b.send_alone(later, first, middle);
    b.send_together(later, middle, first + each, 3);
    later.run();
  }
  b.on().wait();
  b.expect_ran(rounds * size * each);
}

TYPED_TEST(spread_by, every_section_runs_once) {
  for (int const count : {1, 2, 3, 4}) {
    for (std::uint32_t const keys : {1u, 5000u}) {
      for (std::uint32_t const n : {12u, 2000u}) {
        on_ranks(ranks(count, n),
                 [&](warden::communicator const& world) { run_parts<TypeParam>(world, keys, n); });
      }
    }
  }
}
TYPED_TEST(spread_by, every_section_runs_once_where_the_log_is_split) {
  for (unsigned const partitions : {1u, 8u}) {
    on_ranks(ranks(3), [&](warden::communicator const& world) {
      run_parts<TypeParam>(world, 5000, 3000, {.partitions = partitions, .split = 16});
    });
  }
}

using by_default = deferring::small_blocks<>;

TEST(spread, runs_sections_of_every_width) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    run_parts<by_default, 5>(world, 77, 1000);
    run_parts<by_default, 11>(world, 77, 1000);
  });
}
TEST(spread, runs_whichever_rank_comes_last) {
  for (int late = 0; late < 3; ++late) {
    auto chosen = ranks(3, static_cast<std::uint64_t>(late));
    chosen.late_rank = late;
    on_ranks(chosen,
             [&](warden::communicator const& world) { run_parts<by_default>(world, 100, 1000); });
  }
}
TEST(spread, runs_what_one_rank_sends_and_what_all_send_to_one) {
  constexpr std::uint32_t n = 900;
  on_ranks(ranks(3), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 50};
    warden::deferred later{b.on(), n};
    // No rank has any section.
    later.run();
    if (world.rank() == 1) b.send_alone(later, 0, n);
    later.run();
    b.on().wait();
    b.expect_ran(n);
  });
  on_ranks(ranks(3), [](warden::communicator const& world) {
    rank_bench<by_default> b{world, 50};
    warden::deferred later{b.on(), n};
    b.send_alone(later, 0, n, 1);
    later.run();
    b.on().wait();
    EXPECT_EQ(b.ran(), world.rank() == 0 ? 3 * n : 0);
  });
}
TEST(spread, runs_a_log_that_is_full_on_every_rank) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 1000;
    rank_bench<by_default> b{world, 64};
    warden::deferred later{b.on(), n};
    b.send_together(later, 0, n + 7, 3);
    later.run();
    EXPECT_THAT(told([&] { b.on().wait(); }),
                HasSubstr("7 deferred sections were refused: their log holds 1000"));
    auto const mine = b.ran();
    EXPECT_GT(mine, 2 * n / 3);
    EXPECT_LT(mine, 4 * n / 3);
  });
}

/// One rank needs no partner: the same program, the same result.
TEST(spread, runs_on_one_rank_alone) {
  run_parts<by_default>(warden::communicator::alone(), 100, 1000);
  run_parts<by_default>(spreading::idle_rank(), 100, 1000);
}

struct mapped : by_default {
  /// The first half of the records is rank 1's, from the last one on.
  struct rank_owner_map {
    std::uint32_t ranks = 2, size = 0, fault = 0;
    WARDEN_DEVICE warden::record_location operator()(std::uint32_t id) const {
      std::uint32_t const half = size / 2;
      if (id < half) return {1 + fault, half - 1 - id};
      return {0, id - half};
    }
    WARDEN_DEVICE std::uint32_t id(warden::record_location place) const {
      std::uint32_t const half = size / 2;
      if (place.server == 1) return place.local < half ? half - 1 - place.local : size;
      return half + place.local;
    }
    WARDEN_HOST_DEVICE std::uint32_t servers() const { return ranks; }
    WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t n) const { return n - n / 2; }
  };
};
TEST(spread, records_may_be_dealt_out_by_a_users_map) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t keys = 101, n = 700;
    using guarded = warden::basic_spread_guarded<mapped, entry, deferring::add<1>, deferring::tick>;
    warden::buffer<std::uint64_t> refused{1};
    guarded on{world, keys, mapped::rank_owner_map{2, keys}};
    warden::deferred later{on, n};
    simt::launch(&deferring::send_alone<guarded, 1>, (n + 31) / 32, 32, 0,
                 {later.ref(), 0, n, keys, refused.data()}, {});
    later.run();
    on.wait();
    auto const found = on.records().to_host();
    auto const ids = spreading::ids_of(on);
    for (std::uint32_t place = 0; place < found.size(); ++place) {
      std::uint32_t const id = ids[place];
      if (id >= keys) continue;
      EXPECT_EQ(static_cast<int>(id < keys / 2), world.rank());
      std::uint32_t wanted = 0;
      for (std::uint32_t i = 0; i < n; ++i) wanted += deferring::id_of(i, keys) == id ? 2 : 0;
      EXPECT_EQ(found[place].count, wanted) << id;
    }
    EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [](auto id) { return id < keys; }),
              world.rank() == 1 ? keys / 2 : keys - keys / 2);
    EXPECT_THAT(told([&] {
                  guarded{world, keys, mapped::rank_owner_map{2, keys, 1}};
                }),
                HasSubstr("the owner map disagrees with itself about record"));
    EXPECT_THAT(told([&] {
                  guarded{world, keys, mapped::rank_owner_map{3, keys}};
                }),
                HasSubstr("the owner map has 3 servers, and the communicator 2 ranks"));
  });
}
struct chunked : by_default {
  struct rank_owner_map : warden::interleaved_owner_map {
    using warden::interleaved_owner_map::interleaved_owner_map;
  };
};
TEST(spread, owner_maps_that_differ_are_refused_on_all_ranks) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    using guarded = warden::basic_spread_guarded<chunked, entry, deferring::add<1>>;
    EXPECT_THAT(told([&] {
                  guarded{world, 100, {3, world.rank() == 2 ? 4u : 2u}};
                }),
                HasSubstr("rank 2 has another owner map than rank 0"));
  });
}

struct combining : by_default {
  static constexpr bool combines = true;
};
/// The partial is wider than the sample, so that logs have messages of both widths.
struct sample {
  std::uint32_t value;
  struct partial {
    std::uint64_t sum;
    std::uint32_t count;
    WARDEN_HOST_DEVICE partial() = default;
    WARDEN_HOST_DEVICE partial(sample s) : sum{s.value}, count{1} {}
    WARDEN_HOST_DEVICE static partial combine(partial a, partial b) {
      a.sum += b.sum;
      a.count += b.count;
      return a;
    }
    WARDEN_HOST_DEVICE void operator()(entry& e) const {
      e.sum += sum;
      e.count += count;
    }
  };
  WARDEN_HOST_DEVICE void operator()(entry& e) const {
    e.sum += value;
    ++e.count;
  }
};
using sampled = warden::basic_spread_guarded<combining, entry, sample>;
struct sample_arguments {
  sampled::deferred_ref ref;
  std::uint32_t first, end;
};
WARDEN_KERNEL void send_samples(sample_arguments a) {
  using block = sampled::deferred_block<32>;
  block client{a.ref, *reinterpret_cast<block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t i = a.first; i < a.end; i += 32) {
    std::uint32_t const mine = i + simt::thread_rank();
    client.send(mine % 8 == 0 ? mine % 40 : mine % 2, sample{mine}, mine < a.end);
  }
  client.flush();
}
TEST(spread, what_repeats_is_combined_before_it_travels) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    constexpr std::uint32_t n = 5000, keys = 40;
    sampled on{world, keys};
    warden::deferred later{on, n};
    std::uint32_t const first = static_cast<std::uint32_t>(world.rank()) * n;
    for (int k = 0; k < 2; ++k) {
      simt::launch(&send_samples, 1, 32, sizeof(sampled::deferred_block<32>::storage),
                   {later.ref(), first, first + n}, {});
      later.run();
    }
    on.wait();
    std::vector<entry> expected(keys);
    for (std::uint32_t i = 0; i < 3 * n; ++i) {
      entry& e = expected[i % 8 == 0 ? i % 40 : i % 2];
      e.sum += 2 * i;
      e.count += 2;
    }
    auto const found = on.records().to_host();
    auto const ids = spreading::ids_of(on);
    for (std::uint32_t place = 0; place < found.size(); ++place) {
      std::uint32_t const id = ids[place];
      if (id >= keys) continue;
      EXPECT_EQ(found[place].count, expected[id].count) << id;
      EXPECT_EQ(found[place].sum, expected[id].sum) << id;
    }
  });
}

// ---- what goes wrong

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
      EXPECT_THAT(text, HasSubstr("no error here, but on rank 1, whose wait tells it"));
    }
    // Told once; the guarded array goes on.
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
                    "what the logs hold was not run, and is still there: give the option room"));
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
/// Kernels that send while a log is emptied may take rows in vain, until there is none for what was
/// sent by threads alone.
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
      EXPECT_THAT(e.all()[1].example,
                  HasSubstr(world.rank() == 0 ? ": errors also on rank 1, whose wait tells it"
                                              : ": errors also on rank 0, whose wait tells it"));
    } catch (warden::other_rank_error const& e) {
      EXPECT_EQ(world.rank(), 2);
      ASSERT_EQ(e.all().size(), 1u);
      EXPECT_EQ(e.all()[0].count, 2u);
      EXPECT_THAT(e.what(), HasSubstr("no error here, but on rank 0, 1, whose wait tells it"));
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
    EXPECT_THAT(told([&] {
                  warden::deferred later{b.on(), 100, {.partitions = 512}};
                }),
                HasSubstr("512 partitions; a log on the records of 2 ranks has 256 for each"));
    EXPECT_THAT(told([&] {
                  warden::deferred later{b.on(), 100, {.room = std::size_t{1} << 31}};
                }),
                HasSubstr("room for 2147483648 sections; the limit is 1073741824"));
  });
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
    // No rank allocates or frees memory while another rank captures.
    b.on().wait();
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
