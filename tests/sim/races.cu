// SPDX-License-Identifier: Apache-2.0
// Races of plain and volatile accesses: faulty kernels are found, and right ones are silent.

#include "race_errors.cuh"
#include "race_kernels.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

using testing::HasSubstr;
namespace sim = warden::sim;
using namespace race_errors;

unsigned right_seeds() {
  char const* const text = std::getenv("WARDEN_SEEDS");
  return text == nullptr ? 10 : static_cast<unsigned>(std::atoi(text));
}

// ---- kernels of reports

struct report {
  char const* name;
  kernel faulty, right;
};
class race_reports : public testing::TestWithParam<report> {};

TEST_P(race_reports, fault_is_found) {
  EXPECT_THAT(error_in(20, GetParam().faulty), HasSubstr("data race: "));
}
TEST_P(race_reports, right_kernel_is_silent) {
  EXPECT_EQ(error_in(right_seeds(), GetParam().right), "");
}
namespace k = race_kernels;
INSTANTIATE_TEST_SUITE_P(
    , race_reports,
    testing::Values(report{"spin_lock", k::spin_lock<false>, k::spin_lock<true>},
                    report{"bit_lock", k::bit_lock<false>, k::bit_lock<true>},
                    report{"try_lock", k::try_lock<false>, k::try_lock<true>},
                    report{"plain_unlock", k::plain_unlock<false>, k::plain_unlock<true>},
                    report{"sum_up", k::sum_up<false>, k::sum_up<true>},
                    report{"volatile_flag", k::volatile_flag<false>, k::volatile_flag<true>},
                    report{"plain_flag", k::plain_flag<false>, k::plain_flag<true>},
                    report{"last_block", k::last_block<false>, k::last_block<true>},
                    report{"queue", k::queue<false>, k::queue<true>},
                    report{"shift_in_block", k::shift_in_block<false>, k::shift_in_block<true>},
                    report{"warp_sum", k::warp_sum<false>, k::warp_sum<true>}),
    [](auto const& info) { return std::string{info.param.name}; });

// ---- what a report says

TEST(races, name_both_places_with_their_calls) {
  std::string const error = error_in(20, k::sum_up<false>);
  EXPECT_THAT(
      error, HasSubstr("of bytes 0 to 3 of an allocation of 2048 bytes (made at race_errors.cuh:"));
  EXPECT_THAT(error,
              testing::ContainsRegex("\n  the plain (load|store) by block [0-3], thread [0-9]+"
                                     "\n    at race_kernels::sum_up, race_kernels.cuh:[0-9]+"
                                     "\n  the plain (load|store) by block [0-3], thread [0-9]+"
                                     "\n    at race_kernels::sum_up, race_kernels.cuh:[0-9]+"));
}

template <unsigned long long... Numbers>
__global__ void has_a_long_name(unsigned*, unsigned* data) {
  *data = threadIdx.x;
}
template <std::size_t... I>
std::string error_of_a_long_name(std::index_sequence<I...>) {
  return error_in(2, has_a_long_name<(~0ull - I)...>);
}
/// The names of templates are longer than a small stack lets the demangler read.
TEST(races, are_in_functions_with_names_of_1000_characters) {
  EXPECT_THAT(error_of_a_long_name(std::make_index_sequence<42>{}),
              HasSubstr("at has_a_long_name"));
}

__global__ void releases_nothing(unsigned* flag, unsigned* data) {
  if (blockIdx.x == 0) {
    *data = 1;
    atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
    __threadfence();
    *data = 2;
  }
}
__global__ void acquires_nothing(unsigned* flag, unsigned* data) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
    *data = 2;
  }
}
__global__ void fences_in_block_alone(unsigned* flag, unsigned* data) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence_block();
    atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
    __threadfence();
    *data = 2;
  }
}
TEST(races, name_the_release_that_is_missing) {
  for (kernel const run : {releases_nothing, fences_in_block_alone}) {
    std::string const error = error_of(run, 1, 2, 1);
    EXPECT_THAT(error,
                testing::ContainsRegex("; publish with a release: __threadfence\\(\\) before "
                                       "the store at races.cu:[0-9]+\n"));
  }
}
TEST(races, name_the_acquire_that_is_missing) {
  EXPECT_THAT(
      error_of(acquires_nothing, 1, 2, 1),
      testing::ContainsRegex("; take with an acquire: __threadfence\\(\\) after the load at "
                             "races.cu:[0-9]+\n"));
}
TEST(races, name_the_barrier_that_is_missing) {
  EXPECT_THAT(error_of(k::sum_up<false>, 1, 1, 2),
              HasSubstr("or __syncwarp() or __syncthreads() between them"));
  EXPECT_THAT(error_of(k::shift_in_block<false>, 1, 1, 64), HasSubstr("or __sync"));
  EXPECT_THAT(error_of(k::sum_up<false>, 1, 2, 1), HasSubstr("nothing orders the two"));
}

__device__ unsigned total;
__global__ void add_to_variable(unsigned*, unsigned*) { total += 1; }
TEST(races, are_found_in_variables_of_the_device) {
  EXPECT_THAT(error_in(20, add_to_variable), HasSubstr("4 bytes of total; "));
}

// ---- which accesses race

__global__ void bytes_of_a_word(unsigned*, unsigned* data) {
  reinterpret_cast<unsigned char*>(data)[threadIdx.x] += 1;
}
__global__ void word_and_its_byte(unsigned*, unsigned* data) {
  if (threadIdx.x == 0) {
    *data = 1;
  } else {
    reinterpret_cast<unsigned char*>(data)[3] = 1;
  }
}
TEST(races, are_of_the_same_bytes) {
  EXPECT_EQ(error_of(bytes_of_a_word, 1, 1), "");
  EXPECT_THAT(error_of(word_and_its_byte, 1, 1, 2), HasSubstr("data race: "));
}

__global__ void all_read(unsigned*, unsigned* data) {
  if (*data != 0) __trap();
}
__global__ void all_read_and_one_writes(unsigned*, unsigned* data) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;
  } else if (*data > 1) {
    __trap();
  }
}
__global__ void all_write_one_value(unsigned*, unsigned* data) { *data = 7; }
TEST(races, need_a_store_that_changes_memory) {
  EXPECT_EQ(error_of(all_read, 1), "");
  EXPECT_EQ(error_of(all_write_one_value, 1), "");
  EXPECT_THAT(error_of(all_read_and_one_writes, 1), HasSubstr("data race: "));
}

__global__ void stores_plainly(unsigned* word, unsigned*) {
  if (threadIdx.x == 0) {
    *word = 5;
  } else {
    atomicAdd(word, 1u);
  }
}
__global__ void loads_plainly(unsigned* word, unsigned* data) {
  if (threadIdx.x == 0) {
    *data = *word;
  } else {
    __stcg(word, 1u);
  }
}
__global__ void both_load(unsigned* word, unsigned* data) {
  if (threadIdx.x == 0) {
    *data = *word;
  } else if (__ldcg(word) != 0) {
    __trap();
  }
}
__global__ void stores_plainly_and_loads(unsigned* word, unsigned* data) {
  if (threadIdx.x == 0) {
    *word = 1;
  } else {
    *data = __ldcg(word);
  }
}
TEST(races, are_of_a_plain_and_an_atomic_access) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    EXPECT_THAT(error_of(stores_plainly, seed, 1, 2), HasSubstr("data race: "));
    EXPECT_THAT(error_of(loads_plainly, seed, 1, 2), HasSubstr("data race: "));
    EXPECT_THAT(error_of(stores_plainly_and_loads, seed, 1, 2), HasSubstr("data race: "));
    EXPECT_EQ(error_of(both_load, seed, 1, 2), "");
  }
}

__global__ void block_after_block(unsigned*, unsigned* data) {
  if (threadIdx.x == 0) *data = blockIdx.x;
}
TEST(races, are_of_blocks_that_take_turns) {
  sim::settings chosen;
  chosen.multiprocessors = 1;
  chosen.blocks_per_multiprocessor = 1;
  sim::configure(chosen);
  warden::buffer<unsigned> data{1};
  warden::launch(block_after_block, 2, 1, {}, nullptr, data.data());
  EXPECT_THROW(warden::stream_ref{}.synchronize(), sim::misuse_error);
}
TEST(races, are_not_of_launches_in_order) {
  sim::configure({});
  warden::buffer<unsigned> data{1};
  for (int i = 0; i < 2; ++i) warden::launch(block_after_block, 1, 32, {}, nullptr, data.data());
  data.fill_bytes(0);
  warden::launch(block_after_block, 1, 32, {}, nullptr, data.data());
  EXPECT_NO_THROW(warden::stream_ref{}.synchronize());
}

// ---- volatile

__global__ void volatile_messages(unsigned* words, unsigned* data) {
  unsigned volatile* const flag = words;
  unsigned volatile* const message = words + 1;
  if (blockIdx.x == 0) {
    *message = 1;
    *flag = 1;
  } else {
    data[0] = *flag;
    data[1] = *message;
  }
}
TEST(volatile_accesses, may_see_older_values) {
  bool seen = false;
  for (unsigned seed = 0; seed < 200 && !seen; ++seed) {
    sim::settings chosen;
    chosen.seed = seed;
    sim::configure(chosen);
    warden::buffer<unsigned> words{2}, data{2};
    words.fill_bytes(0);
    warden::launch(volatile_messages, 2, 1, {}, words.data(), data.data());
    seen = data.to_host() == std::vector<unsigned>{1, 0};
    EXPECT_EQ(words.to_host(), (std::vector<unsigned>{1, 1}));
  }
  EXPECT_TRUE(seen);
}
__global__ void waits_for_ever(unsigned* words, unsigned*) {
  while (*static_cast<unsigned volatile*>(words) == 0) {
  }
}
__global__ void stores_as_its_last_act(unsigned* words, unsigned* data) {
  unsigned volatile* const flag = words;
  if (blockIdx.x == 0) {
    *data = 7;
    std::atomic_thread_fence(std::memory_order_release);
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (*data != 7) __trap();
  }
}
TEST(volatile_accesses, are_of_their_thread) {
  for (unsigned seed = 0; seed < 10; ++seed)
    EXPECT_EQ(error_of(stores_as_its_last_act, seed, 2, 1), "");
}
TEST(volatile_accesses, are_polls) {
  EXPECT_THAT(error_of(waits_for_ever, 1, 1, 1),
              testing::AllOf(HasSubstr("deadlock: "), HasSubstr("thread 0: spins, races.cu:"),
                             HasSubstr("finds 0 in bytes 0 to 3 of an allocation of 256 bytes")));
}

// ---- atomics of C++

template <bool Ordered>
__global__ void cpp_atomics(unsigned* flag, unsigned* data) {
  std::atomic_ref<unsigned> const ready{*flag};
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    *data = 7;
    ready.store(1, Ordered ? std::memory_order_release : std::memory_order_relaxed);
    return;
  }
  while (ready.load(Ordered ? std::memory_order_acquire : std::memory_order_relaxed) == 0) {
  }
  if (*data != 7) __trap();
}
TEST(cpp_atomics, order_as_they_say) {
  EXPECT_EQ(error_in(right_seeds(), cpp_atomics<true>), "");
  EXPECT_THAT(error_in(20, cpp_atomics<false>), HasSubstr("data race: "));
}

// ---- bounds

__global__ void loads_past_the_end(unsigned*, unsigned* data) { data[0] = data[512]; }
__global__ void stores_before_the_begin(unsigned*, unsigned* data) { *(data - 1) = 1; }
__global__ void loads_past_shared(unsigned*, unsigned* data) {
  WARDEN_DYNAMIC_SHARED(unsigned, values);
  data[0] = values[64];
}
__global__ void loads_past_shared_variable(unsigned*, unsigned* data) {
  WARDEN_SHARED(unsigned[4], values);
  unsigned* const all = values;
  data[0] = all[4 + blockIdx.x];
}
TEST(plain_accesses, are_in_bounds) {
  EXPECT_THAT(error_of(loads_past_the_end, 1, 1, 1),
              HasSubstr("plain load outside device memory: bytes 2048 to 2051 of an allocation of "
                        "2048 bytes (made at race_errors.cuh:"));
  EXPECT_THAT(error_of(stores_before_the_begin, 1, 1, 1),
              HasSubstr("plain store outside device memory: bytes -4 to -1 of an allocation of "));
  EXPECT_THAT(error_of(loads_past_shared, 1, 1, 1),
              HasSubstr("plain load outside shared memory: bytes 256 to 259 of 256"
                        "\n    at "));
  EXPECT_THAT(error_of(loads_past_shared_variable, 1, 1, 1),
              HasSubstr("plain load outside shared memory: bytes 16 to 19 of 16\n"));
}

// ---- launches of two streams

__global__ void count_plainly(unsigned* words) { words[threadIdx.x] += 1; }
__global__ void count_for_long(unsigned* word) {
  for (int i = 0; i < 500; ++i) atomicAdd(word, 1u);
}

/// The first error of 20 seeds. A third stream runs at the same time as the two.
std::string error_of_two_streams(bool ordered) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    sim::configure({.seed = seed});
    warden::buffer<unsigned> words{64}, other{1};
    words.fill_bytes(0);
    other.fill_bytes(0);
    warden::stream_ref{}.synchronize();
    warden::stream a, b, c;
    warden::launch(count_for_long, 1, 1, c, other.data());
    warden::launch(count_plainly, 1, 32, a, words.data());
    if (ordered) {
      warden::event e;
      e.record(a);
      warden::stream_ref{b}.wait_for(e);
    }
    warden::launch(count_plainly, 1, 32, b, words.data());
    warden::launch(count_plainly, 1, 32, b, words.data());
    try {
      b.synchronize();
      c.synchronize();
    } catch (sim::misuse_error const& e) {
      sim::configure({});
      return e.what();
    }
  }
  sim::configure({});
  return {};
}

TEST(races, between_launches_of_two_streams) {
  EXPECT_EQ(error_of_two_streams(true), "");
  std::string const error = error_of_two_streams(false);
  EXPECT_THAT(error, HasSubstr("data race: "));
  EXPECT_THAT(error, testing::ContainsRegex("launch at races.cu:[0-9]+, block 0, thread"));
}

}  // namespace
