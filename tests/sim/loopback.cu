// SPDX-License-Identifier: Apache-2.0
// Ranks of one process: what one sends and no other expects, errors by choice, calls without end.

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace {

using testing::Each;
using testing::HasSubstr;
using warden::communicator;

/// Returns the errors that the ranks throw.
std::vector<std::string> errors_of(warden::loopback_settings const& chosen,
                                   std::function<void(communicator const&)> const& body) {
  std::vector<std::string> errors;
  for (std::exception_ptr const& thrown : warden::run_ranks(chosen, body)) {
    errors.emplace_back();
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (warden::communicator_error const& e) {
      errors.back() = e.what();
    }
  }
  return errors;
}
void exchange(communicator const& world, std::vector<warden::runtime::outgoing> const& sent = {}) {
  world.transport().exchange(sent, {}, {}, std::source_location::current());
}

TEST(loopback, a_message_that_no_rank_expects_is_an_error) {
  warden::buffer<char> data{4};
  data.fill_bytes(0);
  warden::stream_ref{}.synchronize();
  auto const errors = errors_of({}, [&](communicator const& world) {
    if (world.rank() == 0) {
      exchange(world, {{1, data.data(), 4}});
    } else {
      exchange(world);
    }
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 sends more than is expected"));
}
TEST(loopback, fails_from_the_chosen_call_on) {
  warden::loopback_settings chosen;
  chosen.fails_at = 0;
  EXPECT_THAT(errors_of(chosen, [](communicator const& world) { exchange(world); }),
              Each(HasSubstr("the communicator is in error")));
  // The call before is not over on a rank that has not had its turn since.
  chosen.ranks = 1;
  for (int at = 1; at < 4; ++at) {
    chosen.fails_at = at;
    int done = 0;
    auto const errors = errors_of(chosen, [&](communicator const& world) {
      for (; done < 5; ++done) exchange(world);
    });
    EXPECT_THAT(errors[0], HasSubstr("the communicator is in error"));
    EXPECT_EQ(done, at);
  }
}
TEST(loopback, ends_collective_calls_without_end) {
  warden::loopback_settings chosen;
  chosen.max_calls = 100;
  int done = 0;
  auto const errors = errors_of(chosen, [&](communicator const& world) {
    for (;; done += world.rank()) exchange(world);
  });
  EXPECT_THAT(errors, Each(HasSubstr("no end after 100 collective calls")));
  EXPECT_GE(done, 99);
  EXPECT_LE(done, 100);
}

}  // namespace
