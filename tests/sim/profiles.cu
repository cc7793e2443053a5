// SPDX-License-Identifier: Apache-2.0
// Profiles of compute capabilities, and launches that the simulated device refuses, as CUDA does.

#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

namespace runtime = warden::runtime;
using testing::HasSubstr;

/// The environment as it was, when a test has ended.
class profiles : public testing::Test {
 protected:
  void SetUp() override {
    char const* const name = std::getenv("WARDEN_SIM_PROFILE");
    before_ = name == nullptr ? "default" : name;
    choose("default");
  }
  void TearDown() override { choose(before_); }
  static void choose(std::string const& name) {
    setenv("WARDEN_SIM_PROFILE", name.c_str(), 1);
    warden::sim::configure({});
  }

 private:
  std::string before_;
};

template <class Error>
std::string message_of(std::function<void()> const& action) {
  try {
    action();
  } catch (Error const& e) {
    return e.what();
  }
  return "no error";
}

struct nothing {};
WARDEN_KERNEL void do_nothing(nothing) {}
auto launching(runtime::launch_shape const& shape) {
  return [=] {
    nothing n;
    void* all[] = {&n};
    runtime::launch(warden::simt::make_kernel(&do_nothing), shape, all, {});
  };
}
int resident(unsigned threads, std::size_t shared_bytes) {
  return runtime::resident_blocks(warden::simt::make_kernel(&do_nothing), threads, shared_bytes);
}

TEST_F(profiles, the_environment_chooses_one) {
  choose("7.5");
  auto const facts = runtime::facts(0);
  EXPECT_EQ(facts.shared_bytes_per_block, 65536u);
  EXPECT_EQ(facts.shared_bytes_per_multiprocessor, 65536u);
  EXPECT_EQ(facts.reserved_shared_bytes_per_block, 0u);
  EXPECT_EQ(facts.threads_per_multiprocessor, 1024);
  EXPECT_EQ(facts.registers_per_multiprocessor, 65536);
  EXPECT_EQ(runtime::resident_clusters(warden::simt::make_kernel(&do_nothing), 32, 0, 2), 0);
  // 4 multiprocessors of 16 blocks, of 1,024 threads, or of 64 KB.
  EXPECT_EQ(resident(32, 0), 64);
  EXPECT_EQ(resident(1024, 0), 4);
  EXPECT_EQ(resident(32, 65536), 4);
  choose("8.6");
  // The system takes 1 KB of each block.
  EXPECT_EQ(resident(32, 49 << 10), 8);
  EXPECT_EQ(resident(32, (49 << 10) + 1), 4);
}
TEST_F(profiles, settings_begin_with_the_profile) {
  choose("8.6");
  warden::sim::settings s;
  s.seed = 7;
  s.multiprocessors = 1;
  warden::sim::configure(s);
  EXPECT_EQ(runtime::facts(0).shared_bytes_per_block, 99u << 10);
  warden::sim::configure({.profile = &warden::sim::find_profile("12.0")});
  EXPECT_EQ(resident(32, 0), 4 * 24);
}
TEST_F(profiles, each_holds_a_block_of_its_largest) {
  for (char const* const name : {"default", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"}) {
    choose(name);
    auto const facts = runtime::facts(0);
    EXPECT_EQ(facts.shared_bytes_per_block + facts.reserved_shared_bytes_per_block,
              facts.shared_bytes_per_multiprocessor)
        << name;
    EXPECT_EQ(resident(1024, facts.shared_bytes_per_block), 4) << name;
    bool const has_all = std::string{name} == "default" || std::atof(name) >= 9;
    EXPECT_EQ(warden::sim::current_settings().blocks_per_cluster > 1, has_all) << name;
    EXPECT_EQ(warden::sim::current_settings().bulk_copies, has_all) << name;
  }
}
// Tests of all profiles run on 7.5, 8.0, 12.0 and the default device, for this reason.
TEST_F(profiles, each_limit_is_that_of_a_profile_on_which_tests_run) {
  for (char const* const name : {"8.6", "8.9", "9.0", "10.0"}) {
    auto const& [of, threads, blocks, cluster, registers, shared, most, reserved, bulk] =
        warden::sim::find_profile(name);
    std::array<bool, 8> seen{};
    for (char const* const run : {"default", "7.5", "8.0", "12.0"}) {
      auto const& [_, threads_run, blocks_run, cluster_run, registers_run, shared_run, most_run,
                   reserved_run, bulk_run] = warden::sim::find_profile(run);
      std::array<bool, 8> const same{threads == threads_run,   blocks == blocks_run,
                                     cluster == cluster_run,   registers == registers_run,
                                     shared == shared_run,     most == most_run,
                                     reserved == reserved_run, bulk == bulk_run};
      for (std::size_t k = 0; k < same.size(); ++k) seen[k] = seen[k] || same[k];
    }
    EXPECT_THAT(seen, testing::Each(true)) << of;
  }
}
TEST_F(profiles, a_wrong_name) {
  setenv("WARDEN_SIM_PROFILE", "7.0", 1);
  EXPECT_THAT(message_of<warden::limit_error>([] { warden::sim::settings s; }),
              HasSubstr("WARDEN_SIM_PROFILE: no profile \"7.0\"; there are default, 7.5, 8.0, 8.6, "
                        "8.9, 9.0, 10.0, 12.0"));
}

// A test sets the variable to 2; without it there are 4.
TEST(environment, chooses_the_multiprocessors) {
  char const* const chosen = std::getenv("WARDEN_SIM_MULTIPROCESSORS");
  EXPECT_EQ(runtime::facts(0).multiprocessors, chosen == nullptr ? 4 : std::atoi(chosen));
}

TEST_F(profiles, launches_of_impossible_sizes) {
  using warden::cuda_error;
  EXPECT_THAT(message_of<cuda_error>(launching({0, 32})),
              HasSubstr("launching 0 blocks of 32 threads with 0 bytes of dynamic shared memory: "
                        "invalid configuration argument"));
  EXPECT_THAT(message_of<cuda_error>(launching({1, 0})), HasSubstr("invalid configuration"));
  EXPECT_THAT(message_of<cuda_error>(launching({1, 1025})), HasSubstr("invalid configuration"));
  EXPECT_THAT(message_of<cuda_error>(launching({1, 32, 228 << 10})),
              HasSubstr("with 233472 bytes of dynamic shared memory: invalid argument"));
  // Refused at once: nothing is left to fail in a wait.
  EXPECT_NO_THROW(warden::stream_ref{}.synchronize());
}
TEST_F(profiles, a_block_that_no_multiprocessor_holds) {
  EXPECT_THAT(message_of<warden::limit_error>([] { resident(32, 228 << 10); }),
              HasSubstr("233472 bytes of dynamic shared memory; the device has 232448"));
  warden::sim::configure({.threads_per_multiprocessor = 512});
  EXPECT_THAT(message_of<warden::limit_error>([] { resident(1024, 0); }),
              HasSubstr("a block of 1024 threads with 0 bytes of dynamic shared memory; a "
                        "multiprocessor holds 0 of them: make the block smaller"));
  EXPECT_THAT(message_of<warden::cuda_error>(launching({1, 1024})),
              HasSubstr("too many resources requested for launch"));
}
TEST_F(profiles, a_cooperative_launch_that_does_not_fit) {
  warden::sim::configure({.multiprocessors = 2});
  EXPECT_NO_THROW(launching({16, 32})());
  EXPECT_THAT(message_of<warden::limit_error>(launching({17, 32})),
              HasSubstr("a cooperative launch of 17 blocks of 32 threads with 0 bytes of dynamic "
                        "shared memory; an idle device holds 16 of them together: launch fewer "
                        "blocks"));
  EXPECT_NO_THROW(launching({17, 32, 0, false})());
}

}  // namespace
