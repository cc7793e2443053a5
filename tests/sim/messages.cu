// SPDX-License-Identifier: Apache-2.0
// Texts of errors of device code: threads by place, the words they poll, the last writers, their
// calls.

#include "tests/sim/plain_kernels.cuh"
#include "tests/sim/spinning_kernels.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace sim = warden::sim;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using words = warden::buffer<unsigned>;

/// The first error under 20 schedules.
std::string error_of(std::function<void(words&)> const& launches) {
  std::string text = "no error";
  for (std::uint64_t seed = 0; seed < 20 && text == "no error"; ++seed) {
    sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? sim::schedule::pct : sim::schedule::random;
    s.max_quiet_steps = 100'000;
    sim::configure(s);
    words all{64};
    all.fill_bytes(0);
    try {
      launches(all);
      warden::stream_ref{}.synchronize();
    } catch (sim::misuse_error const& e) {
      text = e.what();
    }
  }
  sim::configure({});
  return text;
}
/// Error of a kernel of one block.
template <class Kernel>
std::string error_of_kernel(Kernel* kernel, unsigned threads) {
  return error_of([&](words& w) { warden::launch(kernel, 1, threads, {}, w.data()); });
}

std::ptrdiff_t lines_of(std::string const& text) { return 1 + std::ranges::count(text, '\n'); }

TEST(messages, the_polled_word_and_its_last_change) {
  std::string const text = error_of([](words& w) {
    warden::launch(spinning::clear_the_count_early, 6, 32, {}, w.data(), w.data() + 1);
  });
  EXPECT_THAT(text, ContainsRegex("^deadlock: [^\n]* \\(messages.cu:[0-9]+\\)\n"));
  EXPECT_THAT(
      text, ContainsRegex("\n  block [0-9], thread 0: spins, spinning_kernels.cuh:[0-9]+ in "
                          "[a-z:]*clear_the_count_early \\(and [0-9] other threads?\\); finds 0 in "
                          "bytes 0 to 3 of an allocation of 256 bytes \\(made at "
                          "messages.cu:[0-9]+\\), changed last by block 0, thread 0 at "
                          "spinning_kernels.cuh:[0-9]+, which has ended"));
  EXPECT_THAT(text, HasSubstr("thread 1: ended (and 185 other threads)"));
  EXPECT_THAT(text, Not(HasSubstr(":0 ")));
}

TEST(messages, the_calls_of_threads_that_wait) {
  std::string const text = error_of(
      [](words& w) { warden::launch(spinning::take_two_locks<false>, 2, 32, {}, w.data(), 20u); });
  EXPECT_THAT(text, ContainsRegex("block 0, thread 0: spins, spinning_kernels.cuh:[0-9]+ in "
                                  "[a-z:]*lock; finds 1 in bytes 4 to 7 [^\n]*\n    at "
                                  "[a-z:]*take_two_locks, spinning_kernels.cuh:[0-9]+\n"));
  EXPECT_THAT(text, HasSubstr("in spinning::take_two_locks (and 61 other threads)"));
}

TEST(messages, blocks_that_have_not_begun) {
  EXPECT_THAT(
      error_of([](words& w) {
        warden::launch(spinning::meet_as_grid, 40, 64, {}, w.data(), w.data() + 1);
      }),
      ContainsRegex("\n  8 of 40 blocks of the launch at messages.cu:[0-9]+ have not begun: "
                    "the grid is larger than the 32 blocks that are resident"));
}

__global__ void trap_at_once(unsigned*) {
  if (threadIdx.x == 7) __trap();
  __syncthreads();
}
__global__ void store_outside(unsigned* words) {
  if (threadIdx.x == 7) __stcg(words + 64, 1u);
  __syncthreads();
}
TEST(messages, one_line_for_each_place_and_each_place_once) {
  for (auto* kernel : {trap_at_once, store_outside}) {
    std::string const text = error_of_kernel(kernel, 64);
    EXPECT_THAT(text, ContainsRegex("^[^\n]* \\[block 0, thread 7\\] \\(messages.cu:[0-9]+\\)\n"));
    EXPECT_THAT(text, ContainsRegex("block 0, thread [0-9]+: has not begun"));
    EXPECT_THAT(text, Not(HasSubstr("thread 7: ")));
    EXPECT_LE(lines_of(text), 3);
    std::size_t const place = text.rfind("(messages.cu:");
    EXPECT_EQ(text.find(text.substr(place + 1, text.find(')', place) - place - 1)), place + 1)
        << text;
  }
}

TEST(messages, at_most_16_places) {
  EXPECT_THAT(error_of([](words& w) {
                w.fill_bytes(0xff);
                warden::launch(spinning::look_for_an_empty_slot, 1, 64, {}, w.data(), 64u);
              }),
              ContainsRegex("\n  and [0-9]+ threads elsewhere$"));
}

__device__ unsigned gate;
__global__ void wait_at_the_gate(unsigned*) {
  while (__ldcg(&gate) == 0) {
  }
}
__global__ void wait_in_shared_memory(unsigned*) {
  WARDEN_SHARED(unsigned[4], flags);
  if (threadIdx.x == 0) atomicExch(&flags[2], 5u);
  __syncthreads();
  while (atomicAdd(&flags[2], 0u) == 5) {
  }
}
TEST(messages, names_of_variables) {
  EXPECT_THAT(error_of_kernel(wait_at_the_gate, 1),
              AllOf(HasSubstr("finds 0 in 4 bytes of "), HasSubstr("gate, which no thread has")));
  EXPECT_THAT(error_of_kernel(wait_in_shared_memory, 2),
              ContainsRegex("finds 5 in bytes 8 to 11 of the 16 bytes of block 0 in shared memory "
                            "\\(declared at messages.cu:[0-9]+\\), changed last by block 0, thread "
                            "0 at messages.cu"));
}

__global__ void clear_plainly(unsigned* flag) {
  atomicExch(flag, 1u);
  *flag = 0;
  while (__ldcg(flag) == 0) {
  }
}
TEST(messages, a_plain_store_that_changed_a_word_last) {
  EXPECT_THAT(error_of_kernel(clear_plainly, 1), HasSubstr("changed last by plain code"));
}

// ---- results under several seeds

TEST(messages, results_that_differ_between_seeds) {
  sim::configure({.seed = 17});
  auto const count = [](auto kernel) {
    return [kernel] {
      words w{3};
      w.fill_bytes(0);
      warden::launch(kernel, 3, 8, {}, w.data() + 2, w.data());
      return "counted\n" + std::to_string(w.to_host()[0]);
    };
  };
  EXPECT_THAT(sim::compare_seeds(2, 200, count(plain::count_under_lock<plain::with::no_acquire>)),
              ContainsRegex("^no race found; results differ between seeds 2 and [0-9]+, first in "
                            "line 2: \"[0-9]+\" and \"[0-9]+\"$"));
  EXPECT_EQ(sim::compare_seeds(2, 50, count(plain::count_under_lock<plain::with::all>)), "");
  std::vector<std::uint64_t> seeds;
  EXPECT_EQ(sim::compare_seeds(2, 5,
                               [&] {
                                 seeds.push_back(sim::current_settings().seed);
                                 return "alike";
                               }),
            "");
  EXPECT_THAT(seeds, testing::ElementsAre(2, 3, 4));
  EXPECT_EQ(sim::current_settings().seed, 17u);
  sim::configure({});
}

}  // namespace
