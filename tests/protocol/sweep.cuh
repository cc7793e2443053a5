// SPDX-License-Identifier: Apache-2.0
// Sections on two records, each of which depends on all earlier ones, for tests on both devices and
// under many schedules.
#pragma once

#include "pairs.cuh"

namespace pairs {

/// One warp receives from clients, and all others from servers; of 64 threads that is one. The
/// tests' clients take more registers than there are for three large blocks.
template <unsigned Locks, warden::placement Where, unsigned Threads = 64>
using pair_messages_policy = warden::with_values<
    test::small<warden::executor::pair_messages<Locks>>, &warden::options::block_threads, Threads,
    &warden::tuning::minimum_blocks_per_multiprocessor, 2, &warden::options::records, Where>;

/// Moves one account's balance into the other, if it is the larger: both must be read at one
/// moment.
struct book {
  std::uint64_t balance, moved;
};
struct sweep {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(book& from, book& to, warden::no_context) const {
    std::uint64_t const half = from.balance / 2;
    from.balance -= half;
    to.balance += half;
    from.moved += 1;
  }
};
struct sweep_all {
  std::uint32_t n, records;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      client.send(test::id_of(2 * i, records), test::id_of(2 * i + 1, records), sweep{}, i < n);
    });
    client.flush();
  }
};
template <class Policy>
void sweep_once(std::uint32_t n, std::uint32_t records, warden::guarded_options options) {
  using guarded = warden::basic_guarded<Policy, book, sweep>;
  warden::buffer<book> books{records};
  std::vector<book> const full(records, book{1'000'000, 0});
  warden::copy(books.data(), full.data(), records);
  guarded g{books, options};
  warden::launch_fused(sweep_all{n, records}, Policy::block_threads == 64 ? 3 : 2,
                       Policy::block_threads, {}, g);
  ASSERT_NO_THROW(g.wait());
  std::uint64_t sum = 0, moved = 0;
  for (book const& b : books.to_host()) {
    sum += b.balance;
    moved += b.moved;
  }
  EXPECT_EQ(sum, records * 1'000'000ull);
  EXPECT_EQ(moved, n);
}

}  // namespace pairs
