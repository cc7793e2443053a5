// SPDX-License-Identifier: Apache-2.0
// What a guarded array's `wait` promises of several streams, under many schedules.

#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace {

struct account {
  std::uint64_t balance;
};
struct deposit {
  std::uint64_t amount;
  __device__ void operator()(account& a) const { a.balance += amount; }
};
using policy = warden::policy<warden::options{.block_threads = 32}>;
using bank = warden::basic_guarded<policy, account, deposit>;
constexpr unsigned accounts = 10;

/// Accounts without money, and their guarded.
struct fixture {
  warden::buffer<account> memory = cleared();
  bank on{memory, warden::guarded_options{.servers = 2}};

  static warden::buffer<account> cleared() {
    warden::buffer<account> b{accounts};
    b.fill_bytes(0);
    warden::stream_ref{}.synchronize();
    return b;
  }
  /// The money of all accounts now: asks no stream, in which more work may run then.
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (unsigned i = 0; i < accounts; ++i) all += memory.data()[i].balance;
    return all;
  }
};

/// A deposit of 1 by each thread, to accounts from `first` on.
WARDEN_KERNEL void pay(bank::deferred_ref log, std::uint32_t first) {
  log.send(first + warden::simt::thread_rank() % accounts, deposit{1});
}

TEST(errors_seeds, that_are_counted_during_a_wait_are_not_lost) {
  test::under_many_schedules(1, [](std::uint64_t) {
    fixture f;
    warden::deferred log{f.on, 100};
    warden::stream one, two;
    // Ids that are none.
    warden::launch(&pay, 1, 32, one, log.ref(), accounts);
    for (int k = 0; k < 3; ++k) warden::launch(&pay, 1, 32, two, log.ref(), accounts);
    std::uint64_t reported = 0;
    auto const wait = [&](warden::stream_ref s) {
      try {
        f.on.wait(s);
      } catch (warden::limit_error const& e) {
        EXPECT_EQ(e.all().size(), 1u) << e.what();
        reported += e.all()[0].count;
      }
    };
    wait(one);
    EXPECT_GE(reported, 32u);
    wait(two);
    EXPECT_EQ(reported, 4u * 32);
  });
}

/// Two logs run in two streams, one of which may be destroyed when `wait` is called.
TEST(errors_seeds, a_wait_is_for_all_streams) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    fixture f;
    warden::deferred x{f.on, 100}, y{f.on, 100};
    std::optional<warden::stream> one{std::in_place};
    warden::stream two;
    warden::launch(&pay, 1, 32, *one, x.ref(), 0);
    warden::launch(&pay, 1, 32, two, y.ref(), 0);
    x.run(*one);
    y.run(two);
    if (seed % 2 == 0) one.reset();
    // A run that meets the other one is put off, and reported.
    std::string const error_text = test::error_text(f.on);
    EXPECT_EQ(f.sum(), error_text.empty() ? 64u : 32u)
        << "wait has returned without an error before a run has ended";
  });
}

/// A deposit of 1 by each thread.
struct pay_at_once {
  __device__ void operator()(warden::virtual_block const& at, bank::ref const& ref) const {
    warden::thread_client<bank::ref>{ref, at}.send(at.thread_rank() % accounts, deposit{1});
  }
};
/// A run cannot meet a launch that was enqueued when there was no log, and has not marked records.
TEST(errors_seeds, the_first_log_comes_after_all_launches) {
  test::under_many_schedules(1, [](std::uint64_t) {
    fixture f;
    warden::stream one, two;
    warden::launch_fused(pay_at_once{}, 2, 32, one, f.on);
    warden::deferred log{f.on, 100};
    EXPECT_EQ(f.sum(), 64u) << "a log was made during a launch that marks nothing";
    warden::launch(&pay, 1, 32, two, log.ref(), 0);
    log.run(two);
    EXPECT_EQ(test::error_text(f.on, two), "");
    EXPECT_EQ(f.sum(), 96u);
  });
}

}  // namespace
