// SPDX-License-Identifier: Apache-2.0
// The memory report: bank conflicts and sectors of small kernels whose costs are known.

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace sim = warden::sim;

unsigned measured_line;  ///< the line whose accesses a test looks at

template <class... Parameters, class... Arguments>
sim::memory_lines report_of(unsigned threads, void (*kernel)(Parameters...), Arguments... values) {
  sim::settings s;
  s.report_memory = true;
  sim::configure(s);
  sim::clear_memory_report();
  warden::launch(kernel, 1, threads, {}, values...);
  return sim::memory_report();
}
/// Returns the row of the measured line with this effect; empty counts if there is none.
sim::line_accesses measured(sim::memory_lines const& report, std::string const& effect) {
  std::string const line = "memory_report.cu:" + std::to_string(measured_line);
  for (sim::line_accesses const& l : report.lines) {
    if (l.line == line && l.effect == effect) return l;
  }
  return {};
}

// ---- shared memory

template <class Word>
__global__ void store_by_stride(unsigned stride) {
  WARDEN_SHARED(Word[32 * 33], tile);
  measured_line = __LINE__ + 1;
  tile[threadIdx.x * stride] = Word{};
}
template <class Word>
sim::line_accesses stores_by_stride(unsigned stride) {
  return measured(report_of(32, store_by_stride<Word>, stride), "store");
}
struct alignas(8) two_words {
  std::uint64_t value;
};
struct alignas(16) four_words {
  __uint128_t value;
};

TEST(memory_report, stride_in_shared_memory) {
  for (unsigned const stride : {1u, 3u, 33u})
    EXPECT_EQ(stores_by_stride<unsigned>(stride).conflicts, 0u) << stride;
  EXPECT_EQ(stores_by_stride<unsigned>(2).conflicts, 1u);
  EXPECT_EQ(stores_by_stride<unsigned>(8).conflicts, 7u);
  EXPECT_EQ(stores_by_stride<unsigned>(32).conflicts, 31u);
}
TEST(memory_report, lanes_that_want_one_word_do_not_conflict) {
  sim::line_accesses const l = stores_by_stride<unsigned>(0);
  EXPECT_EQ(l.accesses, 1u);
  EXPECT_EQ(l.conflicts, 0u);
  EXPECT_TRUE(l.shared);
  EXPECT_EQ(stores_by_stride<unsigned char>(1).conflicts, 0u);
}
TEST(memory_report, wide_accesses_take_several_passes) {
  EXPECT_EQ(stores_by_stride<two_words>(1).conflicts, 0u);
  EXPECT_EQ(stores_by_stride<two_words>(2).conflicts, 2u);  // 2 passes of 16 lanes, 1 each
  EXPECT_EQ(stores_by_stride<four_words>(1).conflicts, 0u);
  EXPECT_EQ(stores_by_stride<four_words>(8).conflicts, 28u);  // 4 passes of 8 lanes, 7 each
}

__global__ void add_to_one(unsigned lanes_per_word) {
  WARDEN_SHARED(unsigned[32], sums);
  measured_line = __LINE__ + 1;
  atomicAdd(&sums[threadIdx.x / lanes_per_word], 1u);
}
TEST(memory_report, atomics_on_one_word_conflict) {
  EXPECT_EQ(measured(report_of(32, add_to_one, 1u), "atomic").conflicts, 0u);
  EXPECT_EQ(measured(report_of(32, add_to_one, 32u), "atomic").conflicts, 31u);
}

// ---- global memory

__global__ void load_by_stride(unsigned const* values, unsigned stride, unsigned* sink) {
  measured_line = __LINE__ + 1;
  unsigned const value = values[threadIdx.x * stride];
  if (value == 1) *sink = value;
}
__global__ void load_cached_by_stride(unsigned const* values, unsigned stride, unsigned* sink) {
  measured_line = __LINE__ + 1;
  unsigned const value = __ldcg(&values[threadIdx.x * stride]);
  if (value == 1) *sink = value;
}
TEST(memory_report, stride_in_global_memory) {
  warden::buffer<unsigned> values(32 * 8), sink(1);
  values.fill_bytes(0);
  for (auto* const kernel : {load_by_stride, load_cached_by_stride}) {
    auto const loads = [&](unsigned stride) {
      return measured(
          report_of(32, kernel, static_cast<unsigned const*>(values.data()), stride, sink.data()),
          "load");
    };
    sim::line_accesses const together = loads(1);
    EXPECT_EQ(together.accesses, 1u);
    EXPECT_EQ(together.sectors, 4u);
    EXPECT_EQ(together.ideal_sectors, 4u);
    EXPECT_FALSE(together.shared);
    EXPECT_EQ(loads(2).sectors, 8u);
    EXPECT_EQ(loads(8).sectors, 32u);
    EXPECT_EQ(loads(8).ideal_sectors, 4u);
    EXPECT_EQ(loads(0).ideal_sectors, 1u);
  }
}

// ---- lanes that access together

/// Thread t makes t + 1 visits.
__global__ void loop_of_lanes() {
  WARDEN_SHARED(unsigned[64], words);
  for (unsigned i = 0; i <= threadIdx.x; ++i) {
    measured_line = __LINE__ + 1;
    words[threadIdx.x] = i;
  }
}
TEST(memory_report, the_nth_visits_of_lanes_are_one_access) {
  EXPECT_EQ(measured(report_of(32, loop_of_lanes), "store").accesses, 32u);
  EXPECT_EQ(measured(report_of(64, loop_of_lanes), "store").accesses, 32u + 64u);
}

/// Odd lanes skip the first visit. With `meets`, all lanes meet in between.
__global__ void skip_of_lanes(bool meets) {
  WARDEN_SHARED(unsigned[64], words);
  for (unsigned i = 0; i < 2; ++i) {
    if (meets) __syncwarp();
    if (i < threadIdx.x % 2) continue;
    measured_line = __LINE__ + 1;
    words[(threadIdx.x + i) % 32 + 32 * i] = i;
  }
}
TEST(memory_report, visits_count_from_the_last_meeting_on) {
  EXPECT_EQ(measured(report_of(32, skip_of_lanes, true), "store").conflicts, 0u);
  // The only visits of odd lanes count as made with the first ones of even lanes.
  EXPECT_EQ(measured(report_of(32, skip_of_lanes, false), "store").conflicts, 1u);
}

/// Halves of a warp that met apart are apart.
__global__ void halves_of_warp() {
  WARDEN_SHARED(unsigned[32], words);
  unsigned const half = threadIdx.x / 16;
  __syncwarp(0xffffu << 16 * half);
  measured_line = __LINE__ + 1;
  words[threadIdx.x] = half;
  __syncwarp();
}
TEST(memory_report, lanes_that_met_apart_access_apart) {
  EXPECT_EQ(measured(report_of(32, halves_of_warp), "store").accesses, 2u);
}

__global__ void in_two_warps() {
  WARDEN_SHARED(unsigned[64], words);
  measured_line = __LINE__ + 1;
  words[threadIdx.x] = 1;
}
TEST(memory_report, is_equal_under_all_schedules) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim::settings s;
    s.report_memory = true;
    s.seed = seed;
    sim::configure(s);
    sim::clear_memory_report();
    warden::launch(in_two_warps, 3, 64, {});
    EXPECT_EQ(measured(sim::memory_report(), "store").accesses, 6u);
  }
}

// ---- text

TEST(memory_report, text_has_the_costliest_lines_first) {
  std::string const text = sim::to_text({.lines = {{"a.cu:1", "load", true, 10, 0, 0, 0},
                                                   {"a.cu:2", "store", true, 4, 124, 0, 0},
                                                   {"a.cu:3", "load", false, 2, 0, 64, 8}},
                                         .uncounted = {"a.cu:9: bulk copies"}});
  EXPECT_EQ(text,
            "memory report: accesses of warps, by line\n"
            "  shared memory                           accesses   conflicts\n"
            "  a.cu:2 store                                   4         124\n"
            "  a.cu:1 load                                   10           0\n"
            "  global memory                           accesses     sectors       ideal\n"
            "  a.cu:3 load                                    2          64           8\n"
            "  not counted\n"
            "    a.cu:9: bulk copies\n");
}

struct three_words {
  unsigned value[3];
};
__global__ void copy_three(three_words const* from, three_words* to) {
  measured_line = __LINE__ + 1;
  to[threadIdx.x] = from[threadIdx.x];
}
TEST(memory_report, names_what_it_does_not_count) {
  warden::buffer<three_words> from(32), to(32);
  sim::memory_lines const report =
      report_of(32, copy_three, static_cast<three_words const*>(from.data()), to.data());
  std::string const line = "memory_report.cu:" + std::to_string(measured_line);
  EXPECT_THAT(report.uncounted, testing::Contains(line + ": objects that a GPU accesses in parts"));
}

__global__ void only_atomics(unsigned* sum) { atomicAdd(sum, 1u); }
TEST(memory_report, names_launches_without_plain_accesses) {
  warden::buffer<unsigned> sum(1);
  sum.fill_bytes(0);
  EXPECT_THAT(report_of(32, only_atomics, sum.data()).uncounted,
              ElementsAre(HasSubstr("launch without plain accesses, or compiled without")));
}

TEST(memory_report, counts_nothing_unless_it_is_asked_for) {
  sim::clear_memory_report();
  sim::configure({});
  warden::launch(in_two_warps, 1, 64, {});
  EXPECT_TRUE(sim::memory_report().lines.empty());
}

}  // namespace
