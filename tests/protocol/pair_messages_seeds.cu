// SPDX-License-Identifier: Apache-2.0
// Sections on two records under very many schedules of the simulated device.

#include "tests/protocol/sweep.cuh"

#include "tests/support/many_schedules.cuh"

namespace {

/// Two to four servers of 64 or 128 threads, two to eight records, under half the schedules that
/// are asked for.
template <warden::placement Where>
void under_many_schedules(test::half part) {
  auto const range = test::seeds(2);
  for (auto seed = range.first; seed < range.end && !testing::Test::HasFailure(); ++seed) {
    if (!test::tries(part, range, seed)) continue;
    SCOPED_TRACE("replay with --seed " + std::to_string(seed));
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 40'000;
    s.stale_loads = 2u << 2 * (seed % 3);
    s.multiprocessors = 3;
    warden::sim::configure(s);
    std::uint32_t const records = static_cast<std::uint32_t>(2 + seed % 7);
    warden::guarded_options const options{.servers = static_cast<unsigned>(2 + seed % 3),
                                          .capacity = 32,
                                          .chunk = seed % 5 == 0 ? 2u : 1u,
                                          .time_limit_seconds = 1,
                                          .forward_capacity = seed % 4 == 0 ? 128u : 64u};
    // With 128 threads three warps read the ring. Both, under both kinds of schedule.
    if (seed / 2 % 2 == 0) {
      pairs::sweep_once<pairs::pair_messages_policy<64, Where>>(120, records, options);
    } else {
      pairs::sweep_once<pairs::pair_messages_policy<64, Where, 128>>(120, records, options);
    }
    EXPECT_FALSE(warden::sim::last_report().deadlock);
  }
  warden::sim::configure({});
}

template <warden::placement Where>
void one_half() {
  under_many_schedules<Where>(test::half::one);
}
template <warden::placement Where>
void other_half() {
  under_many_schedules<Where>(test::half::other);
}
TEST(pair_messages_seeds, in_memory_one_half) { one_half<warden::placement::in_memory>(); }
TEST(pair_messages_seeds, in_memory_other_half) { other_half<warden::placement::in_memory>(); }
TEST(pair_messages_seeds, on_chip_one_half) { one_half<warden::placement::on_chip>(); }
TEST(pair_messages_seeds, on_chip_other_half) { other_half<warden::placement::on_chip>(); }

// ---- memory that is reached through a record

/// A record's node lies elsewhere and must be of the same version.
struct versioned {
  std::uint32_t id, version;
};
struct nodes {
  std::uint32_t* versions;
  std::uint32_t* stale;
};
__device__ void renew(versioned& r, nodes context) {
  std::uint32_t* const node = &context.versions[r.id];
  if (warden::simt::load_relaxed(node) != r.version) warden::simt::fetch_add(context.stale, 1u);
  r.version += 1;
  warden::simt::store_relaxed(node, r.version);
}
template <bool ReadsOtherMemory>
struct renew_one {
  static constexpr bool reads_other_memory = ReadsOtherMemory;
  __device__ void operator()(versioned& r, nodes context) const { renew(r, context); }
};
template <bool ReadsOtherMemory>
struct renew_both {
  static constexpr bool reads_other_memory = ReadsOtherMemory;
  __device__ void operator()(versioned& a, versioned& b, nodes context) const {
    renew(a, context);
    if (a.id != b.id) renew(b, context);
  }
};
template <bool ReadsOtherMemory>
struct renew_all {
  std::uint32_t records, together;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint32_t k = 0; k < 4; ++k) {
      std::uint32_t const id = (static_cast<std::uint32_t>(at.global_rank()) * 7 + k * 3) % records;
      client.send(id, renew_one<ReadsOtherMemory>{});
      client.send(id, together == 2 ? id ^ 1 : (id * 5 + 1) % records,
                  renew_both<ReadsOtherMemory>{});
    }
  }
};
template <class Executor>
using node_policy = test::small<warden::context<nodes>, Executor>;
/// `together` neighbours have one owner.
template <class Executor, bool ReadsOtherMemory>
void reach_through_records(std::uint32_t together) {
  test::under_many_schedules(20, [&](std::uint64_t seed) {
    warden::sim::settings s = warden::sim::current_settings();
    s.stale_loads = seed % 3 == 0 ? 2 : 4;
    warden::sim::configure(s);
    std::uint32_t const records = 8;
    std::vector<versioned> fresh(records);
    for (std::uint32_t k = 0; k < records; ++k) fresh[k] = {k, 0};
    warden::buffer<versioned> memory{fresh};
    warden::buffer<std::uint32_t> versions{records}, stale{1};
    versions.fill_bytes(0);
    stale.fill_bytes(0);
    using sections = renew_all<ReadsOtherMemory>;
    warden::basic_guarded<node_policy<Executor>, versioned, renew_one<ReadsOtherMemory>,
                          renew_both<ReadsOtherMemory>>
        g{memory,
          nodes{versions.data(), stale.data()},
          {.servers = 2, .capacity = 64, .chunk = together, .forward_capacity = 64}};
    warden::launch_fused(sections{records, together}, 2, 64, {}, g);
    g.wait();
    EXPECT_EQ(stale.to_host()[0], 0u) << "a node of an older version";
  });
}
// One owner hands over its records with the memory that they lead to; between two owners that needs
// fences.
TEST(pair_messages_seeds, what_records_of_one_owner_lead_to) {
  reach_through_records<warden::executor::locks<16>, false>(2);
}
TEST(pair_messages_seeds, what_records_of_two_owners_lead_to) {
  reach_through_records<warden::executor::pair_messages<16>, true>(1);
}

}  // namespace
