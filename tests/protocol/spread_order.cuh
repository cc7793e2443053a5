// SPDX-License-Identifier: Apache-2.0
// A loop whose parts ranks send, in order, and its expected result.
#pragma once

#include "tests/protocol/order.cuh"
#include "tests/protocol/spread.cuh"

#include <cstdint>
#include <vector>

namespace spreading {

using ordering::append;
using ordering::traced;
using warden::placement;

/// A loop over n operations, twice; each rank sends one part of it, in three launches whose refs
/// are in their order, and the launches are not.
template <placement Where, unsigned Threads>
void expect_order(warden::loopback_settings const& of, std::uint32_t keys, std::uint32_t n,
                  std::uint32_t each, warden::deferred_options chosen) {
  using guarded = warden::basic_spread_guarded<ordering::in_order<Where>, traced, append>;
  on_ranks(of, [&](warden::communicator const& world) {
    guarded on{world, keys};
    chosen.batches = n;
    warden::deferred later{on, n, chosen};
    auto const size = static_cast<std::uint32_t>(of.ranks);
    auto const rank = static_cast<std::uint32_t>(world.rank());
    for (int round = 0; round < 2; ++round) {
      auto const first_ref = later.ref(), second_ref = later.ref();
      auto const send = [&](auto const& ref, std::uint32_t first, std::uint32_t end) {
        using storage = typename guarded::template deferred_block<Threads>::storage;
        std::uint32_t const per_block = each * Threads;
        if (first == end) return;
        warden::simt::launch(&ordering::send_in_turn<guarded, Threads>,
                             (end - first + per_block - 1) / per_block, Threads, sizeof(storage),
                             {ref, first, end, keys, each}, {});
      };
      std::uint32_t const begin = n / size * rank;
      std::uint32_t const end = rank + 1 == size ? n : n / size * (rank + 1);
      std::uint32_t const middle = begin + (end - begin) / 3;
      send(second_ref, middle, end);
      send(first_ref, begin, middle);
      later.run();
    }
    on.wait();
    std::vector<traced> expected(keys);
    for (std::uint32_t i = 0; i < 2 * n; ++i) {
      if (ordering::sends(i % n)) append{i % n}(expected[ordering::id_of(i % n, keys)]);
    }
    auto const found = on.records().to_host();
    auto const ids = spreading::ids_of(on);
    for (std::uint32_t place = 0; place < found.size(); ++place) {
      std::uint32_t const id = ids[place];
      if (id >= keys) continue;
      ASSERT_EQ(found[place].count, expected[id].count)
          << "lost or doubled section on record " << id;
      ASSERT_EQ(found[place].trace, expected[id].trace) << "wrong order on record " << id;
      ASSERT_EQ(found[place].sum, expected[id].sum) << "wrong order on record " << id;
    }
  });
}

}  // namespace spreading
