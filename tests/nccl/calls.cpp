// SPDX-License-Identifier: Apache-2.0
// Answers of NCCL to the communicator over it, by fakes that can be slow and fail, without a GPU.

#include "tests/nccl/fake_nccl.hpp"
#include "tests/support/error_text.hpp"

#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <gmock/gmock.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::HasSubstr;
using warden::communicator;

std::source_location const where = std::source_location::current();

class nccl_calls : public testing::Test {
 protected:
  nccl_calls() {
    now.stream_ends = true;
    now.sent = now.group = ncclSuccess;
    now.groups = 0;
    now.has_windows = now.makes_window = now.reaches_all = true;
    now.registered = ncclSuccess;
    now.polls_of_window = now.memories = now.windows = 0;
    now.lost_device = now.full_device = -1;
  }
  template <class Call>
  static std::string told(Call call) {
    return test::error_of<warden::communicator_error>(call);
  }
  static void send(communicator const& world) {
    world.transport().exchange(std::vector<warden::runtime::outgoing>{{0, nullptr, 4}},
                               std::vector<warden::runtime::incoming>{{0, nullptr, 4}}, {}, where);
  }

  ncclComm comm_;
};

TEST_F(nccl_calls, a_communicator_that_is_still_being_made_is_waited_for) {
  comm_.rank = 1;
  comm_.size = 2;
  comm_.made = false;
  comm_.polls_left = 3;
  communicator const world{&comm_};
  EXPECT_EQ(world.rank(), 1);
  EXPECT_EQ(world.size(), 2);
}
TEST_F(nccl_calls, a_communicator_that_is_never_made_is_an_error) {
  comm_.made = false;
  comm_.polls_left = 1 << 30;
  EXPECT_THAT(told([&] {
                communicator{&comm_, {.time_limit_seconds = 0.01}};
              }),
              testing::StartsWith("making the communicator: no end within 0.01"));
}
TEST_F(nccl_calls, an_exchange_in_progress_is_waited_for) {
  communicator const world{&comm_};
  now.group = now.sent = ncclInProgress;
  comm_.polls_left = 4;
  send(world);
  EXPECT_EQ(comm_.polls_left, 0);
  // One poll is that before the call.
  comm_.polls_left = 4;
  comm_.state = ncclRemoteError;
  EXPECT_THAT(told([&] { send(world); }), HasSubstr("rank 0 of 1: exchanging: remote error"));
  EXPECT_EQ(now.groups, 0);
}
TEST_F(nccl_calls, a_group_that_was_begun_is_ended) {
  communicator const world{&comm_};
  now.sent = ncclInternalError;
  EXPECT_THAT(told([&] { send(world); }), HasSubstr("exchanging: internal error"));
  EXPECT_EQ(now.groups, 0);
}
TEST_F(nccl_calls, a_gathering_that_fails_is_an_error) {
  communicator const world{&comm_};
  now.sent = ncclInternalError;
  EXPECT_THAT(told([&] { world.transport().all_gather(nullptr, nullptr, 4, {}, where); }),
              HasSubstr("rank 0 of 1: gathering: internal error"));
}
TEST_F(nccl_calls, an_error_while_others_are_waited_for_is_told) {
  communicator const world{&comm_};
  now.stream_ends = false;
  comm_.polls_left = 3;
  comm_.state = ncclRemoteError;
  EXPECT_THAT(told([&] { world.transport().wait({}, where); }),
              HasSubstr("waiting for other ranks: remote error"));
  // To abort it is the user's.
  EXPECT_EQ(comm_.aborted, 0);
}
TEST_F(nccl_calls, a_rank_that_does_not_come_is_waited_for_so_long) {
  communicator const world{&comm_, {.time_limit_seconds = 0.02}};
  now.stream_ends = false;
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_THAT(told([&] { world.transport().wait({}, where); }), HasSubstr("no end within 0.02"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{20});
  EXPECT_EQ(comm_.aborted, 0);
}
/// A run waits for the counts while the kernel that sends is still at work, and a sleep delays it.
TEST_F(nccl_calls, a_short_wait_does_not_sleep) {
  now.stream_ends = false;
  auto const sleeps_in = [&](double seconds) {
    communicator const world{&comm_, {.time_limit_seconds = seconds}};
    now.sleeps = 0;
    told([&] { world.transport().wait({}, where); });
    return now.sleeps.load();
  };
  EXPECT_EQ(sleeps_in(0.005), 0);
  EXPECT_GT(sleeps_in(0.1), 0);
}

TEST_F(nccl_calls, after_an_error_every_call_fails_at_once_and_nccl_is_called_no_more) {
  communicator const world{&comm_, {.time_limit_seconds = 0.01}};
  now.stream_ends = false;
  EXPECT_EQ(*world.transport().failed_word(), 0u);
  told([&] { world.transport().wait({}, where); });
  EXPECT_EQ(*world.transport().failed_word(), 1u);
  now.stream_ends = true;
  // The state after ncclCommAbort by the user.
  comm_.polls_left = 1000;
  auto const words = HasSubstr("the communicator has failed: no end within 0.01");
  EXPECT_THAT(told([&] { send(world); }), words);
  EXPECT_THAT(told([&] { world.transport().all_gather(nullptr, nullptr, 4, {}, where); }), words);
  EXPECT_THAT(told([&] { world.transport().wait({}, where); }), words);
  EXPECT_EQ(comm_.polls_left, 1000);
}
TEST_F(nccl_calls, what_was_waited_for_is_named) {
  communicator const world{&comm_, {.time_limit_seconds = 0.01}};
  now.stream_ends = false;
  send(world);
  EXPECT_THAT(told([&] { world.transport().wait({}, where); }),
              HasSubstr("waiting for other ranks: no end within 0.01 s of an exchange with "
                        "rank 0; look for a rank that failed, or raise "
                        "communicator_options::time_limit_seconds"));
}
TEST_F(nccl_calls, an_owned_communicator_is_aborted_before_the_error_is_thrown) {
  {
    communicator const world{&comm_, {.time_limit_seconds = 0.01, .owned = true}};
    now.stream_ends = false;
    told([&] { world.transport().wait({}, where); });
    EXPECT_EQ(comm_.aborted, 1);
    EXPECT_THAT(told([&] { world.transport().wait({}, where); }), HasSubstr("has failed: no end"));
  }
  EXPECT_EQ(comm_.aborted + comm_.destroyed, 1);
}
TEST_F(nccl_calls, an_owned_communicator_is_destroyed_with_its_last_copy) {
  std::optional<communicator> world{std::in_place, &comm_,
                                    warden::communicator_options{.owned = true}};
  {
    communicator const copy = *world;
    world.reset();
    EXPECT_EQ(comm_.destroyed, 0);
  }
  EXPECT_EQ(comm_.destroyed, 1);
  EXPECT_EQ(comm_.aborted, 0);
}
TEST_F(nccl_calls, the_user_aborts_a_rank_that_waits) {
  for (bool const in_progress : {false, true}) {
    ncclComm comm;
    communicator const world{&comm, {.owned = true}};
    now.stream_ends = false;
    if (in_progress) {
      now.sent = ncclInProgress;
      comm.polls_left = 1 << 30;
    }
    std::thread other{[&] {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      world.abort();
    }};
    EXPECT_THAT(told([&] {
                  world.transport().all_gather(nullptr, nullptr, 4, {}, where);
                  world.transport().wait({}, where);
                }),
                HasSubstr("aborted by this rank"));
    other.join();
    EXPECT_EQ(comm.aborted, 1);
  }
}

TEST_F(nccl_calls, memory_is_shared_in_a_window) {
  comm_.rank = 1;
  comm_.size = 2;
  communicator const world{&comm_};
  {
    auto const shared = world.transport().share(64, where);
    ASSERT_NE(shared, nullptr);
    EXPECT_NE(shared->at(0), nullptr);
    EXPECT_EQ(now.windows, 1);
  }
  EXPECT_EQ(now.windows, 0);
  now.reaches_all = false;
  EXPECT_EQ(world.transport().share(64, where), nullptr);
  EXPECT_EQ(now.windows, 0);
  now.makes_window = false;
  EXPECT_EQ(world.transport().share(64, where), nullptr);
  now.has_windows = false;
  EXPECT_EQ(world.transport().share(64, where), nullptr);
  EXPECT_EQ(now.memories, 0);
}
/// Also if it says that it was a success.
TEST_F(nccl_calls, a_call_in_progress_is_waited_for_before_the_next) {
  communicator const world{&comm_};
  comm_.polls_left = 5;
  EXPECT_EQ(told([&] { world.transport().all_gather(nullptr, nullptr, 4, {}, where); }), "");
  now.polls_of_window = 3;
  auto const shared = world.transport().share(64, where);
  EXPECT_EQ(comm_.polls_left, 0);
}
TEST_F(nccl_calls, a_window_that_is_not_made_is_an_error) {
  communicator const world{&comm_};
  now.registered = ncclInternalError;
  EXPECT_THAT(told([&] { world.transport().share(64, where); }),
              HasSubstr("rank 0 of 1: sharing memory: internal error"));
  EXPECT_EQ(now.memories, 0);
}
/// NCCL would wait for it without a limit.
TEST_F(nccl_calls, memory_is_registered_only_when_all_ranks_have_some) {
  communicator const world{&comm_, {.time_limit_seconds = 0.01}};
  now.stream_ends = false;
  EXPECT_THAT(told([&] { world.transport().share(64, where); }),
              HasSubstr("no end within 0.01 s of"));
  EXPECT_EQ(now.windows, 0);
  EXPECT_EQ(now.memories, 0);
}
TEST_F(nccl_calls, windows_of_a_failed_communicator_are_left_to_its_end) {
  communicator const world{&comm_, {.time_limit_seconds = 0.01}};
  auto shared = world.transport().share(64, where);
  now.stream_ends = false;
  told([&] { world.transport().wait({}, where); });
  shared.reset();
  EXPECT_EQ(now.windows, 1);
  EXPECT_EQ(now.memories, 0);
}

/// All communicators of run_on_gpus are gone, in one of the two ways.
void expect_gone(int aborted) {
  int sum = 0;
  for (auto const& comm : now.made) {
    EXPECT_EQ(comm->aborted + comm->destroyed, 1);
    sum += comm->aborted;
  }
  EXPECT_EQ(sum, aborted);
}

TEST_F(nccl_calls, ranks_of_one_process_have_a_communicator_each) {
  std::atomic<int> ranks = 0;
  warden::run_on_gpus(3, [&](communicator const& world) {
    ranks += 1 << world.rank();
    EXPECT_EQ(world.size(), 3);
    world.transport().wait({}, where);
  });
  EXPECT_EQ(ranks, 7);
  expect_gone(0);
}
TEST_F(nccl_calls, all_gpus_may_be_ranks_and_no_more) {
  int const gpus = warden::runtime::device_count();
  std::atomic<int> ranks = 0;
  warden::run_on_gpus(gpus, [&](communicator const&) { ++ranks; });
  EXPECT_EQ(ranks, gpus);
  expect_gone(0);
  EXPECT_THAT(test::error_of<warden::limit_error>([&] { warden::run_on_gpus(gpus + 1, {}); }),
              HasSubstr("run_on_gpus: 5 GPUs; there are 4"));
}
/// 3 ranks, whose streams come to no end once all have begun.
void run_stuck(std::function<void(communicator const&)> const& body,
               warden::communicator_options chosen = {}) {
  std::latch begun{3};
  warden::run_on_gpus(
      3,
      [&](communicator const& world) {
        begun.arrive_and_wait();
        now.stream_ends = false;
        body(world);
      },
      chosen);
}
TEST_F(nccl_calls, what_a_rank_throws_ends_the_others) {
  EXPECT_THAT(test::error_of<warden::error>([] {
                run_stuck([](communicator const& world) {
                  if (world.rank() == 2) throw warden::limit_error{"no more"};
                  world.transport().wait({}, where);
                });
              }),
              HasSubstr("no more"));
  expect_gone(3);
}
/// NCCL lets ranks that connect wait for this one until its communicator is aborted.
TEST_F(nccl_calls, a_rank_that_fails_before_it_begins_aborts_its_communicator) {
  auto const connect = [] { warden::run_on_gpus(3, [](communicator const&) {}); };
  now.lost_device = 1;
  EXPECT_THAT(test::error_of<warden::error>(connect), HasSubstr("the device is lost"));
  EXPECT_EQ(now.made[1]->aborted, 1);
  now.lost_device = -1;
  now.full_device = 2;
  EXPECT_THAT(test::error_of<warden::error>(connect), HasSubstr("out of pinned memory"));
  EXPECT_EQ(now.made[2]->aborted, 1);
}
TEST_F(nccl_calls, an_owned_communicator_is_aborted_if_its_transport_cannot_be_made) {
  now.full_device = 0;
  EXPECT_THAT(test::error_of<warden::error>([&] { communicator{&comm_}; }),
              HasSubstr("out of pinned memory"));
  EXPECT_EQ(comm_.aborted, 0);
  EXPECT_THAT(test::error_of<warden::error>([&] {
                communicator{&comm_, {.owned = true}};
              }),
              HasSubstr("out of pinned memory"));
  EXPECT_EQ(comm_.aborted, 1);
  now.full_device = -1;
  comm_.state = ncclRemoteError;
  comm_.polls_left = 1;
  EXPECT_THAT(told([&] { communicator{&comm_, {.owned = true}}; }), HasSubstr("remote error"));
  EXPECT_EQ(comm_.aborted, 2);
}
TEST_F(nccl_calls, ranks_of_one_process_that_are_late_are_named) {
  std::atomic<bool> is_over = false;
  EXPECT_THAT(test::error_of<warden::error>([&] {
                run_stuck(
                    [&](communicator const& world) {
                      while (world.rank() == 1 && !is_over) std::this_thread::yield();
                      world.transport().all_gather(nullptr, nullptr, 4, {}, where);
                      try {
                        world.transport().wait({}, where);
                      } catch (...) {
                        is_over = true;
                        throw;
                      }
                    },
                    {.time_limit_seconds = 0.1});
              }),
              HasSubstr("no end within 0.1 s of a gathering of 4 bytes of each rank, waiting "
                        "for rank 1;"));
  expect_gone(3);
}
/// The ranks' second errors are no causes either.
TEST_F(nccl_calls, a_rank_that_goes_on_after_giving_up_is_not_the_cause) {
  EXPECT_THAT(test::error_of<warden::error>([] {
                run_stuck([](communicator const& world) {
                  if (world.rank() == 2) {
                    now.made[2]->state = ncclRemoteError;
                    std::this_thread::sleep_for(std::chrono::milliseconds{20});
                  }
                  try {
                    world.transport().wait({}, where);
                  } catch (warden::communicator_error const&) {
                    if (world.rank() == 2) throw;
                    world.transport().wait({}, where);
                  }
                });
              }),
              HasSubstr("rank 2 of 3: waiting for other ranks: remote error"));
  expect_gone(3);
}
/// The others' errors may come first.
TEST_F(nccl_calls, what_failed_first_is_told) {
  EXPECT_THAT(test::error_of<warden::error>([] {
                run_stuck([](communicator const& world) {
                  if (world.rank() == 1) now.made[1]->state = ncclRemoteError;
                  try {
                    world.transport().wait({}, where);
                  } catch (warden::communicator_error const&) {
                    if (world.rank() == 1)
                      std::this_thread::sleep_for(std::chrono::milliseconds{50});
                    throw;
                  }
                });
              }),
              HasSubstr("rank 1 of 3: waiting for other ranks: remote error"));
  expect_gone(3);
}

}  // namespace
