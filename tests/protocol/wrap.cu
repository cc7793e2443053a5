// SPDX-License-Identifier: Apache-2.0
// Channels whose indices, sequence tags and phases wrap, and one guarded array used for very many
// launches.

#include "tests/support/support.cuh"

namespace {

using test::record_in;
using wrapped = warden::basic_guarded<test::small_policy, test::tally, record_in<5>>;

void from(std::uint64_t first_index, unsigned capacity) {
  SCOPED_TRACE(testing::Message() << "first index " << first_index << ", capacity " << capacity);
  warden::guarded_options options;
  options.servers = 2;
  options.capacity = capacity;
  options.first_index = first_index;
  std::uint64_t const n = test::sized<std::uint64_t>(900, 100'000);
  test::guarded_records<wrapped> g{20, options};
  warden::launch_fused(test::send_by_block<5>{n, 20}, 4, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<5>(n, 20));
}

TEST(wrap, index_beyond_32_bits) {
  for (unsigned capacity = 32; capacity <= 4096; capacity *= 4) from((1ull << 32) - 100, capacity);
}

// A sequence tag has 12 bits in a flit's first word, 16 in its second.
TEST(wrap, phase_of_the_first_word) {
  for (unsigned capacity = 32; capacity <= 4096; capacity *= 4)
    from(capacity * 4096ull - 50, capacity);
}
TEST(wrap, phase_of_the_second_word) {
  for (unsigned capacity = 32; capacity <= 4096; capacity *= 4)
    from(capacity * 65536ull - 50, capacity);
}

TEST(wrap, one_guarded_for_a_thousand_launches) {
  warden::guarded_options options;
  options.servers = 2;
  options.capacity = 32;
  test::guarded_records<wrapped> g{10, options};
  std::vector<test::tally> wanted(10);
  for (std::uint64_t launch = 0; launch < 1000; ++launch) {
    std::uint64_t const n = launch % 70;
    warden::launch_fused(test::send_by_block<5>{n, 10}, 2, 64, {}, g.guarded);
    auto const more = test::expected<5>(n, 10);
    for (std::size_t k = 0; k < 10; ++k) {
      wanted[k].count += more[k].count;
      wanted[k].sum += more[k].sum;
      wanted[k].mixed += more[k].mixed;
    }
  }
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), wanted);
}

/// Eight warps a server: many slices are done but not released when the work ends, in the middle of
/// one.
using wide_policy = warden::with_values<test::small_policy, &warden::options::block_threads, 256>;
TEST(wrap, launches_that_end_within_a_slice) {
  warden::guarded_options options;
  options.servers = 3;
  options.capacity = 1024;
  test::guarded_records<warden::basic_guarded<wide_policy, test::tally, record_in<5>>> g{3,
                                                                                         options};
  for (std::uint64_t launch = 0; launch < test::sized(12u, 200u); ++launch) {
    std::uint64_t const n = 2000 + 37 * launch;
    g.records.fill_bytes(0);
    warden::launch_fused(test::send_by_block<5>{n, 3}, 5, 256, {}, g.guarded);
    g.guarded.wait();
    test::expect_equal(g.records.to_host(), test::expected<5>(n, 3));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
