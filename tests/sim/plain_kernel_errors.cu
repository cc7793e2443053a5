// SPDX-License-Identifier: Apache-2.0
// What the simulated device finds in plain kernels: races, missing fences and deadlocks.

#include "tests/sim/plain_kernels.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using plain::with;
using testing::AllOf;
using testing::HasSubstr;

// ---- the same kernel, right and wrong, under many schedules

/// Calls `wrong()` under many schedules, and returns in how many it was true. With
/// `multiprocessors` the device has that many, with one block each.
template <class Wrong>
unsigned wrong_schedules(Wrong wrong, int multiprocessors = 0) {
  unsigned found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 20'000;
    if (multiprocessors != 0) {
      s.multiprocessors = multiprocessors;
      s.blocks_per_multiprocessor = 1;
    }
    warden::sim::configure(s);
    found += wrong() ? 1 : 0;
  }
  warden::sim::configure({});
  return found;
}

template <with With>
bool reduces_wrong() {
  std::vector<unsigned> values(300);
  std::iota(values.begin(), values.end(), 7u);
  warden::buffer<unsigned> const from{values};
  warden::buffer<unsigned> sum{1};
  sum.fill_bytes(0);
  warden::launch(plain::reduce<With>, 2, 128, {}, from.data(), 300, sum.data());
  return sum.to_host()[0] != std::accumulate(values.begin(), values.end(), 0u);
}
TEST(plain_kernels, a_reduction_without_its_barrier_is_found) {
  EXPECT_EQ(wrong_schedules(reduces_wrong<with::all>), 0u);
  EXPECT_GT(wrong_schedules(reduces_wrong<with::no_barrier>), 0u);
}

template <with With>
bool transposes_wrong() {
  unsigned const width = 20, height = 9;
  std::vector<unsigned> values(width * height), expected(width * height);
  for (unsigned i = 0; i < values.size(); ++i) {
    values[i] = i + 1;
    expected[i % width * height + i / width] = i + 1;
  }
  warden::buffer<unsigned> const from{values};
  warden::buffer<unsigned> to{values.size()};
  warden::launch(plain::transpose<With>, {3, 2}, {plain::tile_side, plain::tile_side}, {},
                 from.data(), to.data(), width, height);
  return to.to_host() != expected;
}
TEST(plain_kernels, a_transposition_without_its_barrier_is_found) {
  EXPECT_EQ(wrong_schedules(transposes_wrong<with::all>), 0u);
  EXPECT_GT(wrong_schedules(transposes_wrong<with::no_barrier>), 0u);
}

template <with With>
bool counts_wrong() {
  warden::buffer<unsigned> words{3};
  words.fill_bytes(0);
  warden::launch(plain::count_under_lock<With>, 3, 8, {}, words.data() + 2, words.data());
  return words.to_host()[0] != 24 || words.to_host()[1] != 24;
}
TEST(plain_kernels, a_lock_without_its_fences_is_found_by_what_it_protects) {
  EXPECT_EQ(wrong_schedules(counts_wrong<with::all>), 0u);
  EXPECT_GT(wrong_schedules(counts_wrong<with::no_acquire>), 0u);
  EXPECT_GT(wrong_schedules(counts_wrong<with::no_release>), 0u);
}

/// Both may miss each other's store, unless fences stand in one order.
template <bool Fences>
__global__ void miss_each_other(unsigned* flags, unsigned* missed) {
  __stcg(&flags[8 * blockIdx.x], 1u);
  if (Fences) __threadfence();
  if (__ldcg(&flags[8 * (1 - blockIdx.x)]) == 0) atomicAdd(missed, 1u);
}
template <bool Fences>
bool both_missed() {
  warden::buffer<unsigned> words{17};
  words.fill_bytes(0);
  warden::launch(miss_each_other<Fences>, 2, 1, {}, words.data(), words.data() + 16);
  return words.to_host()[16] == 2;
}
TEST(plain_kernels, fences_are_sequentially_consistent) {
  EXPECT_GT(wrong_schedules(both_missed<false>), 0u);
  EXPECT_EQ(wrong_schedules(both_missed<true>), 0u);
}
/// Both threads of a block may miss the flag of the other.
template <bool Fences>
__global__ void miss_within_a_block(unsigned* flags, unsigned* missed) {
  __stcg(&flags[8 * threadIdx.x], 1u);
  if (Fences) __threadfence_block();
  if (__ldcg(&flags[8 * (1 - threadIdx.x)]) == 0) atomicAdd(missed, 1u);
}
template <bool Fences>
bool both_missed_within_a_block() {
  warden::buffer<unsigned> words{17};
  words.fill_bytes(0);
  warden::launch(miss_within_a_block<Fences>, 1, 2, {}, words.data(), words.data() + 16);
  return words.to_host()[16] == 2;
}
TEST(plain_kernels, fences_of_a_block_are_sequentially_consistent_there) {
  EXPECT_GT(wrong_schedules(both_missed_within_a_block<false>), 0u);
  EXPECT_EQ(wrong_schedules(both_missed_within_a_block<true>), 0u);
}

/// Blocks one after another in the same place: nothing orders them.
__global__ void look_then_leave(unsigned* word, unsigned* seen) {
  seen[blockIdx.x] = __ldcg(word);
  __stcg(word, blockIdx.x + 1);
}
bool sees_older() {
  warden::buffer<unsigned> words{7};
  words.fill_bytes(0);
  warden::launch(look_then_leave, 6, 1, {}, words.data() + 6, words.data());
  auto const seen = words.to_host();
  for (unsigned b = 0; b < 6; ++b) {
    if (seen[b] < b) return true;
  }
  return false;
}
TEST(plain_kernels, a_block_does_not_know_what_the_one_before_it_stored) {
  EXPECT_GT(wrong_schedules(sees_older, 1), 0u);
}

// ---- errors, with every thread's place

__global__ void nothing(int) {}

class plain_errors : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }

  /// Returns the error of a launch with zeroed words.
  template <class Kernel>
  static std::string error_of(Kernel* kernel, unsigned blocks = 1, unsigned threads = 64) {
    warden::buffer<unsigned> words{64};
    words.fill_bytes(0);
    try {
      warden::launch(kernel, blocks, threads, {}, words.data());
      warden::stream_ref{}.synchronize();
    } catch (warden::sim::misuse_error const& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(plain_errors, more_dynamic_shared_memory_than_a_kernel_was_allowed) {
  auto const launch = [] {
    simt::launch(&nothing, 1, 32, 50'000, 0, {});
    warden::stream_ref{}.synchronize();
  };
  EXPECT_THROW(launch(), warden::cuda_error);
  warden::runtime::allow_shared_bytes(simt::make_kernel(&nothing), 50'000);
  launch();
}

__global__ void half_a_barrier(unsigned*) {
  if (threadIdx.x < 40) __syncthreads();
}
TEST_F(plain_errors, a_barrier_in_a_branch) {
  EXPECT_THAT(error_of(half_a_barrier),
              testing::AnyOf(HasSubstr("thread ended while others of its block wait at a barrier"),
                             HasSubstr("threads of the block have ended")));
}

__global__ void two_kinds_of_barrier(unsigned*) {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads_or(1);
  }
}
TEST_F(plain_errors, barriers_of_two_kinds) {
  EXPECT_THAT(error_of(two_kinds_of_barrier), HasSubstr("at different kinds of barrier"));
}

__global__ void a_barrier_in_each_branch(unsigned* words) {
  if (threadIdx.x < 40) {
    words[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
}
TEST_F(plain_errors, a_barrier_in_each_branch) {
  EXPECT_THAT(error_of(a_barrier_in_each_branch),
              HasSubstr("threads of one block meet at different barriers"));
}

__global__ void barrier_and_warp(unsigned*) {
  if (threadIdx.x == 3) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}
TEST_F(plain_errors, a_barrier_next_to_a_warp_that_meets) {
  // Both are in one warp.
  EXPECT_THAT(error_of(barrier_and_warp, 1, 16),
              AllOf(HasSubstr("a barrier or warp collective that not all its threads reach"),
                    HasSubstr("thread 3: at a barrier, plain_kernel_errors.cu:"),
                    HasSubstr("thread 0: in a warp collective, plain_kernel_errors.cu:")));
}

__global__ void lock_across_a_warp(unsigned* lock) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  __syncwarp();
  atomicExch(lock, 0u);
}
TEST_F(plain_errors, a_spin_lock_whose_owner_waits_for_its_warp) {
  for (auto order : {warden::sim::schedule::random, warden::sim::schedule::pct}) {
    warden::sim::settings s;
    s.order = order;
    s.max_quiet_steps = 100'000;
    warden::sim::configure(s);
    EXPECT_THAT(
        error_of(lock_across_a_warp),
        AllOf(HasSubstr("deadlock: for 106250 steps no thread has changed memory, and all "),
              HasSubstr("in a warp collective, plain_kernel_errors.cu:"),
              HasSubstr("spins, plain_kernel_errors.cu:")));
  }
}

__global__ void lock_and_end(unsigned* lock) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
    if (atomicAdd(lock + 1, 0u) != 0) return;  // as one that was told to give up
  }
  atomicExch(lock, 0u);
}
/// The last holder ends long after all others have looked at words that no thread had changed until
/// then.
TEST_F(plain_errors, a_spin_lock_that_is_freed_late_is_no_deadlock) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.max_quiet_steps = 2;
    warden::sim::configure(s);
    EXPECT_EQ(error_of(lock_and_end), "no error") << "seed " << seed;
  }
}

__global__ void wait_for_the_last_block(unsigned* flag) {
  if (blockIdx.x + 1 == gridDim.x) atomicExch(flag, 1u);
  while (atomicAdd(flag, 0u) == 0) {
  }
}
TEST_F(plain_errors, blocks_that_wait_for_one_that_cannot_begin) {
  warden::sim::settings s;
  s.max_quiet_steps = 1'000'000;
  warden::sim::configure(s);
  EXPECT_EQ(error_of(wait_for_the_last_block, 8), "no error");
  EXPECT_THAT(error_of(wait_for_the_last_block, 1000), HasSubstr("deadlock: "));
}

__global__ void assume_the_warp_is_together(unsigned* words) {
  words[threadIdx.x % 64] = __shfl_sync(__activemask(), threadIdx.x, 0);
}
TEST_F(plain_errors, lanes_that_count_on_being_together) {
  EXPECT_THAT(error_of(assume_the_warp_is_together),
              HasSubstr("shuffle from a lane that the mask lacks"));
}

__global__ void ask_who_has_left(unsigned* words) {
  if (threadIdx.x == 5) return;
  words[threadIdx.x % 64] = __shfl_sync(~0u, threadIdx.x, 5);
}
TEST_F(plain_errors, a_shuffle_from_a_lane_that_has_ended) {
  EXPECT_THAT(error_of(ask_who_has_left), HasSubstr("shuffle from a lane that has ended"));
}

__global__ void write_past_a_variable(unsigned*) {
  WARDEN_SHARED(unsigned[64], values);
  unsigned* const begin = values;
  begin[threadIdx.x + 1] = 0;
}
TEST_F(plain_errors, a_write_past_a_shared_variable) {
  EXPECT_THAT(error_of(write_past_a_variable),
              AllOf(HasSubstr("block 0 wrote past a shared variable of 256 bytes"),
                    HasSubstr("plain_kernel_errors.cu:")));
}

__global__ void too_much(unsigned*) {
  WARDEN_SHARED(unsigned[12'000], first);
  WARDEN_SHARED(unsigned[1'000], second);
  first[0] = second[0];
}
TEST_F(plain_errors, more_static_shared_memory_than_there_is) {
  EXPECT_THAT(error_of(too_much),
              HasSubstr("52000 bytes of static shared memory in a block; the limit is 49152"));
}

__global__ void trap(unsigned*) {
  if (threadIdx.x == 7) __trap();
}
TEST_F(plain_errors, a_trap) {
  EXPECT_THAT(error_of(trap),
              AllOf(HasSubstr("the kernel trapped"), HasSubstr("block 0, thread 7")));
}

__global__ void stop_in_two_dimensions(unsigned*) {
  if (threadIdx.x == 3 && threadIdx.y == 2 && blockIdx.y == 1) __trap();
}
TEST_F(plain_errors, places_in_two_dimensions) {
  try {
    warden::launch(stop_in_two_dimensions, {1, 2}, {4, 4}, {}, nullptr);
    warden::stream_ref{}.synchronize();
    FAIL();
  } catch (warden::sim::misuse_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("block (0, 1), thread (3, 2)"));
  }
}

template <bool Acquires, bool Releases>
__global__ void sections_under_lock(unsigned* words) {
  while (atomicCAS(&words[0], 0u, 1u) != 0) {
  }
  if (Acquires) __threadfence();
  simt::section_enter(&words[1]);
  words[1] += 1;
  simt::section_leave(&words[1]);
  if (Releases) __threadfence();
  atomicExch(&words[0], 0u);
}
TEST_F(plain_errors, a_lock_without_its_fences_is_found_by_its_sections) {
  EXPECT_EQ(error_of(sections_under_lock<true, true>), "no error");
  EXPECT_THAT(error_of(sections_under_lock<false, true>), HasSubstr("unordered sections"));
  EXPECT_THAT(error_of(sections_under_lock<true, false>), HasSubstr("unordered sections"));
}

__global__ void read_garbage(unsigned* words) {
  WARDEN_SHARED(unsigned char[256], bytes);
  unsigned zeros = 0;
  for (unsigned char b : bytes) zeros += b == 0 ? 1 : 0;
  atomicAdd(&words[0], zeros);
  if (zeros != 0) __trap();
}
TEST_F(plain_errors, static_shared_memory_begins_as_garbage) {
  EXPECT_EQ(error_of(read_garbage), "no error");
}

}  // namespace
