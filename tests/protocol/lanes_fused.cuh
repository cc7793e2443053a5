// SPDX-License-Identifier: Apache-2.0
// Sections of several lanes that are sent and called in a fused launch.
#pragma once

#include "tests/protocol/lanes.cuh"

namespace together {

/// Adds, and answers whose turn it was; only the first lane knows.
template <unsigned Lanes>
struct add_and_tell : add<Lanes> {
  __device__ static add_and_tell of(std::uint32_t i) { return {add<Lanes>::of(i)}; }
  __device__ std::uint32_t operator()(row& r, warden::lane_group<Lanes> const& group) const {
    add<Lanes>::operator()(r, group);
    return group.lane() == 0 ? r.count : ~0u;
  }
};

/// Sends operation i or calls it, and marks whose turn it was.
struct send_and_call {
  std::uint32_t n, keys;
  std::uint32_t* turns;  ///< [record * most + turn - 1]
  std::uint32_t most;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    warden::thread_client<Ref> const alone{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t first) {
      auto const i = static_cast<std::uint32_t>(first);
      std::uint32_t const id = test::id_of(i, keys);
      auto future = client.call(id, add_and_tell<32>::of(i), i < n && i % 3 == 0);
      client.send(id, add<4>::of(i), i < n && i % 3 == 1);
      if (i < n && i % 3 == 2) alone.send(id, add_alone::of(i));
      client.flush();
      auto const answer = future.get();
      if (answer && *answer <= most) simt::fetch_add(&turns[id * most + *answer - 1], 1u);
    });
  }
};

/// Runs `n` operations on `keys` records, `launches` times.
template <class Policy>
void send_and_call_all(std::uint32_t n, std::uint32_t keys, unsigned launches, unsigned blocks) {
  using guarded = warden::basic_guarded<Policy, row, add_and_tell<32>, add<4>, add_alone>;
  warden::guarded_options options;
  options.servers = 2;
  test::guarded_records<guarded> g{keys, options};
  std::uint32_t const each = launches * n;
  warden::buffer<std::uint32_t> turns{std::size_t{keys} * each};
  turns.fill_bytes(0);
  for (unsigned launch = 0; launch < launches; ++launch) {
    warden::launch_fused(send_and_call{n, keys, turns.data(), each}, blocks, 64, {}, g.guarded);
  }
  g.guarded.wait();
  expect_rows(g.records.to_host(), n, launches);
  std::uint32_t answers = 0;
  for (std::uint32_t const t : turns.to_host()) {
    ASSERT_LE(t, 1u) << "two calls had one turn";
    answers += t;
  }
  EXPECT_EQ(answers, launches * ((n + 2) / 3)) << "answers of other lanes, or none";
}

}  // namespace together
