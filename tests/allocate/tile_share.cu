// SPDX-License-Identifier: Apache-2.0
// The tiles that each block of an allocation in two passes counts.

#include <warden/buffer.hpp>
#include <warden/detail/allocate/kernels.cuh>
#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint64_t tiles;
  warden::detail::tile_share* shares;
};
WARDEN_KERNEL void write_share(arguments a) {
  if (simt::thread_rank() == 0)
    a.shares[simt::block_rank()] = warden::detail::tile_share::of_block(a.tiles);
}

TEST(tile_share, covers_all_tiles_up_to_the_limit) {
  constexpr unsigned blocks = 7;
  warden::buffer<warden::detail::tile_share> shares{blocks};
  for (std::uint64_t const tiles : {0ull, 3ull, 7ull, 100ull, 2147483647ull}) {
    simt::launch(&write_share, blocks, 32, 0, {tiles, shares.data()}, {});
    std::uint64_t next = 0;
    for (warden::detail::tile_share const& share : shares.to_host()) {
      EXPECT_EQ(share.begin, next);
      EXPECT_GE(share.end, share.begin + tiles / blocks);
      EXPECT_LE(share.end, share.begin + tiles / blocks + 1);
      next = share.end;
    }
    EXPECT_EQ(next, tiles);
  }
}

}  // namespace
