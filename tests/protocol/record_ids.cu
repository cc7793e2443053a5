// SPDX-License-Identifier: Apache-2.0
// Sections that take the id of their record: with each executor, deferred and fused, and on records
// of several ranks.

#include "tests/protocol/deferred.cuh"
#include "tests/protocol/lanes.cuh"
#include "tests/protocol/spread.cuh"

#include <warden/deferred_forwarding.cuh>
#include <warden/deferred_pairs.cuh>

#include <atomic>
#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;
using warden::placement;
using warden::record_id;

/// A record that knows its own id. `Words` of 16 are too many to be held in registers.
template <unsigned Words>
struct known {
  std::uint32_t own, runs, wrong;
  std::uint32_t filler[Words];

  __device__ void note(record_id id, std::uint32_t count = 1) {
    runs += count;
    if (id != own) wrong += count;
  }
};
struct visit {
  static constexpr bool reads_other_memory = false;
  __device__ static visit of(std::uint32_t) { return {}; }
  template <unsigned Words>
  __device__ void operator()(known<Words>& r, record_id id) const {
    r.note(id);
  }
};
/// The same with the context, which is the number 7.
struct visit_with_context {
  std::uint32_t number;
  __device__ static visit_with_context of(std::uint32_t) { return {7}; }
  template <unsigned Words>
  __device__ void operator()(known<Words>& r, std::uint32_t context, record_id id) const {
    if (context == number) r.note(id);
  }
};
template <unsigned Lanes>
struct visit_together {
  static constexpr unsigned group_size = Lanes;
  __device__ static visit_together of(std::uint32_t) { return {}; }
  template <unsigned Words>
  __device__ void operator()(known<Words>& r, record_id id,
                             warden::lane_group<Lanes> const& group) const {
    if (group.lane() == Lanes - 1) r.note(id);
  }
};
/// Combines with others of its kind.
struct visits {
  std::uint32_t count;
  __device__ static visits of(std::uint32_t) { return {1}; }
  __device__ static visits combine(visits a, visits b) { return {a.count + b.count}; }
  template <unsigned Words>
  __device__ void operator()(known<Words>& r, record_id id) const {
    r.note(id, count);
  }
};
/// Combines to a partial that needs messages of its own.
struct visit_in_parts {
  __device__ static visit_in_parts of(std::uint32_t) { return {}; }
  template <unsigned Words>
  __device__ void operator()(known<Words>& r, record_id id) const {
    r.note(id);
  }
  struct partial {
    std::uint32_t counts[5];
    __device__ explicit partial(visit_in_parts) : counts{1} {}
    __device__ static partial combine(partial a, partial const& b) {
      a.counts[0] += b.counts[0];
      return a;
    }
    template <unsigned Words>
    __device__ void operator()(known<Words>& r, record_id id) const {
      r.note(id, counts[0]);
    }
  };
};
/// Sends a visit to the record after its own.
struct visit_two {
  std::uint32_t keys;
  template <unsigned Words, class Next>
  __device__ void operator()(known<Words>& r, warden::no_context, record_id id, Next& next) const {
    r.note(id);
    next.send((id + 1) % keys, visit{});
  }
};
/// On two records, so that the array's sections need another executor.
struct exchange {
  template <unsigned Words>
  __device__ void operator()(known<Words>& a, known<Words>& b) const {
    std::uint32_t const last = a.filler[0];
    a.filler[0] = b.filler[0];
    b.filler[0] = last;
  }
};

template <unsigned Words>
std::vector<known<Words>> records_of(std::uint32_t keys) {
  std::vector<known<Words>> all(keys);
  for (std::uint32_t id = 0; id < keys; ++id) all[id].own = id;
  return all;
}
/// All sections have run, each with the id of its record.
template <class Records>
void expect_visits(Records const& records, std::uint64_t wanted) {
  std::uint64_t runs = 0, wrong = 0;
  for (auto const& r : records.to_host()) runs += r.runs, wrong += r.wrong;
  EXPECT_EQ(runs, wanted) << "lost or doubled sections";
  EXPECT_EQ(wrong, 0u) << "sections with the id of another record";
}

template <class Executor, placement Where, unsigned Threads = 64>
using policy = warden::policy<warden::options{.records = Where,
                                              .block_threads = Threads,
                                              .tuning = {.minimum_blocks_per_multiprocessor = 2}},
                              Executor>;
template <class Policy>
using with_context = warden::with_parts<Policy, warden::context<std::uint32_t>>;
template <class Policy>
using in_order = warden::with_parts<Policy, warden::order::sequential>;
template <class Policy>
using combined = warden::with_values<Policy, &warden::tuning::combine_in_fused, true>;
using by_sorted = policy<warden::executor::sorted<>, placement::in_memory>;
using on_chip = policy<warden::executor::sorted<>, placement::on_chip>;
using by_locks = policy<warden::executor::locks<64>, placement::in_memory>;

/// Numbers of records: one hot one, one for each thread, and many.
std::vector<std::uint32_t> all_keys() { return {1, 40, test::sized(500u, 1000u)}; }

template <class Guarded, class Section>
struct sending {
  typename Guarded::deferred_ref ref;
  std::uint32_t n, keys;
};
template <class Guarded, class Section>
WARDEN_KERNEL void send_together(sending<Guarded, Section> a) {
  using block = typename Guarded::template deferred_block<64>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t first = simt::block_rank() * 64; first < a.n;
       first += simt::block_count() * 64) {
    std::uint32_t const i = first + simt::thread_rank();
    client.send(test::id_of(i, a.keys), Section::of(i), i < a.n);
  }
  client.flush();
}
template <class Policy, class Section, unsigned Words = 1, class... Others>
void defer(typename Policy::context context = {}, warden::deferred_options options = {}) {
  for (std::uint32_t const keys : all_keys()) {
    SCOPED_TRACE(testing::Message() << keys << " records");
    using guarded = warden::basic_guarded<Policy, known<Words>, Section, Others...>;
    warden::buffer<known<Words>> records{records_of<Words>(keys)};
    guarded all{records, context};
    // With sections on two records, more than one block runs: all records then are in several
    // parts.
    std::uint32_t const n = test::sized(sizeof...(Others) == 0 ? 700u : 3000u, 100'000u);
    warden::deferred later{all, n, options};
    simt::launch(&send_together<guarded, Section>, 4, 64,
                 sizeof(typename guarded::template deferred_block<64>::storage),
                 {later.ref(), n, keys}, {});
    later.run();
    all.wait();
    expect_visits(records, n);
  }
}

TEST(record_ids, of_deferred_sections) {
  defer<by_sorted, visit>();
  defer<by_sorted, visit, 16>();
  defer<on_chip, visit>();
  defer<by_locks, visit>();
  defer<in_order<by_sorted>, visit>();
  defer<with_context<by_sorted>, visit_with_context>(7);
}
TEST(record_ids, of_a_log_that_a_run_splits) {
  defer<by_sorted, visit>({}, {.partitions = 4, .split = 4});
}
TEST(record_ids, of_sections_that_lanes_run) {
  defer<by_sorted, visit_together<4>>();
  defer<by_locks, visit_together<32>>();
}
TEST(record_ids, of_combined_sections) {
  defer<by_sorted, visits>();
  defer<on_chip, visit_in_parts>();
}
TEST(record_ids, of_sections_in_an_array_with_sections_on_two_records) {
  defer<policy<warden::executor::automatic, placement::in_memory>, visit, 1, exchange>(
      {}, {.partitions = 4});
  defer<policy<warden::executor::automatic, placement::on_chip>, visit, 16, exchange>(
      {}, {.partitions = 4});
}

template <class Policy, class Section, class... Others>
void fuse(typename Policy::context context = {}) {
  for (std::uint32_t const keys : all_keys()) {
    SCOPED_TRACE(testing::Message() << keys << " records");
    warden::buffer<known<1>> records{records_of<1>(keys)};
    warden::basic_guarded<Policy, known<1>, Section, Others...> all{
        records, context, {.servers = 3, .chunk = 2}};
    std::uint32_t const n = test::sized(500u, 100'000u);
    warden::launch_fused(test::send_sections<Section>{n, keys}, 4, 64, {}, all);
    all.wait();
    expect_visits(records, n);
  }
}
TEST(record_ids, of_fused_sections) {
  fuse<by_sorted, visit>();
  fuse<on_chip, visit>();
  fuse<by_locks, visit>();
  fuse<with_context<by_locks>, visit_with_context>(7);
  fuse<combined<by_sorted>, visits>();
  fuse<by_sorted, visit_together<8>>();
  fuse<policy<warden::executor::pair_messages<64>, placement::in_memory>, visit, exchange>();
}

/// Records from the last to the first.
struct backwards {
  std::uint32_t size = 0;
  __device__ warden::record_location operator()(std::uint32_t id) const {
    return {(size - 1 - id) % 2, (size - 1 - id) / 2};
  }
  __device__ std::uint32_t id(warden::record_location place) const {
    std::uint32_t const from_end = place.local * 2 + place.server;
    return from_end < size ? size - 1 - from_end : size;
  }
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return 2; }
  WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t n) const { return (n + 1) / 2; }
};
using mapped = warden::with_parts<by_sorted, warden::owners<backwards>>;
TEST(record_ids, of_records_that_a_users_map_deals_out) {
  constexpr std::uint32_t keys = 101, n = 500;
  warden::buffer<known<1>> records{records_of<1>(keys)};
  warden::basic_guarded<mapped, known<1>, visit> all{records.data(), keys, {}, {}, backwards{keys}};
  warden::launch_fused(test::send_sections<visit>{n, keys}, 4, 64, {}, all);
  all.wait();
  expect_visits(records, n);
}

/// Sends a section to each record.
struct send_two_each {
  std::uint32_t keys;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, keys, [&](std::uint64_t i) { client.send(i, visit_two{keys}, i < keys); });
    client.flush();
  }
};
TEST(record_ids, of_sections_that_send_sections) {
  constexpr std::uint32_t keys = 300;
  warden::buffer<known<1>> records{records_of<1>(keys)};
  warden::basic_guarded<by_sorted, known<1>, visit_two, visit> all{records};
  warden::launch_fused(send_two_each{keys}, 4, 64, {}, all);
  all.wait();
  expect_visits(records, 2 * keys);
  std::vector<std::uint32_t> ids(keys);
  for (std::uint32_t id = 0; id < keys; ++id) ids[id] = id;
  warden::buffer<std::uint32_t> const to{ids};
  warden::buffer<visit_two> const sections{std::vector<visit_two>(keys, visit_two{keys})};
  all.apply_async(to.data(), sections.data(), keys);
  all.wait();
  expect_visits(records, 4 * keys);
}

using spread = warden::basic_spread_guarded<by_sorted, known<1>, visit, visit_two>;
WARDEN_KERNEL void name_records(spread::share_type share) {
  std::uint32_t const place = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (place < share.places) share.records[place].own = share.id(place);
}
struct sending_to_ranks {
  spread::deferred_ref ref;
  std::uint32_t n, keys;
};
WARDEN_KERNEL void send_alone(sending_to_ranks a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.n) return;
  if (i % 2 == 0) {
    a.ref.send(test::id_of(i, a.keys), visit{});
  } else {
    a.ref.send(test::id_of(i, a.keys), visit_two{a.keys});
  }
}
/// The ids are those of all ranks, not places in a rank's share.
TEST(record_ids, of_records_that_are_spread_over_ranks) {
  for (int const count : {1, 3}) {
    std::atomic<std::uint64_t> runs{0};
    spreading::on_ranks(spreading::ranks(count), [&](warden::communicator const& world) {
      constexpr std::uint32_t keys = 200, n = 400;
      spread all{world, keys};
      warden::launch(name_records, (all.share().places + 31) / 32, 32, {}, all.share());
      warden::deferred later{all, 2 * n};
      warden::launch(send_alone, (n + 31) / 32, 32, {}, sending_to_ranks{later.ref(), n, keys});
      later.run();
      all.wait();
      std::uint32_t wrong = 0;
      for (known<1> const& r : all.records().to_host()) wrong += r.wrong;
      EXPECT_EQ(wrong, 0u) << "sections with the id of another record";
      for (known<1> const& r : all.records().to_host()) runs += r.runs;
    });
    // Each rank sends n sections, and half of them send another one.
    EXPECT_EQ(runs, static_cast<std::uint64_t>(count) * 600) << "lost or doubled sections";
  }
}

}  // namespace
