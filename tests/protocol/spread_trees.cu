// SPDX-License-Identifier: Apache-2.0
// order::deterministic across ranks: the bits of one rank, however many ranks share the loop.

#include "tests/protocol/deterministic.cuh"
#include "tests/protocol/spread.cuh"

#include <cstdint>
#include <vector>

namespace {

using deterministic_test::counted;
using deterministic_test::mixed;
using deterministic_test::numbered;
using spreading::on_ranks;
using spreading::ranks;

/// Piece of a loop over the ids of records; section i is numbered i.
template <class Guarded>
struct piece {
  typename Guarded::deferred_ref out;
  std::uint32_t const* ids;
  std::uint64_t first, count;
};
template <class Guarded, class Section>
WARDEN_KERNEL void send_piece(piece<Guarded> a) {
  using block = typename Guarded::template deferred_block<64>;
  WARDEN_SHARED(typename block::storage, storage);
  block client{a.out, storage};
  client.for_each(a.count, [&](std::uint64_t i) {
    return warden::to{a.ids[a.first + i], Section{numbered{}(a.first + i)}};
  });
}
/// Sends this rank's contiguous piece of the loop, in two launches of grids that differ by rank.
template <class Section, class Guarded, class Log>
void send_share(warden::communicator const& world, Log& log,
                std::vector<std::uint32_t> const& ids) {
  warden::buffer<std::uint32_t> const on{ids};
  auto const size = static_cast<std::uint64_t>(world.size());
  auto const rank = static_cast<std::uint64_t>(world.rank());
  std::uint64_t const begin = ids.size() * rank / size, end = ids.size() * (rank + 1) / size;
  std::uint64_t const middle = begin + (end - begin) / 3;
  auto const first = log.ref(), second = log.ref();
  auto const blocks = static_cast<unsigned>(2 + rank);
  warden::launch(&send_piece<Guarded, Section>, blocks, 64u, {},
                 piece<Guarded>{second, on.data(), middle, end - middle});
  warden::launch(&send_piece<Guarded, Section>, blocks + 3, 64u, {},
                 piece<Guarded>{first, on.data(), begin, middle - begin});
  log.run();
}
std::vector<std::uint32_t> ids_with_hot_record(std::uint32_t n, std::uint32_t records) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i)
    ids[i] = test::mix(i + 1) % 3 == 0 ? records / 2 : test::id_of(i, records);
  return ids;
}

TEST(spread_trees, have_the_bits_of_one_gpu_for_any_number_of_ranks) {
  using guarded = warden::basic_spread_guarded<deterministic_test::in_trees, std::uint64_t, mixed>;
  for (std::uint32_t const records : {5u, 300u}) {
    auto const ids = ids_with_hot_record(2000, records);
    // The same tree as on one GPU; the records of ranks begin at 0.
    auto const wanted = deterministic_test::expected(ids, records, 0);
    for (int const count : {1, 2, 3}) {
      on_ranks(ranks(count, records), [&](warden::communicator const& world) {
        guarded on{world, records};
        warden::deferred log{on, ids.size(), {.room = 2 * ids.size()}};
        send_share<mixed, guarded>(world, log, ids);
        on.wait();
        auto const found = on.records().to_host();
        auto const names = spreading::ids_of(on);
        for (std::size_t place = 0; place < found.size(); ++place) {
          if (names[place] >= records) continue;
          ASSERT_EQ(found[place], wanted[names[place]])
              << "record " << names[place] << " of " << records << ", " << count << " ranks";
        }
      });
    }
  }
}
TEST(spread_trees, give_sections_the_ids_of_the_whole) {
  using policy = warden::policy<warden::options{}, warden::order::deterministic,
                                warden::context<std::uint64_t>>;
  using guarded = warden::basic_spread_guarded<policy, std::uint64_t, counted>;
  constexpr std::uint32_t records = 7;
  auto const ids = ids_with_hot_record(500, records);
  std::vector<std::uint64_t> wanted(records);
  for (std::uint64_t i = 0; i < ids.size(); ++i)
    wanted[ids[i]] += 3 * (i + 1) + (std::uint64_t{1} << 40);
  for (std::uint64_t r = 0; r < records; ++r) wanted[r] += r << 50;
  on_ranks(ranks(2), [&](warden::communicator const& world) {
    guarded on{world, records, std::uint64_t{3}};
    warden::deferred log{on, ids.size()};
    send_share<counted, guarded>(world, log, ids);
    on.wait();
    auto const found = on.records().to_host();
    auto const names = spreading::ids_of(on);
    for (std::size_t place = 0; place < found.size(); ++place) {
      if (names[place] >= records) continue;
      EXPECT_EQ(found[place], wanted[names[place]]) << names[place];
    }
  });
}

/// Section whose payload is a row of 4 equal numbers: those of `numbered`.
struct mixed_row {
  static constexpr unsigned group_size = 2;
  using part = warden::row_part<std::uint64_t, 4, 2>;
  std::uint32_t source;
  __device__ explicit mixed_row(mixed const& one)
      : source{static_cast<std::uint32_t>(one.value - 1)} {}
  __device__ warden::row<std::uint64_t const, 4> payload(std::uint64_t const* rows) const {
    return {rows, source};
  }
  __device__ static part combine(part const& a, part const& b) {
    return {test::mix(a[0] * 3 + b[0]), test::mix(a[1] * 3 + b[1])};
  }
  struct alignas(16) row {
    std::uint64_t values[4];
  };
  __device__ void operator()(row& r, part const& own, warden::lane_group<2> const& group) const {
    for (unsigned k = 0; k < part::size; ++k) {
      std::uint64_t& value = r.values[part::column(k, group)];
      value = test::mix(value + own[k]);
    }
  }
};
TEST(spread_trees, combine_rows_of_the_rank_that_owns_the_record) {
  using policy = warden::policy<warden::options{}, warden::order::deterministic,
                                warden::context<std::uint64_t const*>>;
  using guarded = warden::basic_spread_guarded<policy, mixed_row::row, mixed_row>;
  constexpr std::uint32_t records = 30;
  auto const ids = ids_with_hot_record(900, records);
  auto const wanted = deterministic_test::expected(ids, records, 0);
  std::vector<std::uint64_t> rows(ids.size() * 4);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = k / 4 + 1;
  on_ranks(ranks(2, records), [&](warden::communicator const& world) {
    warden::buffer<std::uint64_t> const own_copy{rows};
    guarded on{world, records, own_copy.data()};
    warden::deferred log{on, ids.size(), {.room = 2 * ids.size()}};
    send_share<mixed_row, guarded>(world, log, ids);
    on.wait();
    auto const found = on.records().to_host();
    auto const names = spreading::ids_of(on);
    for (std::size_t place = 0; place < found.size(); ++place) {
      if (names[place] >= records) continue;
      for (std::uint64_t const value : found[place].values)
        ASSERT_EQ(value, wanted[names[place]]) << "record " << names[place];
    }
  });
}

}  // namespace
