// SPDX-License-Identifier: Apache-2.0
// Sections on records of any rank: each that was accepted runs once, on the rank that has its
// record.

#include "tests/protocol/spread.cuh"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

namespace {

namespace simt = warden::simt;
using spreading::entry;
using spreading::on_ranks;
using spreading::rank_bench;
using spreading::ranks;
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

/// The first half of the records is rank 1's, from the last one on.
struct halves_reversed {
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
using mapped = warden::with_parts<by_default, warden::rank_owners<halves_reversed>>;
TEST(spread, records_may_be_dealt_out_by_a_users_map) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    constexpr std::uint32_t keys = 101, n = 700;
    using guarded = warden::basic_spread_guarded<mapped, entry, deferring::add<1>, deferring::tick>;
    warden::buffer<std::uint64_t> refused{1};
    guarded on{world, keys, halves_reversed{2, keys}};
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
                  guarded{world, keys, halves_reversed{2, keys, 1}};
                }),
                HasSubstr("the owner map is inconsistent about record"));
    EXPECT_THAT(told([&] {
                  guarded{world, keys, halves_reversed{3, keys}};
                }),
                HasSubstr("the owner map has 3 servers, and the communicator 2 ranks"));
  });
}
struct chunks : warden::interleaved_owner_map {
  using warden::interleaved_owner_map::interleaved_owner_map;
};
using chunked = warden::with_parts<by_default, warden::rank_owners<chunks>>;
TEST(spread, owner_maps_that_differ_are_refused_on_all_ranks) {
  on_ranks(ranks(3), [](warden::communicator const& world) {
    using guarded = warden::basic_spread_guarded<chunked, entry, deferring::add<1>>;
    EXPECT_THAT(told([&] {
                  guarded{world, 100, {3, world.rank() == 2 ? 4u : 2u}};
                }),
                HasSubstr("rank 2 has another owner map than rank 0"));
  });
}

/// The partial is wider than the sample, so that logs have messages of both widths.
struct sample {
  std::uint32_t value;
  struct partial {
    std::uint64_t sum;
    std::uint32_t count;
    partial() = default;
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
using sampled = warden::basic_spread_guarded<by_default, entry, sample>;
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

}  // namespace
