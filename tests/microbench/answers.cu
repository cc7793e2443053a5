// SPDX-License-Identifier: Apache-2.0
// The answers benchmark's verification: it passes tickets that were handed out once, each to the
// call that asked for it, and nothing else.

#include "microbench/answers/call_fixture.cuh"
#include "microbench/support/clock.cuh"
#include "tests/support/support.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using namespace answers;

template <class Executor, class Kernel>
bool verified(std::uint32_t n, std::uint32_t keys) {
  return call_fixture<Executor>{keys, n}.template run<Kernel>(n, 7, test::sized(4u, 500u)).verified;
}

template <class Executor>
class answers_bench : public testing::Test {};
using executors = testing::Types<warden::executor::sorted<>, warden::executor::locks<>>;
TYPED_TEST_SUITE(answers_bench, executors);

TYPED_TEST(answers_bench, tickets_handed_out_once_are_verified) {
  for (std::uint32_t const keys : {1u, 50u, 5000u}) {
    for (std::uint32_t const n : {1u, 255u, test::sized(3000u, 1u << 20)}) {
      EXPECT_TRUE((verified<TypeParam, call_by_block>(n, keys))) << n << " calls, " << keys;
      EXPECT_TRUE((verified<TypeParam, call_by_thread>(n, keys))) << n << " calls, " << keys;
    }
  }
}

TYPED_TEST(answers_bench, a_lone_caller_notes_each_time) {
  std::uint32_t const n = 20;
  call_fixture<TypeParam> through{50, n};
  warden::buffer<std::uint64_t> times{n};
  times.fill_bytes(0);
  using kernel = call_alone<bench::cycle_clock>;
  EXPECT_TRUE(through.template run<kernel>(n, 7, 3, times.data()).verified);
  for (std::uint64_t const time : times.to_host()) EXPECT_NE(time, 0u);
}

/// Does not make the last call.
struct forgets_one {
  calls all;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    call_by_thread{{all.ids, all.tickets, all.n - 1}}(at, ref);
  }
};
/// Makes one call twice, and drops an answer.
struct asks_twice {
  calls all;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    call_by_thread{all}(at, ref);
    if (at.global_rank() == 0)
      static_cast<void>(warden::thread_client<Ref>{ref, at}.call(all.ids[0], take_ticket{}));
  }
};
/// Notes the answers of neighbouring calls in each other's place.
struct mixes_up {
  calls all;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint64_t i = at.global_rank(); i < all.n; i += at.global_size()) {
      auto const ticket = client.call(all.ids[i], take_ticket{}).get();
      all.tickets[i ^ 1] = ticket.value_or(calls::no_ticket);
    }
  }
};

TYPED_TEST(answers_bench, a_call_lost_doubled_or_answered_to_another_is_not) {
  std::uint32_t const n = test::sized(1000u, 1u << 16), keys = 50;
  EXPECT_FALSE((verified<TypeParam, forgets_one>(n, keys)));
  EXPECT_FALSE((verified<TypeParam, asks_twice>(n, keys)));
  EXPECT_FALSE((verified<TypeParam, mixes_up>(n, keys)));
}

/// Returns the number of errors that the oracle finds if calls 0 to 3 asked two records in turn.
std::uint32_t wrong(std::vector<std::uint32_t> const& tickets,
                    std::vector<std::uint32_t> const& records = {2, 2}) {
  warden::buffer<std::uint32_t> const ids{std::vector<std::uint32_t>{0, 1, 0, 1}};
  warden::buffer<std::uint32_t> noted{tickets};
  return ticket_oracle{2, 4}.wrong({ids.data(), noted.data(), 4},
                                   warden::buffer<std::uint32_t>{records});
}

TEST(answers_oracle, finds_every_wrong_ticket) {
  EXPECT_EQ(wrong({0, 0, 1, 1}), 0u);
  EXPECT_EQ(wrong({1, 0, 0, 1}), 0u) << "in any order";
  EXPECT_EQ(wrong({0, 0, 0, 1}), 1u) << "one handed out twice";
  EXPECT_EQ(wrong({0, 0, 2, 1}), 1u) << "one that is another record's";
  EXPECT_EQ(wrong({0, 0, 1, calls::no_ticket}), 1u) << "none";
  EXPECT_EQ(wrong({0, 0, 1, 1}, {2, 3}), 1u) << "one that no caller got";
}

}  // namespace
