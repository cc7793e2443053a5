// SPDX-License-Identifier: Apache-2.0
// The communicator over NCCL: a rank that sends to itself, and the ranks of all GPUs. Also the
// tests of ranks that share a device, once more on as many GPUs, if there are enough, or by as many
// processes.

#include "tests/nccl/process_rank.hpp"
#include "tests/protocol/spread.cuh"

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>

#include <gmock/gmock.h>
#include <nccl.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace simt = warden::simt;
using deferring::entry;

/// A communicator of the user's, of one GPU.
class one_rank {
 public:
  one_rank() { EXPECT_EQ(ncclCommInitAll(&comm_, 1, nullptr), ncclSuccess); }
  ~one_rank() { ncclCommDestroy(comm_); }
  one_rank(one_rank const&) = delete;
  one_rank& operator=(one_rank const&) = delete;
  operator ncclComm_t() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};

void on_gpus(warden::loopback_settings const& chosen, spreading::body const& of_each) {
  if (chosen.ranks > warden::runtime::device_count())
    GTEST_SKIP() << "there are not " << chosen.ranks << " GPUs";
  EXPECT_EQ(spreading::told([&] { warden::run_on_gpus(chosen.ranks, of_each); }), "");
}
/// Processes that a test has no ranks for leave it to the others.
void on_processes(warden::loopback_settings const& chosen, spreading::body const& of_each) {
  test::process_rank& mine = *test::process_rank::of_job();
  if (chosen.ranks > mine.size()) GTEST_SKIP() << "there are not " << chosen.ranks << " processes";
  if (mine.rank() >= chosen.ranks) return;
  EXPECT_EQ(spreading::told([&] { of_each(mine.with_first(chosen.ranks)); }), "");
}
[[maybe_unused]] bool const is_chosen =
    (spreading::on_ranks = test::process_rank::of_job() != nullptr ? &on_processes : &on_gpus,
     true);

TEST(nccl, a_rank_sends_itself_what_it_gets) {
  one_rank const job;
  warden::communicator const world{job};
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  std::vector<std::uint32_t> numbers(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) numbers[i] = i * i;
  warden::buffer<std::uint32_t> const from{numbers};
  warden::buffer<std::uint32_t> gathered{1000}, received{1000};
  warden::stream const s;
  auto const where = std::source_location::current();
  world.transport().all_gather(from.data(), gathered.data(), from.bytes(), s, where);
  // Two pieces to one rank arrive in their order.
  std::vector<warden::runtime::outgoing> const sent{{0, from.data(), 400},
                                                    {0, from.data() + 100, 3600}};
  std::vector<warden::runtime::incoming> const come{{0, received.data(), 400},
                                                    {0, received.data() + 100, 3600}};
  world.transport().exchange(sent, come, s, where);
  world.transport().wait(s, where);
  EXPECT_EQ(gathered.to_host(), numbers);
  EXPECT_EQ(received.to_host(), numbers);
}

TEST(nccl, what_nccl_refuses_is_told) {
  one_rank const job;
  warden::communicator const world{job};
  warden::buffer<std::uint32_t> const memory{1};
  EXPECT_THAT(spreading::told([&] {
                world.transport().exchange(
                    std::vector<warden::runtime::outgoing>{{7, memory.data(), 4}}, {}, {},
                    std::source_location::current());
              }),
              testing::HasSubstr("rank 0 of 1: exchanging: invalid argument"));
}

/// Sections enough that each rank's multiprocessors have many batches.
void run_many(warden::communicator const& world) {
  constexpr std::uint32_t n = 300'000;
  spreading::rank_bench<deferring::small_blocks<>> b{world, 5000};
  warden::deferred later{b.on(), n};
  auto const size = static_cast<std::uint32_t>(world.size());
  auto const rank = static_cast<std::uint32_t>(world.rank());
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::uint32_t const first = (round * size + rank) * n;
    b.send_alone(later, first, first + n / 3);
    b.send_together(later, first + n / 3, first + n, 100);
    later.run();
  }
  EXPECT_EQ(spreading::told([&] { b.on().wait(); }), "");
  b.expect_ran(3 * size * n);
}
TEST(nccl, sections_run_on_the_gpu_that_has_the_record) {
  warden::run_on_gpus(warden::runtime::device_count(), &run_many);
}
TEST(nccl, sections_run_in_the_process_that_has_the_record) {
  test::process_rank const* const mine = test::process_rank::of_job();
  if (mine == nullptr) GTEST_SKIP() << "a job of one process";
  for (int count = 2; count <= mine->size(); ++count)
    spreading::on_ranks(spreading::ranks(count), &run_many);
}
/// Checks the errors of the first ranks of a job when the last rank makes only its first `runs`
/// runs, or fewer: aborts its communicator.
void expect_told_of_last_rank(int runs, bool blocks, bool aborts, std::string const& words) {
  test::process_rank* const mine = test::process_rank::of_job();
  if (mine == nullptr || mine->size() < 2) GTEST_SKIP() << "a job of one process";
  ncclComm_t const comm = mine->make(mine->size(), blocks);
  bool const is_last = mine->rank() + 1 == mine->size();
  {
    warden::communicator const world{comm, {.time_limit_seconds = 1.5}};
    spreading::rank_bench<deferring::small_blocks<>> b{world, 30};
    warden::deferred later{b.on(), 100};
    for (int run = 0; run < runs; ++run) {
      b.send_alone(later, 0, 100);
      later.run();
      b.on().wait();
    }
    std::string text;
    if (!is_last) {
      b.send_alone(later, 0, 100);
      text = spreading::told([&] {
        later.run();
        b.on().wait();
      });
      EXPECT_THAT(text, testing::HasSubstr("rank " + std::to_string(mine->rank()) + " of "));
      EXPECT_THAT(text, testing::ContainsRegex(words));
    } else if (!aborts) {
      // No rank leaves before the others have given up.
      std::this_thread::sleep_for(std::chrono::seconds{3});
    }
    // Comes before the destruction of objects made with it, which may wait for NCCL's work.
    ncclCommAbort(comm);
  }
}
TEST(nccl, a_process_that_does_not_come_is_told_by_the_others) {
  for (bool const blocks : {false, true})
    expect_told_of_last_rank(1, blocks, false, "no end within 1.5");
}
TEST(nccl, a_process_that_never_came_is_told_by_the_others) {
  expect_told_of_last_rank(0, false, false, "no end within 1.5");
}
TEST(nccl, a_process_that_gives_up_is_told_by_the_others) {
  for (bool const blocks : {false, true})
    expect_told_of_last_rank(1, blocks, true, "no end within 1.5|remote process");
}
TEST(nccl, what_a_rank_throws_comes_out) {
  int const count = warden::runtime::device_count();
  EXPECT_THAT(spreading::told([&] {
                warden::run_on_gpus(count, [&](warden::communicator const& world) {
                  if (world.rank() == count - 1) throw warden::limit_error{"no more"};
                  spreading::rank_bench<deferring::small_blocks<>> b{world, 50};
                  warden::deferred later{b.on(), 10};
                  later.run();
                });
              }),
              testing::HasSubstr("no more"));
  EXPECT_THAT(spreading::told([&] { warden::run_on_gpus(count + 1, [](auto const&) {}); }),
              testing::HasSubstr("GPUs; there are " + std::to_string(count)));
}

}  // namespace
