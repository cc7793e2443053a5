// SPDX-License-Identifier: Apache-2.0
// Allocation within kernels: by blocks, in order or not, and by lanes in any control flow.

#include "tests/allocate/in_kernels.cuh"
#include "tests/support/error_text.hpp"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace {

using testing::HasSubstr;

std::size_t items() { return test::sized<std::size_t>(500, 200'000); }
unsigned blocks() { return test::sized(3u, 500u); }

TEST(in_kernels, blocks_without_an_order) {
  test::emission e{items(), 1};
  e.launch(&test::emit_unordered, blocks());
  e.expect_all(test::same::elements);
}
TEST(in_kernels, blocks_in_order) {
  for (unsigned const some : {1u, blocks(), 4 * blocks()}) {
    test::emission e{items(), 1};
    e.launch_in_order(&test::emit_ordered, some);
    e.expect_all(test::same::order);
  }
}
TEST(in_kernels, lanes_that_differ) {
  test::emission e{items(), 1};
  e.launch(&test::emit_by_lanes, blocks());
  e.expect_all(test::same::elements);
}
TEST(in_kernels, places_beyond_the_capacity_are_counted) {
  test::emission e{items(), 2};
  e.launch(&test::emit_unordered, blocks());
  EXPECT_THAT(e.error_text(), HasSubstr("output: " + std::to_string(e.wanted.size()) +
                                        " elements were emitted; the capacity is " +
                                        std::to_string(e.wanted.size() / 2)));
  e.out.clear_async(e.stream);
  e.launch_in_order(&test::emit_ordered, blocks());
  EXPECT_THAT(e.error_text(), HasSubstr(" elements were emitted; the capacity is "));
  std::vector<std::uint64_t> const got = e.memory.to_host(e.stream);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), e.wanted.begin()));
}

/// Tiles with odd numbers are taken, and nothing is allocated for them.
WARDEN_KERNEL void emit_every_second_tile(test::ordered_emission a) {
  WARDEN_SHARED(test::ordered_allocator::storage, storage);
  test::ordered_allocator places{a.tiles, storage};
  while (places.next_tile()) {
    if (places.tile() % 2 != 0) continue;
    std::uint64_t const i = places.tile() * test::block + warden::simt::thread_rank();
    std::uint32_t const count = i < a.n ? a.counts[i] : 0;
    test::put(a.out, i, places.allocate(count), count);
  }
}
TEST(in_kernels, a_tile_without_an_allocation_takes_no_places) {
  test::emission e{items(), 1};
  e.launch_in_order(&emit_every_second_tile, blocks());
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t const element : e.wanted) {
    if (((element >> 32) - 1) / test::block % 2 == 0) wanted.push_back(element);
  }
  ASSERT_EQ(e.out.wait(e.stream), wanted.size());
  auto const got = e.memory.to_host(e.stream);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin()));
}

WARDEN_KERNEL void allocate_twice(test::ordered_emission a) {
  WARDEN_SHARED(test::ordered_allocator::storage, storage);
  test::ordered_allocator places{a.tiles, storage};
  while (places.next_tile()) {
    places.allocate(1);
    a.out.store(places.allocate(1), 1);
  }
}
TEST(in_kernels, a_tile_gets_places_once) {
  test::emission e{items(), 1};
  e.launch_in_order(&allocate_twice, blocks());
  EXPECT_THAT(e.error_text(),
              HasSubstr("allocate was called without a tile, or again for a tile, by " +
                        std::to_string(e.tiles()) + " blocks"));
  e.out.clear_async(e.stream);
  EXPECT_EQ(e.out.wait(e.stream), 0u);
}

WARDEN_KERNEL void take_one_tile(test::ordered_emission a) {
  WARDEN_SHARED(test::ordered_allocator::storage, storage);
  test::ordered_allocator places{a.tiles, storage};
  places.next_tile();
}
TEST(in_kernels, tiles_that_were_not_taken_are_reported) {
  test::emission e{items(), 1};
  e.launch_in_order(&take_one_tile, 2);
  EXPECT_THAT(e.error_text(), HasSubstr("allocation in order: no block took " +
                                        std::to_string(e.tiles() - 2) + " of its tiles"));
  // Whatever comes after.
  e.launch_in_order(&test::emit_ordered, blocks());
  EXPECT_THAT(e.error_text(), HasSubstr("no block took " + std::to_string(e.tiles() - 2) + " of"));
  e.out.clear_async(e.stream);
  e.launch_in_order(&test::emit_ordered, blocks());
  e.expect_all(test::same::order);
}

TEST(in_kernels, everything_that_went_wrong_is_reported_together) {
  test::emission e{items(), 2};
  e.launch_in_order(&test::emit_ordered, blocks());
  e.launch_in_order(&take_one_tile, 2);
  try {
    e.out.wait(e.stream);
    FAIL() << "no error";
  } catch (warden::limit_error const& error) {
    ASSERT_EQ(error.all().size(), 2u) << error.what();
    EXPECT_EQ(error.all()[0].count, e.tiles() - 2);
    EXPECT_THAT(error.all()[0].example, HasSubstr("no block took"));
    EXPECT_EQ(error.all()[1].count, e.wanted.size() - e.wanted.size() / 2);
    EXPECT_THAT(error.all()[1].example, HasSubstr("elements were emitted; the capacity is"));
  }
}

TEST(in_kernels, a_graph_has_its_own_tiles) {
  test::emission e{items(), 1};
  e.launch_in_order(&test::emit_ordered, 2);
  e.expect_all(test::same::order);
  std::uint64_t const more = 3 * e.tiles();
  (void)e.out.tiles_async(more, e.stream);
  e.out.clear_async(e.stream);
  auto const capture = [&](std::uint64_t tiles, unsigned blocks, auto kernel) {
    return warden::graph::capture(e.stream, [&] {
      e.out.clear_async(e.stream);
      warden::launch(kernel, blocks, test::block, e.stream,
                     {e.arguments(), e.out.tiles_async(tiles, e.stream)});
    });
  };
  auto const right = capture(e.tiles(), 2, &test::emit_ordered);
  auto const leaves_some = capture(more, 2, &take_one_tile);
  right.launch(e.stream);
  e.expect_all(test::same::order);
  leaves_some.launch(e.stream);
  EXPECT_THAT(e.error_text(), HasSubstr("no block took " + std::to_string(more - 2) + " of"));
  right.launch(e.stream);
  e.expect_all(test::same::order);
}

WARDEN_KERNEL void take_one_each(test::unordered_emission a) {
  WARDEN_SHARED(test::unordered_allocator::storage, storage);
  a.out.store(test::unordered_allocator{a.out.counter(), storage}.allocate(1), 1);
}
WARDEN_KERNEL void take_one_each_in_order(test::ordered_emission a) {
  WARDEN_SHARED(test::ordered_allocator::storage, storage);
  test::ordered_allocator places{a.tiles, storage};
  while (places.next_tile()) a.out.store(places.allocate(1), 1);
}
WARDEN_KERNEL void take_one_each_by_lanes(test::unordered_emission a) {
  a.out.store(warden::allocate_in_warp(a.out.counter(), warden::simt::full_warp, 1), 1);
}
TEST(in_kernels, blocks_and_grids_have_any_dimensions) {
  for (warden::dimensions const block : {warden::dimensions{32, 2}, {8, 8}, {1, 64}, {4, 4, 4}}) {
    SCOPED_TRACE(std::to_string(block.x) + " x " + std::to_string(block.y));
    test::emission e{items(), 1};
    warden::dimensions const grid{2, 3, 2};
    e.launch(&test::emit_unordered, grid, block);
    e.expect_all(test::same::elements);
    e.out.clear_async(e.stream);
    e.launch_in_order(&test::emit_ordered, grid, block);
    e.expect_all(test::same::order);
    e.out.clear_async(e.stream);
    e.launch(&test::emit_by_lanes, grid, block);
    e.expect_all(test::same::elements);
  }
}

TEST(in_kernels, blocks_of_another_number_of_threads_are_reported) {
  for (warden::dimensions const block :
       {warden::dimensions{32}, {128}, {64, 2}, {8, 12}, {4, 4, 2}}) {
    SCOPED_TRACE(std::to_string(block.x) + " x " + std::to_string(block.y));
    test::emission e{items(), 1};
    warden::launch(&take_one_each, 2, block, e.stream, e.arguments());
    EXPECT_THAT(e.error_text(),
                HasSubstr("block_allocator: a launch has blocks of another number"));
    e.out.clear_async(e.stream);
    warden::launch(&take_one_each_in_order, 2, block, e.stream,
                   {e.arguments(), e.out.tiles_async(3, e.stream)});
    EXPECT_THAT(e.error_text(),
                HasSubstr("block_allocator: a launch has blocks of another number"));
    // Lanes are lanes.
    e.out.clear_async(e.stream);
    warden::launch(&take_one_each_by_lanes, 2, block, e.stream, e.arguments());
    EXPECT_EQ(e.out.wait(e.stream), 2 * block.count());
    std::vector<std::uint64_t> const got = e.memory.to_host(e.stream);
    EXPECT_EQ(std::count(got.begin(), got.begin() + 2 * block.count(), 1u), 2 * block.count());
  }
}

/// Sums beyond 32 bits, and beyond what a counter tells.
struct large : test::unordered_emission {
  std::uint64_t each;
};
WARDEN_KERNEL void take_many_each(large a) {
  WARDEN_SHARED(test::unordered_allocator::storage, storage);
  test::unordered_allocator places{a.out.counter(), storage};
  std::uint64_t const by_block = places.allocate(a.each);
  std::uint64_t const by_lane =
      warden::allocate_in_warp(a.out.counter(), warden::simt::full_warp, a.each);
  // Any two that two threads got are apart by one's places at least.
  if (by_block % a.each == 0 && by_lane % a.each == 0) a.out.store(by_block / a.each, 1);
  if (by_block % a.each == 0 && by_lane % a.each == 0) a.out.store(by_lane / a.each, 1);
}
TEST(in_kernels, sums_beyond_32_bits) {
  test::emission e{items(), 1};
  for (std::uint64_t const each : {std::uint64_t{3'000'000'000}, std::uint64_t{1} << 40}) {
    e.out.clear_async(e.stream);
    warden::launch(&take_many_each, 1, test::block, e.stream, {e.arguments(), each});
    EXPECT_EQ(e.out.needed(e.stream), 2 * test::block * each);
    std::vector<std::uint64_t> const got = e.memory.to_host(e.stream);
    EXPECT_EQ(std::count(got.begin(), got.begin() + 2 * test::block, 1u), 2 * test::block);
  }
  e.out.clear_async(e.stream);
  warden::launch(&take_many_each, 1, test::block, e.stream,
                 {e.arguments(), std::uint64_t{1} << 50});
  EXPECT_THAT(e.error_text(),
              HasSubstr("output: more than 288230376151711743 elements were emitted"));
}
TEST(in_kernels, sums_of_many_calls_do_not_wrap_around) {
  test::emission e{items(), 1};
  constexpr std::uint64_t each = std::uint64_t{1} << 41;
  std::uint64_t const taken = warden::no_place - each;
  warden::copy(e.out.ref().counter(), &taken, 1, e.stream);
  // The first call takes the last places.
  warden::launch(&take_many_each, 4, test::block, e.stream, {e.arguments(), each});
  std::uint64_t counter = 0;
  warden::copy(&counter, e.out.ref().counter(), 1, e.stream);
  EXPECT_THAT(e.error_text(),
              HasSubstr("output: more than 288230376151711743 elements were emitted: emit fewer, "
                        "or call clear_async between allocations"));
  EXPECT_GE(counter, warden::no_place);
  EXPECT_LT(counter, taken + (test::block + 1) * each);
}
struct large_in_order : test::ordered_emission {
  std::uint64_t each;   ///< for the threads of the first tiles
  std::uint64_t first;  ///< a later thread takes one place
};
WARDEN_KERNEL void take_many_each_in_order(large_in_order a) {
  WARDEN_SHARED(test::ordered_allocator::storage, storage);
  test::ordered_allocator places{a.tiles, storage};
  while (places.next_tile()) a.out.store(places.allocate(places.tile() < a.first ? a.each : 1), 1);
}
TEST(in_kernels, sums_in_order_do_not_wrap_around) {
  test::emission e{items(), 1};
  for (unsigned const log2 : {44u, 50u, 58u, 63u}) {
    // The sums of whole groups, and those of parts.
    for (std::uint64_t const first : {32, 64, 99}) {
      e.out.clear_async(e.stream);
      warden::launch(
          &take_many_each_in_order, 2, test::block, e.stream,
          {{e.arguments(), e.out.tiles_async(100, e.stream)}, std::uint64_t{1} << log2, first});
      EXPECT_THAT(e.error_text(),
                  HasSubstr("output: more than 288230376151711743 elements were emitted"));
      std::vector<std::uint64_t> const got = e.memory.to_host(e.stream);
      EXPECT_EQ(std::count(got.begin(), got.end(), 1u), 1) << "the first place alone";
    }
  }
}

/// Words that blocks of `meet_at_tile_40` send one another.
struct meeting : test::ordered_emission {
  std::uint32_t* announced;  ///< by tile 40
  std::uint32_t* placed;     ///< by tile 40
};
/// A tile a warp. Tile 0 has its place only after tile 40 was announced, tile 39 tells its end only
/// after tile 40 has its place: so tile 40 adds up the sums of more tiles than a warp has lanes.
WARDEN_KERNEL void meet_at_tile_40(meeting a) {
  namespace simt = warden::simt;
  std::uint64_t const tile =
      simt::shuffle(simt::full_warp, simt::lane_id() == 0 ? a.tiles.take() : std::uint64_t{0}, 0);
  if (tile >= a.tiles.tiles()) return;
  bool const is_first = simt::lane_id() == 0;
  auto const wait_for = [&](std::uint32_t* word) {
    simt::wait_until([&] { return simt::load_relaxed(word) != 0; }, [] { return true; },
                     [&](auto watch) { watch(word); });
  };
  if (tile == 0) wait_for(a.announced);
  if (is_first) a.tiles.announce(tile, tile + 1);
  if (tile == 40 && is_first) simt::store_relaxed(a.announced, 1u);
  if (tile == 39) wait_for(a.placed);
  std::uint64_t const place = a.tiles.first_place(tile, tile + 1);
  if (tile == 40 && is_first) simt::store_relaxed(a.placed, 1u);
  for (std::uint64_t k = simt::lane_id(); k <= tile; k += simt::warp_size)
    a.out.store(place + k, tile);
}
TEST(in_kernels, tiles_add_up_what_was_announced) {
  test::emission e{items(), 1, {.nanoseconds = 2'000'000'000}};
  unsigned const tiles = 41;
  warden::buffer<std::uint32_t> flags{2};
  flags.fill_bytes(0, e.stream);
  test::ordered_emission const given{{}, e.out.tiles_async(tiles, e.stream)};
  meeting a{given, flags.data(), flags.data() + 1};
  a.out = e.out.ref();
  warden::launch(&meet_at_tile_40, (tiles + 1) / 2, 64, e.stream, a);
  ASSERT_EQ(e.out.wait(e.stream), tiles * (tiles + 1) / 2);
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) wanted.insert(wanted.end(), tile + 1, tile);
  auto const got = e.memory.to_host(e.stream);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin()));
}

/// Waits for another block that has taken tile 0 and never allocates.
WARDEN_KERNEL void wait_in_vain(test::ordered_emission a) {
  if (warden::simt::warp_rank() != 0) return;
  a.out.store(a.tiles.first_place(1, 1), 1);
}
TEST(in_kernels, no_wait_is_endless) {
  test::emission e{items(), 1, {.nanoseconds = 200'000'000}};
  e.launch_in_order(&wait_in_vain, 1);
  EXPECT_THAT(test::error_of<warden::timeout_error>([&] { e.out.wait(e.stream); }),
              HasSubstr("no progress for 0.2 s: block 0 of an allocation in order waited for the "
                        "places of tile 0"));
  EXPECT_EQ(e.memory.to_host(e.stream)[0], 0xa5a5a5a5a5a5a5a5u);
}

}  // namespace
