// SPDX-License-Identifier: Apache-2.0
// The pool of the hash table's nodes: each number is one thread's at a time, and none is lost.

#include "apps/hash_table/pool.cuh"
#include "tests/support/support.cuh"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

struct pool_user {
  hash_table::pool_ref pool;
  std::uint32_t* holders;  ///< holders of each number
  std::uint32_t* wrong;
  std::uint32_t rounds;
};
WARDEN_KERNEL void take_and_give(pool_user p) {
  std::uint32_t held[3] = {0, 0, 0};
  for (std::uint32_t r = 0; r < p.rounds; ++r) {
    std::uint32_t& mine = held[r % 3];
    if (mine != 0) {
      warden::simt::fetch_add(&p.holders[mine - 1], ~0u);
      p.pool.give(mine);
    }
    mine = p.pool.take();
    if (mine != 0 && warden::simt::fetch_add(&p.holders[mine - 1], 1u) != 0)
      warden::simt::fetch_add(p.wrong, 1u);
  }
  for (std::uint32_t const mine : held) {
    if (mine == 0) continue;
    warden::simt::fetch_add(&p.holders[mine - 1], ~0u);
    p.pool.give(mine);
  }
}
struct pool_drain {
  hash_table::pool_ref pool;
  std::uint32_t* holders;
  std::uint32_t* taken;
};
WARDEN_KERNEL void take_all(pool_drain d) {
  for (std::uint32_t n = d.pool.take(); n != 0; n = d.pool.take()) {
    d.holders[n - 1] += 1;
    *d.taken += 1;
  }
}

TEST(hash_table_pool, hands_each_number_to_one_thread) {
  for (std::uint32_t const capacity : {1u, 5u, 40u}) {
    warden::buffer<hash_table::pool_state> state{1};
    warden::buffer<std::uint32_t> below{capacity}, holders{capacity}, wrong{1}, taken{1};
    state.fill_bytes(0);
    holders.fill_bytes(0);
    wrong.fill_bytes(0);
    taken.fill_bytes(0);
    hash_table::pool_ref const pool{state.data(), below.data(), capacity};
    for (int launch = 0; launch < 20; ++launch) {
      warden::simt::launch(&take_and_give, test::sized(2u, 64u), 32, 0,
                           {pool, holders.data(), wrong.data(), test::sized(20u, 200u)}, {});
    }
    EXPECT_EQ(wrong.to_host()[0], 0u) << "numbers that two threads had at a time";
    // None got lost.
    warden::simt::launch(&take_all, 1, 1, 0, {pool, holders.data(), taken.data()}, {});
    EXPECT_EQ(taken.to_host()[0], capacity);
    EXPECT_EQ(holders.to_host(), std::vector<std::uint32_t>(capacity, 1));
  }
}

struct pool_by_block {
  hash_table::pool_ref pool;
  std::uint32_t* numbers;
  std::uint32_t n, block;
  bool gives;
};
/// By one thread of the chosen block: gives `numbers`, or takes them.
WARDEN_KERNEL void use_pool(pool_by_block a) {
  if (warden::simt::block_rank() != a.block || warden::simt::thread_rank() != 0) return;
  for (std::uint32_t i = 0; i < a.n; ++i) {
    if (a.gives) {
      a.pool.give(a.numbers[i]);
    } else {
      a.numbers[i] = a.pool.take();
    }
  }
}
TEST(hash_table_pool, finds_what_any_warp_gave_back) {
  constexpr std::uint32_t n = 5, stacks = hash_table::pool_stacks;
  warden::buffer<hash_table::pool_state> state{1};
  warden::buffer<std::uint32_t> below{n}, numbers{n};
  state.fill_bytes(0);
  hash_table::pool_ref const pool{state.data(), below.data(), n};
  auto const use = [&](std::uint32_t block, bool gives) {
    warden::simt::launch(&use_pool, block + 1, 32, 0, {pool, numbers.data(), n, block, gives}, {});
  };
  use(0, false);
  std::pair<std::uint32_t, std::uint32_t> const ways[] = {{stacks - 1, 0}, {0, stacks - 1}};
  for (auto const& [giver, taker] : ways) {
    use(giver, true);
    use(taker, false);
    std::vector<std::uint32_t> all = numbers.to_host();
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}))
        << "given by block " << giver << ", taken by block " << taker;
  }
}

}  // namespace
