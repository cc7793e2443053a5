// SPDX-License-Identifier: Apache-2.0
// The simulated device must stay fast enough to be used.

#include "tests/support/support.cuh"

#include <warden/simulation.hpp>

#include <chrono>

namespace {

struct add {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& sum, warden::no_context) const { sum += amount; }
};
using policy = warden::policy<warden::options{.block_threads = 128}>;
using sums = warden::basic_guarded<policy, std::uint64_t, add>;

struct send {
  std::uint32_t n;
  __device__ void operator()(warden::virtual_block const& at, sums::ref const& ref) const {
    sums::block_client client{ref, at};
    for (std::uint32_t first = at.block_index() * 128; first < n; first += at.grid_dim() * 128) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(i % 1000, add{1}, i < n);
    }
    client.flush();
  }
};

TEST(speed, a_hundred_thousand_sections_in_twenty_seconds) {
  warden::sim::configure({});
  warden::buffer<std::uint64_t> records{1000};
  records.fill_bytes(0);
  sums g{records, {.servers = 2}};
  auto const start = std::chrono::steady_clock::now();
  warden::launch_fused(send{100'000}, 4, 128, {}, g);
  g.wait();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  for (std::uint64_t sum : records.to_host()) ASSERT_EQ(sum, 100u);
  EXPECT_LT(took.count(), 20.0);
  std::printf("100,000 sections: %.2f s, %llu steps\n", took.count(),
              static_cast<unsigned long long>(warden::sim::last_report().steps));
}

}  // namespace
