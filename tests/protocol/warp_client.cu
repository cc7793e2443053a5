// SPDX-License-Identifier: Apache-2.0
// Warp clients deliver every message exactly once: any lanes, any destinations, full channels.

#include "tests/support/support.cuh"

#include <algorithm>

namespace {

using test::record_in;
using test::tally;
using warden::simt::full_warp;
using small = warden::basic_guarded<test::small_policy, tally, record_in<2>>;

template <int Words, class Kernel = test::send_by_warp<Words>>
void round_trip(std::uint64_t n, std::uint32_t records, unsigned servers, unsigned capacity,
                unsigned grid = 5) {
  SCOPED_TRACE(testing::Message() << Words << " words, " << n << " messages, " << records
                                  << " records, " << servers << " servers, capacity " << capacity);
  test::guarded_records<warden::basic_guarded<test::small_policy, tally, record_in<Words>>> g{
      records, {.servers = servers, .capacity = capacity}};
  warden::launch_fused(Kernel{n, records}, grid, 64, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<Words>(n, records));
}

TEST(warp_client, delivers_exactly_once) {
  for (unsigned capacity = 32; capacity <= 4096; capacity *= 2)
    round_trip<2>(test::sized<std::uint64_t>(1001, 300'001), 100, 3, capacity);
}

TEST(warp_client, every_count) {
  for (std::uint64_t const n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 513})
    round_trip<2>(n, 7, 3, 32);
}

TEST(warp_client, every_message_size) {
  std::uint64_t const n = test::sized<std::uint64_t>(500, 200'000);
  round_trip<1>(n, 40, 2, 32);
  round_trip<2>(n, 40, 2, 32);
  round_trip<3>(n, 40, 2, 32);
  round_trip<5>(n, 40, 2, 32);
  round_trip<8>(n, 40, 2, 32);
  round_trip<11>(n, 40, 2, 32);
}

TEST(warp_client, one_destination) {
  round_trip<2>(test::sized<std::uint64_t>(1500, 300'000), 1, 1, 32);
  round_trip<2>(test::sized<std::uint64_t>(1500, 300'000), 1, 3, 64);
}

/// Sends by as many lanes together as there are servers, each to another one; the rest of the warp
/// is away.
struct all_different {
  unsigned rounds;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    unsigned const servers = ref.owners.servers();
    unsigned const lane = at.thread_rank() % 32;
    if (lane >= servers) return;
    unsigned const mask = full_warp >> (32 - servers);
    unsigned id = lane;
    for (unsigned r = 0; r < rounds; ++r) {
      small::warp_client{ref, at}.send(mask, id, record_in<2>::of(lane));
      id = id + 1 == servers ? 0 : id + 1;
    }
  }
};

TEST(warp_client, all_different_destinations) {
  auto const facts = warden::runtime::facts(0);
  unsigned const servers = std::min(32u, static_cast<unsigned>(facts.multiprocessors));
  unsigned const rounds = test::sized(50u, 5000u);
  test::guarded_records<small> g{servers, {.servers = servers, .capacity = 32}};
  warden::launch_fused(all_different{rounds}, 3, 64, {}, g.guarded);
  g.guarded.wait();
  for (tally const& t : g.records.to_host()) EXPECT_EQ(t.count, 3 * 2 * rounds);
}

/// Sends operation i, if there is one, together with the other lanes of `mask`.
template <class Ref>
__device__ void send_operation(Ref const& ref, warden::virtual_block const& at, unsigned mask,
                               std::uint64_t i, std::uint64_t n, std::uint32_t records) {
  warden::warp_client<Ref>{ref, at}.send(mask, test::id_of(i, records),
                                         record_in<2>::of(static_cast<std::uint32_t>(i)), i < n);
}

/// The lanes of a warp are in different branches, each of which sends with a mask of its own.
struct diverging {
  std::uint64_t n;
  std::uint32_t records;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    unsigned const lane = at.thread_rank() % 32;
    test::in_rounds(at, n, [&](std::uint64_t i) {
      if (lane % 2 == 1) {
        send_operation(ref, at, 0xaaaaaaaau, i, n, records);
      } else if (lane < 16) {
        send_operation(ref, at, 0x00005555u, i, n, records);
      } else if (lane != 30) {
        send_operation(ref, at, 0x15550000u, i, n, records);
      } else {
        send_operation(ref, at, 0x40000000u, i, n, records);
      }
    });
  }
};

TEST(warp_client, partial_masks_in_diverging_branches) {
  std::uint64_t const n = test::sized<std::uint64_t>(1500, 300'000);
  for (unsigned const capacity : {32u, 512u}) round_trip<2, diverging>(n, 50, 3, capacity, 4);
}

/// The mask is what a vote of the warp says.
struct voted {
  std::uint64_t n;
  std::uint32_t records;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    test::in_rounds(at, n, [&](std::uint64_t i) {
      bool const now = i < n && test::mix(i) % 3 == 0;
      unsigned const mask = warden::simt::ballot(full_warp, now);
      if (now) send_operation(ref, at, mask, i, n, records);
      if (!now) send_operation(ref, at, ~mask, i, n, records);
    });
  }
};

TEST(warp_client, masks_by_vote) {
  round_trip<2, voted>(test::sized<std::uint64_t>(1501, 300'001), 50, 3, 32, 4);
}

/// The odd lanes send with warp clients while the even ones, in another branch, use thread clients.
struct next_to_thread_clients {
  std::uint64_t n;
  std::uint32_t records;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    test::in_rounds(at, n, [&](std::uint64_t i) {
      if (i % 2 == 1) {
        send_operation(ref, at, 0xaaaaaaaau, i, n, records);
      } else if (i < n) {
        small::thread_client{ref, at}.send(test::id_of(i, records),
                                           record_in<2>::of(static_cast<std::uint32_t>(i)));
      }
    });
  }
};

TEST(warp_client, next_to_thread_clients_of_the_same_warp) {
  round_trip<2, next_to_thread_clients>(test::sized<std::uint64_t>(1500, 300'000), 50, 2, 32, 4);
}

/// Lanes without a message; in some sends no lane has one.
struct with_gaps {
  unsigned rounds;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    unsigned const lane = at.thread_rank() % 32;
    for (unsigned r = 0; r < rounds; ++r) {
      // The id of a lane that sends nothing may be anything.
      bool const sends = r % 4 != 3 && (lane + r) % 3 == 0;
      small::warp_client{ref, at}.send(full_warp, sends ? r % 5 : ~std::uint64_t{0},
                                       record_in<2>::of(lane), sends);
    }
  }
};

TEST(warp_client, lanes_without_a_message) {
  unsigned const rounds = test::sized(60u, 6000u);
  test::guarded_records<small> g{5, {.servers = 2, .capacity = 32}};
  warden::launch_fused(with_gaps{rounds}, 3, 64, {}, g.guarded);
  g.guarded.wait();  // throws if an id of these lanes was read
  std::uint64_t wanted = 0, count = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    for (unsigned lane = 0; lane < 32; ++lane)
      wanted += r % 4 != 3 && (lane + r) % 3 == 0 ? 3 * 2 : 0;
  }
  for (tally const& t : g.records.to_host()) count += t.count;
  EXPECT_EQ(count, wanted);
}

/// Warps with more messages for either of two servers than its channel holds, half of them in the
/// one order and half in the other; every send of a warp has messages for both.
struct crossing {
  unsigned rounds;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& a,
                             small::ref const& b) const {
    bool const turned = (at.block_index() + at.thread_rank() / 32) % 2 == 1;
    unsigned const lane = at.thread_rank() % 32;
    unsigned const id = turned ? lane / 16 : 1 - lane / 16;
    for (unsigned r = 0; r < rounds; ++r) {
      small::warp_client{turned ? a : b, at}.send(full_warp, id, record_in<2>::of(r));
      small::warp_client{turned ? b : a, at}.send(full_warp, id, record_in<2>::of(r));
    }
  }
};

TEST(warp_client, crossing_destinations_of_full_channels) {
  unsigned const rounds = test::sized(30u, 10'000u);
  for (int i = 0; i < 10; ++i) {
    test::guarded_records<small> a{2, {.servers = 2, .capacity = 32, .time_limit_seconds = 2}};
    test::guarded_records<small> b{2, {.servers = 2, .capacity = 32, .time_limit_seconds = 2}};
    warden::launch_fused(crossing{rounds}, 4, 64, {}, a.guarded, b.guarded);
    a.guarded.wait();
    b.guarded.wait();
    for (auto const* g : {&a, &b}) {
      for (tally const& t : g->records.to_host()) EXPECT_EQ(t.count, 4 * 2 * 16 * rounds);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
