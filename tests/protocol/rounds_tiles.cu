// SPDX-License-Identifier: Apache-2.0
// The number of tiles of a run in rounds: near the best measured one, by the properties of the
// device, and the number that a log is made with.

#include "tests/support/support.cuh"

#include <warden/deferred_pairs.cuh>
#include <warden/detail/pairs/rounds_tiles.cuh>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <source_location>
#include <string>
#include <vector>

namespace {

using warden::detail::rounds_load;
using warden::detail::rounds_tiles;

constexpr unsigned most = 512;

struct alignas(16) account {
  std::int64_t balance;
};
struct transfer {
  std::int64_t amount;
  __device__ void operator()(account& from, account& to) const {
    from.balance -= amount;
    to.balance += amount;
  }
};

/// An H100 with 16-byte records and blocks of 512 threads.
constexpr rounds_load h100(std::uint64_t sections, std::uint64_t records) {
  return {sections, records, 12'000, 512, 132};
}

/// Microseconds of a run with 1, 2, 4 to 512 tiles, as measured; 0: not measured, because it takes
/// several times as long as others.
struct measured {
  unsigned sections_log2;
  std::uint64_t records;
  std::array<double, 10> microseconds;
};
// Transfers between 1,024 and 32,768 accounts (apps/bank_transfer, with the audited pairs).
measured const runs[] = {
    {12, 1056, {90, 75, 89, 103, 142, 201, 300, 415, 617, 461}},
    {13, 1056, {106, 91, 95, 118, 160, 226, 330, 492, 934, 800}},
    {14, 1056, {152, 126, 110, 135, 188, 249, 371, 548, 1260, 1370}},
    {15, 1056, {243, 193, 161, 168, 216, 294, 418, 630, 1460, 2109}},
    {16, 1056, {435, 340, 263, 221, 280, 414, 506, 739, 1640, 2787}},
    {17, 1056, {824, 634, 469, 373, 376, 504, 728, 910, 1803, 3352}},
    {18, 1056, {1586, 1162, 880, 678, 573, 959, 929, 1368, 2015, 4761}},
    {19, 1056, {3122, 2289, 1713, 1283, 1317, 1870, 1515, 1765, 2386, 5679}},
    {20, 1056, {6235, 4555, 3396, 2520, 2005, 2878, 2678, 2632, 3001, 6300}},
    {21, 1056, {13046, 9393, 6935, 5042, 3982, 7354, 4288, 4065, 3905, 7252}},
    {22, 1056, {26193, 19097, 14002, 10116, 7935, 13177, 7489, 7153, 5317, 8485}},
    {23, 1056, {53110, 38805, 28012, 20722, 15812, 27148, 15956, 11320, 7831, 10514}},
    {24, 1056, {0, 77820, 55814, 43986, 31761, 54931, 27174, 20954, 12700, 14542}},
    {25, 1056, {0, 0, 111653, 89404, 63973, 110354, 54015, 44119, 22569, 22657}},
    {26, 1056, {0, 0, 223434, 182612, 126888, 220548, 106948, 74426, 42684, 38901}},
    {14, 33'792, {160, 127, 94, 94, 109, 177, 272, 487, 858, 967}},
    {16, 33'792, {500, 362, 225, 168, 160, 194, 324, 538, 1023, 1884}},
    {18, 33'792, {1884, 1310, 752, 354, 275, 305, 394, 608, 1106, 3051}},
    {19, 33'792, {0, 2579, 1454, 594, 417, 380, 457, 702, 1228, 3462}},
    {20, 33'792, {0, 0, 2891, 1097, 667, 510, 549, 793, 1358, 3727}},
    {22, 33'792, {0, 0, 11719, 4468, 2491, 1566, 1081, 1450, 2000, 5292}},
    {24, 33'792, {0, 0, 0, 17639, 9558, 5722, 3559, 2800, 4077, 8200}},
    {26, 33'792, {0, 0, 0, 0, 37760, 22220, 13480, 9769, 9855, 17990}},
};

TEST(rounds_tiles, are_nearly_the_fastest_that_were_measured) {
  for (measured const& run : runs) {
    SCOPED_TRACE("2^" + std::to_string(run.sections_log2) + " sections on " +
                 std::to_string(run.records) + " records");
    unsigned const tiles = rounds_tiles(h100(1ull << run.sections_log2, run.records), most);
    std::vector<double> times;
    std::copy_if(run.microseconds.begin(), run.microseconds.end(), std::back_inserter(times),
                 [](double t) { return t > 0; });
    double const best = *std::min_element(times.begin(), times.end());
    double const chosen = run.microseconds.at(static_cast<unsigned>(std::countr_zero(tiles)));
    EXPECT_GT(chosen, 0) << tiles << " tiles";
    EXPECT_LE(0.9 * chosen, best) << tiles << " tiles";
  }
}

/// Long pairs of different tiles wait for each other: see rounds_runner.
TEST(rounds_tiles, neighbours_share_a_tile) {
  struct run : warden::detail::run_ref_of<warden::policy<>, account, transfer> {
    explicit run(std::uint64_t records) { size = records; }
  };
  using runner = warden::detail::log_runner_of<warden::policy<>, account, transfer>;
  auto const chunk = [](std::uint64_t records, unsigned tiles) {
    warden::buffer<account> const accounts{records};
    warden::guarded<account, transfer> const guarded{accounts};
    run r{records};
    return runner{guarded}
        .plan_partitions(r, {.partitions = tiles}, 1 << 20, std::source_location::current())
        .chunk();
  };
  EXPECT_EQ(chunk(1056, 256), 4u);
  EXPECT_EQ(chunk(1056, 128), 8u);
  EXPECT_EQ(chunk(1056, 4), 8u) << "more would be more than a line of memory";
  EXPECT_EQ(chunk(256, 256), 1u);
}

TEST(rounds_tiles, follow_the_device) {
  // More blocks do not help where one round's pairs of tiles are fewer.
  EXPECT_EQ(rounds_tiles(h100(1 << 16, 1056), most),
            rounds_tiles({1 << 16, 1056, 12'000, 512, 1000}, most));
  // With few multiprocessors, more tiles would be more rounds and no more blocks at once.
  EXPECT_LT(rounds_tiles({1 << 26, 1 << 15, 12'000, 512, 4}, most),
            rounds_tiles(h100(1 << 26, 1 << 15), most));
  EXPECT_EQ(rounds_tiles(h100(1 << 26, 1), most), 1u);
}

struct move {
  int amount;
  __device__ void operator()(int& from, int& to, warden::no_context) const {
    from -= amount;
    to += amount;
  }
};

TEST(rounds_tiles, of_a_log) {
  std::uint32_t const records = 1056;
  warden::buffer<int> all{records};
  warden::guarded<int, move> guarded{all.data(), records};
  using log = warden::deferred<warden::policy<>, int, move>;
  auto const tiles_of = [&](std::size_t sections, unsigned chosen) {
    log made{guarded, sections, {.partitions = chosen}};
    return made.ref().log.partitions.partitions();
  };
  auto const multiprocessors = static_cast<unsigned>(warden::runtime::facts(0).multiprocessors);
  for (std::size_t const sections : {1u << 12, 1u << 16, 1u << 20}) {
    EXPECT_EQ(tiles_of(sections, 0),
              rounds_tiles({sections, records, records, 512, multiprocessors}, most));
    EXPECT_EQ(tiles_of(sections, 64), 64u);
  }
  EXPECT_LT(tiles_of(1 << 12, 0), tiles_of(1 << 20, 0));
}

}  // namespace
