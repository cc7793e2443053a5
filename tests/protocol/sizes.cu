// SPDX-License-Identifier: Apache-2.0
// Exactly once for all message sizes, capacities, counts and numbers of servers.

#include "tests/support/support.cuh"

#include <tuple>

namespace {

using test::record_in;
using test::tally;

template <int Words>
void round_trip(std::uint64_t n, std::uint32_t records, unsigned servers, unsigned capacity,
                unsigned grid) {
  SCOPED_TRACE(testing::Message() << Words << " words, " << n << " messages, " << records
                                  << " records, " << servers << " servers, capacity " << capacity
                                  << ", grid " << grid);
  warden::guarded_options options;
  options.servers = servers;
  options.capacity = capacity;
  test::guarded_records<warden::basic_guarded<test::small_policy, tally, record_in<Words>>> g{
      records, options};
  warden::launch_fused(test::send_by_block<Words>{n, records}, grid, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<Words>(n, records));
}

TEST(sizes, every_message_size) {
  std::uint64_t const n = test::sized<std::uint64_t>(500, 200'000);
  round_trip<1>(n, 40, 2, 64, 5);
  round_trip<2>(n, 40, 2, 64, 5);
  round_trip<3>(n, 40, 2, 64, 5);
  round_trip<5>(n, 40, 2, 64, 5);
  round_trip<8>(n, 40, 2, 64, 5);
  round_trip<11>(n, 40, 2, 64, 5);
}

TEST(sizes, every_capacity) {
  for (unsigned capacity = 32; capacity <= 4096; capacity *= 2) {
    round_trip<2>(test::sized<std::uint64_t>(700, 200'000), 40, 2, capacity, 5);
  }
}

TEST(sizes, every_count) {
  for (std::uint64_t const n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 513}) {
    round_trip<2>(n, 7, 3, 32, 4);
  }
}

TEST(sizes, one_hot_record) {
  round_trip<2>(test::sized<std::uint64_t>(1500, 300'000), 1, 2, 64, 6);
}

TEST(sizes, one_virtual_block_or_none) {
  round_trip<2>(100, 10, 2, 64, 1);
  round_trip<2>(0, 10, 2, 64, 0);
}

TEST(sizes, as_many_servers_as_blocks_allow) {
  auto const facts = warden::runtime::facts(0);
  // So many blocks fit on a multiprocessor; all but one serve.
  unsigned const blocks = test::small_policy::blocks_on_multiprocessor;
  unsigned const servers = blocks * static_cast<unsigned>(facts.multiprocessors) - 1;
  round_trip<2>(test::sized<std::uint64_t>(600, 300'000), 1000, servers, 64, 3);
}

TEST(sizes, more_servers_than_records) { round_trip<2>(200, 3, 5, 32, 2); }

}  // namespace
