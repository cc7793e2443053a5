// SPDX-License-Identifier: Apache-2.0
// Launches that a device refuses: shrunk once, then an error; devices that cannot launch at all.

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simulation.hpp>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

class refused : public testing::Test {
 protected:
  void TearDown() override { warden::sim::configure({}); }
};

std::string error_of(warden::sim::settings const& s, unsigned servers) {
  warden::sim::configure(s);
  try {
    test::guarded_records<small> g{10, {.servers = servers, .capacity = 32}};
    warden::launch_fused(test::send_by_block<2>{3000, 10}, 100, 64, {}, g.guarded);
    g.guarded.wait();
    test::expect_equal(g.records.to_host(), test::expected<2>(3000, 10));
  } catch (warden::error const& e) {
    return e.what();
  }
  return "no error";
}

// Four multiprocessors with eight blocks each: 32 blocks, or 28 after one is taken from each.
TEST_F(refused, a_launch_shrinks_once) {
  EXPECT_EQ(error_of({.refuse_blocks_over = 31}, 3), "no error");
}
TEST_F(refused, a_launch_that_is_still_too_large) {
  EXPECT_NE(error_of({.refuse_blocks_over = 20}, 3)
                .find("refused a cooperative launch of 28 blocks as too large"),
            std::string::npos);
}
TEST_F(refused, a_launch_without_room_for_a_client_after_shrinking) {
  EXPECT_NE(error_of({.refuse_blocks_over = 20}, 30).find("do not fit: 28 blocks"),
            std::string::npos);
}
TEST_F(refused, a_launch_leaves_the_records_free_for_logs) {
  for (unsigned const servers : {3u, 30u}) {
    warden::sim::configure({.refuse_blocks_over = 20});
    test::guarded_records<small> g{10, {.servers = servers, .capacity = 32}};
    warden::deferred later{g.guarded, 100};
    EXPECT_THROW(warden::launch_fused(test::send_by_block<2>{3000, 10}, 100, 64, {}, g.guarded),
                 warden::limit_error);
    later.run();
    EXPECT_NO_THROW(g.guarded.wait()) << servers << " servers";
  }
}
// 32 blocks are resident together.
TEST_F(refused, a_plan_with_servers_in_every_place) {
  std::string const error = error_of({}, 32);
  EXPECT_NE(error.find("32 servers and a client block do not fit: 32 blocks"), std::string::npos);
  EXPECT_NE(error.find("with fewer servers"), std::string::npos);
  EXPECT_EQ(error_of({}, 31), "no error");
}
TEST_F(refused, fewer_servers_are_not_advised_where_none_would_fit) {
  std::string const error = error_of({.multiprocessors = 1, .blocks_per_multiprocessor = 1}, 1);
  EXPECT_NE(error.find("1 servers and a client block do not fit: 1 blocks"), std::string::npos);
  EXPECT_EQ(error.find("with fewer servers"), std::string::npos);
}
TEST_F(refused, a_device_without_cooperative_launch) {
  EXPECT_NE(error_of({.cooperative_launch = false}, 3).find("has no cooperative launch"),
            std::string::npos);
}
TEST_F(refused, channels_that_do_not_fit_into_memory) {
  EXPECT_NE(error_of({.global_bytes = 2000}, 3).find("out of memory"), std::string::npos);
}

}  // namespace
