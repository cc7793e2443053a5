// SPDX-License-Identifier: Apache-2.0
// Accesses outside device memory are errors on the simulated device, of device code and of copies.

#include "tests/support/error_text.hpp"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/detail/spread/pinned.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <source_location>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
namespace simt = warden::simt;

struct arguments {
  std::uint32_t* words;
  std::int64_t index;
};
using kernel = void (*)(arguments);

/// Returns the error of a wait for the launch; thread 12 of block 1 has the index 12.
std::string error_of(kernel k, std::uint32_t* words, std::int64_t index = 12) {
  return test::error_of<warden::sim::misuse_error>([&] {
    simt::launch(k, 2, 32, 0, {words, index}, {});
    warden::stream_ref{}.synchronize();
  });
}

class device_memory : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }

  warden::buffer<std::uint32_t> ten_{10};
};

bool is_chosen() { return simt::block_rank() == 1 && simt::thread_rank() == 12; }

WARDEN_KERNEL void load(arguments a) {
  if (is_chosen()) simt::load_relaxed(a.words + a.index);
}
WARDEN_KERNEL void load_long(arguments a) {
  if (is_chosen()) simt::load_acquire(reinterpret_cast<std::uint64_t*>(a.words + a.index));
}
WARDEN_KERNEL void store(arguments a) {
  if (is_chosen()) simt::store_release(a.words + a.index, 1u);
}
WARDEN_KERNEL void add(arguments a) {
  if (is_chosen()) simt::add(a.words + a.index, 1u);
}
WARDEN_KERNEL void exchange(arguments a) {
  if (is_chosen()) simt::compare_exchange(a.words + a.index, 0u, 1u);
}
WARDEN_KERNEL void load_flit(arguments a) {
  if (is_chosen()) simt::load_flit(reinterpret_cast<simt::flit_words*>(a.words + a.index));
}
WARDEN_KERNEL void store_flit(arguments a) {
  if (is_chosen()) simt::store_flit(reinterpret_cast<simt::flit_words*>(a.words + a.index), {1, 2});
}
WARDEN_KERNEL void store_four(arguments a) {
  if (is_chosen()) simt::store_four_words(a.words + a.index, {1, 2, 3, 4});
}
WARDEN_KERNEL void load_by_cudas_name(arguments a) {
  if (is_chosen()) warden::cuda_names::__ldcg(a.words + a.index);
}
WARDEN_KERNEL void add_by_cudas_name(arguments a) {
  if (is_chosen()) warden::cuda_names::atomicAdd(a.words + a.index, 1u);
}
WARDEN_KERNEL void store_plainly(arguments a) {
  if (is_chosen()) a.words[a.index] = 1;
}

TEST_F(device_memory, an_access_past_the_end) {
  std::string const error = error_of(&store, ten_.data());
  EXPECT_THAT(error, HasSubstr("store outside device memory: bytes 48 to 51 of an allocation of 40 "
                               "bytes (made at device_memory.cu:"));
  EXPECT_THAT(error, HasSubstr("), 12 past its end [block 1, thread 12] (device_memory.cu:"));
  warden::sim::configure({});
  EXPECT_EQ(error_of(&store, ten_.data()), error);
  EXPECT_EQ(error_of(&store, ten_.data(), 9), "");
}
TEST_F(device_memory, an_access_before_the_begin) {
  EXPECT_THAT(error_of(&load, ten_.data(), -2),
              AllOf(HasSubstr("load outside device memory: bytes -8 to -5 of an allocation of 40"),
                    HasSubstr(", 8 before its begin [block 1, thread 12")));
}
TEST_F(device_memory, an_access_that_ends_past_the_end) {
  EXPECT_THAT(error_of(&load_long, ten_.data(), 9), HasSubstr("bytes 36 to 43 of an allocation"));
  EXPECT_EQ(error_of(&load_long, ten_.data(), 8), "");
}
TEST_F(device_memory, every_kind_of_access) {
  for (kernel const k : {&load, &load_long, &store, &add, &exchange, &load_flit, &store_flit,
                         &store_four, &load_by_cudas_name, &add_by_cudas_name})
    EXPECT_THAT(error_of(k, ten_.data()), HasSubstr(" outside device memory: bytes 48 to "));
  // The second half of a flit.
  EXPECT_THAT(error_of(&load_flit, ten_.data(), 8), HasSubstr("load outside device memory: bytes "
                                                              "40 to 47"));
  EXPECT_THAT(error_of(&store_flit, ten_.data(), 8), HasSubstr("store outside device memory: bytes "
                                                               "40 to 47"));
}
TEST_F(device_memory, an_access_to_freed_memory) {
  std::uint32_t* const freed = warden::buffer<std::uint32_t>{10}.data();
  EXPECT_THAT(error_of(&load, freed, 3),
              HasSubstr("bytes 12 to 15 of a freed allocation of 40 bytes"));
}
TEST_F(device_memory, an_access_far_from_any_allocation) {
  for (std::int64_t const far : {std::int64_t{1} << 40, -(std::int64_t{1} << 40)})
    EXPECT_THAT(error_of(&load, ten_.data(), far), HasSubstr("far from any allocation"));
  std::vector<std::uint32_t> const of_the_host(64);
  EXPECT_THAT(error_of(&load, const_cast<std::uint32_t*>(of_the_host.data())),
              HasSubstr("or memory of the host"));
  EXPECT_THAT(error_of(&load, nullptr), HasSubstr("far from any allocation"));
}

std::uint32_t variable[16];

WARDEN_KERNEL void access_what_is_allowed(arguments a) {
  WARDEN_SHARED(std::uint32_t[16], shared);
  std::uint32_t local[16] = {};
  if (!is_chosen()) return;
  for (std::uint32_t* const memory : {a.words, variable, &shared[0], &local[0]}) {
    simt::store_relaxed(memory + 12, 1u);
    simt::add(memory + 12, 1u);
    a.words[a.index] += simt::load_relaxed(memory + 12);
  }
}
TEST_F(device_memory, static_shared_local_and_pinned_memory) {
  auto const here = std::source_location::current();
  auto const pinned = warden::detail::make_pinned<std::uint32_t>(16, here);
  pinned[0] = 0;
  EXPECT_EQ(error_of(&access_what_is_allowed, pinned.get(), 0), "");
  EXPECT_EQ(pinned[0], 8u);
}

TEST_F(device_memory, a_plain_store_past_the_end_or_before_the_begin) {
  EXPECT_THAT(error_of(&store_plainly, ten_.data(), 10),
              AllOf(HasSubstr("the launch at device_memory.cu:"),
                    HasSubstr(" wrote bytes 40 to 43 of an allocation of 40 bytes (made at "),
                    HasSubstr("), 4 past its end")));
  EXPECT_THAT(error_of(&store_plainly, ten_.data(), -1),
              HasSubstr(" wrote bytes -4 to -1 of an allocation of 40 bytes"));
  EXPECT_EQ(error_of(&store_plainly, ten_.data(), 9), "");
}
TEST_F(device_memory, a_plain_store_to_freed_memory) {
  std::uint32_t* const freed = warden::buffer<std::uint32_t>{10}.data();
  EXPECT_THAT(error_of(&store_plainly, freed, 3),
              HasSubstr(" wrote bytes 12 to 15 of a freed allocation of 40 bytes"));
}
WARDEN_KERNEL void store_everywhere(arguments a) {
  if (!is_chosen()) return;
  a.words[10] = 1;
  a.words[-1] = 1;
  simt::store_relaxed(a.words + 12, 1u);
}
TEST_F(device_memory, each_error_of_a_launch_is_told_and_once) {
  EXPECT_THAT(error_of(&store_everywhere, ten_.data()),
              AllOf(HasSubstr("store outside device memory: bytes 48 to 51"),
                    HasSubstr(" wrote bytes -4 to -1 "), HasSubstr(" and bytes 40 to 43 ")));
  EXPECT_EQ(error_of(&store, ten_.data(), 0), "");
}

TEST_F(device_memory, a_store_of_the_host_is_told_after_the_next_free) {
  {
    warden::buffer<std::uint32_t> const two{2};
    two.data()[2] = 1;
  }
  EXPECT_THAT(test::error_of<warden::sim::misuse_error>([] { warden::stream_ref{}.synchronize(); }),
              HasSubstr("the host wrote bytes 8 to 11 of an allocation of 8 bytes"));
}
TEST_F(device_memory, copies_and_fills_past_the_end) {
  std::vector<std::uint32_t> host(11);
  auto const error_of = [](auto call) { return test::error_of<warden::cuda_error>(call); };
  EXPECT_THAT(error_of([&] { warden::copy(ten_.data(), host.data(), 11); }),
              HasSubstr("copying to bytes 0 to 43 of an allocation of 40 bytes"));
  EXPECT_THAT(error_of([&] { warden::copy(host.data(), ten_.data() + 1, 10); }),
              HasSubstr("copying from bytes 4 to 43 of an allocation of 40 bytes"));
  EXPECT_THAT(error_of([&] { warden::runtime::fill_async(ten_.data() - 1, 0, 4, {}); }),
              HasSubstr("filling bytes -4 to -1 of an allocation of 40 bytes"));
  EXPECT_EQ(error_of([&] { warden::copy(ten_.data(), host.data(), 10); }), "");
  EXPECT_EQ(error_of([&] { warden::copy(ten_.data() + 10, host.data(), 0); }), "");
}

WARDEN_KERNEL void meet(arguments a) {
  simt::sync_block();
  simt::add(a.words, 1u);
}
TEST_F(device_memory, too_little_for_the_stacks_of_threads) {
  auto const run = [&](int blocks) {
    simt::launch(&meet, blocks, 1024, 0, {ten_.data(), 0}, {});
    warden::stream_ref{}.synchronize();
  };
  ten_.fill_bytes(0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit little = before;
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  little.rlim_cur = pages * 4096 + (16 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  std::string const told = test::error_of<warden::limit_error>([&] { run(8); });
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(told,
              MatchesRegex("the simulated device has memory for the stacks of [0-9]+ resident "
                           "threads; lower sim::settings::multiprocessors .now 4. or .*"));
  warden::sim::configure({});
  ten_.fill_bytes(0);
  run(8);
  EXPECT_EQ(ten_.to_host()[0], 8192u);
}

}  // namespace
