// SPDX-License-Identifier: Apache-2.0
// What no program may do on a GPU is an error on the simulated device, with every thread's place.

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>

namespace {

using testing::HasSubstr;
namespace simt = warden::simt;

struct arguments {
  std::uint64_t* word = nullptr;
};

std::string error_of(void (*kernel)(arguments), arguments a = {}, warden::dimensions block = 64,
                     warden::dimensions grid = 2) {
  try {
    warden::launch(kernel, {.grid = grid, .block = block, .shared_bytes = 256}, {}, a);
    warden::stream_ref{}.synchronize();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}

class misuse : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }
};

WARDEN_KERNEL void one_thread_skips_the_barrier(arguments) {
  if (simt::thread_rank() != 5) simt::sync_block();
}
TEST_F(misuse, a_barrier_that_not_all_reach) {
  auto const error = error_of(&one_thread_skips_the_barrier);
  EXPECT_THAT(error,
              testing::AnyOf(HasSubstr("ended while others of its block wait at a barrier"),
                             HasSubstr("barrier reached after 1 threads of the block have ended")));
  EXPECT_THAT(error, HasSubstr("misuse.cu:"));
}

WARDEN_KERNEL void barrier_in_half_a_block(arguments) {
  if (simt::thread_rank() < 32) {
    simt::sync_block();
  } else {
    simt::sync_warp(simt::full_warp);
    simt::wait_until([] { return false; }, [] { return true; }, [](auto) {});
  }
}
TEST_F(misuse, a_deadlock_of_a_barrier_and_a_wait) {
  warden::sim::settings s;
  s.deadlock_is_error = true;
  warden::sim::configure(s);
  auto const error = error_of(&barrier_in_half_a_block);
  EXPECT_THAT(error, HasSubstr("every thread sleeps"));
  EXPECT_THAT(error, HasSubstr("at a barrier, misuse.cu:"));
  EXPECT_THAT(error, HasSubstr("waits, misuse.cu:"));
}

std::string error_of_cluster(void (*kernel)(arguments)) {
  try {
    arguments a;
    void* all[] = {&a};
    warden::runtime::launch(simt::make_kernel(kernel), {4, 32, 256, true, 2}, all, {});
    warden::stream_ref{}.synchronize();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}
WARDEN_KERNEL void one_thread_skips_the_cluster(arguments) {
  if (simt::block_rank() != 2 || simt::thread_rank() != 5) simt::sync_cluster();
}
TEST_F(misuse, a_barrier_that_not_all_of_a_cluster_reach) {
  EXPECT_THAT(error_of_cluster(&one_thread_skips_the_cluster),
              testing::AnyOf(HasSubstr("ended while others of its cluster wait at a barrier"),
                             HasSubstr("reached after 1 threads of its block 2 have ended")));
}
WARDEN_KERNEL void static_of_a_cluster(arguments) {
  WARDEN_SHARED(std::uint32_t, word);
  simt::cluster_store(word, 1, 7u);
}
TEST_F(misuse, another_blocks_static_memory) {
  EXPECT_THAT(error_of_cluster(&static_of_a_cluster), HasSubstr("it is not dynamic shared memory"));
}
WARDEN_KERNEL void beyond_a_cluster(arguments) {
  simt::cluster_load(*reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), 2);
}
TEST_F(misuse, a_block_that_a_cluster_does_not_have) {
  EXPECT_THAT(error_of_cluster(&beyond_a_cluster),
              HasSubstr("shared memory of block 2 of a cluster of 2"));
}
WARDEN_KERNEL void of_an_ended_block(arguments) {
  simt::sync_cluster();
  if (simt::cluster_rank() == 0) return;
  while (true) {
    simt::cluster_store(*reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), 0, 7u);
    simt::back_off(0);
  }
}
TEST_F(misuse, memory_of_a_block_that_has_ended) {
  EXPECT_THAT(error_of_cluster(&of_an_ended_block), HasSubstr(", which has ended"));
}

WARDEN_KERNEL void mask_without_me(arguments) { simt::ballot(0xfffeu, true); }
TEST_F(misuse, a_mask_without_the_caller) {
  EXPECT_THAT(error_of(&mask_without_me), HasSubstr("mask lacks the calling lane"));
}

WARDEN_KERNEL void different_masks(arguments) {
  simt::sync_warp(simt::lane_id() == 3 ? 0x0000ffffu : simt::full_warp);
}
TEST_F(misuse, different_masks_in_one_collective) {
  EXPECT_THAT(error_of(&different_masks),
              HasSubstr("different collectives, or with different masks"));
}

WARDEN_KERNEL void an_ended_lane(arguments) {
  if (simt::lane_id() == 7) return;
  simt::ballot(simt::full_warp, true);
}
TEST_F(misuse, a_mask_that_names_an_ended_lane) {
  EXPECT_THAT(error_of(&an_ended_lane),
              testing::AnyOf(HasSubstr("which has ended"), HasSubstr("lane ended")));
}

WARDEN_KERNEL void beyond_a_span(arguments) {
  simt::shared_span<int> const span{reinterpret_cast<int*>(simt::dynamic_shared()), 64};
  span[simt::thread_rank() + 1] = 0;
}
TEST_F(misuse, an_index_outside_a_span) {
  EXPECT_THAT(error_of(&beyond_a_span), HasSubstr("index 64 outside a shared span of 64"));
}

WARDEN_KERNEL void beyond_the_arena(arguments) { simt::dynamic_shared()[256] = std::byte{0}; }
TEST_F(misuse, a_write_past_the_arena) {
  EXPECT_THAT(error_of(&beyond_the_arena), HasSubstr("wrote past its 256 bytes of shared memory"));
}

WARDEN_KERNEL void for_ever(arguments) {
  if (simt::thread_rank() == 0) simt::sync_block();
  while (true) simt::back_off(0);
}
TEST_F(misuse, a_launch_without_end) {
  warden::sim::settings s;
  s.max_steps = 100'000;
  warden::sim::configure(s);
  EXPECT_THAT(error_of(&for_ever), testing::AllOf(HasSubstr("no end after 100000 steps"),
                                                  HasSubstr("thread 0: at a barrier, misuse.cu:"),
                                                  HasSubstr("thread 1: spins, misuse.cu:")));
}
TEST_F(misuse, a_launch_without_end_ends_within_a_minute_by_default) {
  for (auto const order : {warden::sim::schedule::random, warden::sim::schedule::pct}) {
    constexpr unsigned part = 50;
    warden::sim::settings s;
    s.order = order;
    s.max_steps /= part;
    warden::sim::configure(s);
    std::clock_t const begin = std::clock();
    EXPECT_THAT(error_of(&for_ever), HasSubstr("no end after"));
    EXPECT_LT(part * (std::clock() - begin), 60 * CLOCKS_PER_SEC);
  }
}

WARDEN_KERNEL void two_in_one_record(arguments a) {
  simt::section_enter(a.word);
  *a.word += 1;
  // No lane leaves before the other one has come.
  simt::sync_block();
  simt::section_leave(a.word);
}
TEST_F(misuse, overlapping_sections) {
  warden::buffer<std::uint64_t> word{1};
  EXPECT_THAT(error_of(&two_in_one_record, {word.data()}), HasSubstr("overlapping sections"));
}

template <bool Acquires, bool Releases>
WARDEN_KERNEL void one_at_a_time(arguments a) {
  while (simt::compare_exchange(a.word, std::uint64_t{0}, std::uint64_t{1}) != 0) simt::back_off(0);
  if (Acquires) simt::fence_device();
  simt::section_enter(a.word + 1);
  a.word[1] += 1;
  simt::section_leave(a.word + 1);
  if (Releases) simt::fence_device();
  simt::exchange(a.word, std::uint64_t{0});
}
TEST_F(misuse, sections_under_a_lock_do_not_overlap) {
  warden::buffer<std::uint64_t> words{2};
  words.fill_bytes(0);
  EXPECT_EQ(error_of(&one_at_a_time<true, true>, {words.data()}), "no error");
  EXPECT_EQ(words.to_host()[1], 128u);
}
TEST_F(misuse, a_lock_without_its_fences_does_not_order_sections) {
  warden::buffer<std::uint64_t> words{2};
  for (auto kernel : {&one_at_a_time<false, true>, &one_at_a_time<true, false>}) {
    words.fill_bytes(0);
    EXPECT_THAT(error_of(kernel, {words.data()}), HasSubstr("unordered sections"));
  }
}

/// Thread 0 fills an object and links it; thread 1 reads it once it is linked.
template <bool Acquires, bool Releases>
WARDEN_KERNEL void link_an_object(arguments a) {
  if (simt::block_rank() != 0) return;
  if (simt::thread_rank() == 0) {
    a.word[1] = 7;
    simt::note_written(a.word + 1);
    if (Releases) simt::fence_device();
    simt::exchange(a.word, std::uint64_t{1});
  } else if (simt::thread_rank() == 1) {
    while (simt::load_relaxed(a.word) == 0) simt::back_off(0);
    if (Acquires) simt::fence_device();
    simt::demand_visible(a.word + 1);
  }
}
TEST_F(misuse, an_object_that_is_read_without_fences) {
  warden::buffer<std::uint64_t> words{2};
  for (auto kernel : {&link_an_object<false, true>, &link_an_object<true, false>}) {
    words.fill_bytes(0);
    EXPECT_THAT(error_of(kernel, {words.data()}),
                testing::AllOf(HasSubstr("unordered load: "), HasSubstr("misuse.cu:")));
  }
  words.fill_bytes(0);
  EXPECT_EQ(error_of(&link_an_object<true, true>, {words.data()}), "no error");
}

template <bool Barrier>
WARDEN_KERNEL void two_scans(arguments) {
  using scan = simt::block_scan<32>;
  auto& storage = *reinterpret_cast<scan::storage*>(simt::dynamic_shared());
  std::uint32_t total = 0;
  scan::exclusive_sum(storage, 1, total);
  if (Barrier) simt::sync_block();
  scan::exclusive_sum(storage, 1, total);
}
TEST_F(misuse, a_collectives_storage_used_again) {
  EXPECT_THAT(error_of(&two_scans<false>, {}, 32), HasSubstr("used again without a barrier"));
  EXPECT_EQ(error_of(&two_scans<true>, {}, 32), "no error");
}

WARDEN_KERNEL void counts_along_x(arguments) { simt::assume_one_dimension(); }
TEST_F(misuse, blocks_and_grids_of_several_dimensions_in_code_for_one) {
  EXPECT_EQ(error_of(&counts_along_x, {}, 32, 2), "no error");
  EXPECT_THAT(error_of(&counts_along_x, {}, 32, {1, 2}), HasSubstr("a grid of 1 x 2 x 1 in code"));
  EXPECT_THAT(error_of(&counts_along_x, {}, {8, 4}), HasSubstr("a block of 8 x 4 x 1 in code for"));
  // CUB scans blocks of one dimension, in any grid.
  EXPECT_EQ(error_of(&two_scans<true>, {}, 32, {1, 2}), "no error");
  EXPECT_THAT(error_of(&two_scans<true>, {}, {1, 1, 32}), HasSubstr("a block of 1 x 1 x 32 in"));
}

enum class waits { never, late, first };
template <waits When>
WARDEN_KERNEL void begins_early(arguments a) {
  if (When == waits::first) simt::wait_for_previous_kernel();
  if (When != waits::never) simt::fetch_add(a.word, std::uint64_t{1});
  if (When == waits::late) simt::wait_for_previous_kernel();
}
template <waits When>
std::string error_of_early_launch() {
  warden::buffer<std::uint64_t> word{1};
  word.fill_bytes(0);
  arguments a{word.data()};
  void* given[] = {&a};
  try {
    warden::runtime::launch(simt::make_kernel(&begins_early<When>),
                            warden::runtime::early_launch(1, 32, 0), given, {});
    warden::stream_ref{}.synchronize();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}
TEST_F(misuse, an_early_launch_that_does_not_wait_first) {
  EXPECT_THAT(error_of_early_launch<waits::never>(), HasSubstr("wait_for_previous_kernel"));
  EXPECT_THAT(error_of_early_launch<waits::late>(), HasSubstr("wait_for_previous_kernel"));
  EXPECT_EQ(error_of_early_launch<waits::first>(), "no error");
}

WARDEN_KERNEL void reads_garbage(arguments a) {
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 256; ++i) zeros += simt::dynamic_shared()[i] == std::byte{0} ? 1 : 0;
  *a.word = zeros;
}
TEST_F(misuse, shared_memory_begins_as_garbage) {
  warden::buffer<std::uint64_t> word{1};
  EXPECT_EQ(error_of(&reads_garbage, {word.data()}), "no error");
  EXPECT_EQ(word.to_host()[0], 0u);
}

}  // namespace
