// SPDX-License-Identifier: Apache-2.0
// Exactly once for all message sizes, capacities, counts and numbers of servers; records of every
// size and alignment.

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
  // Number of blocks that fit on a multiprocessor; all but one serve.
  unsigned const blocks = test::limits<test::small_policy>.blocks_on_multiprocessor;
  unsigned const servers = blocks * static_cast<unsigned>(facts.multiprocessors) - 1;
  round_trip<2>(test::sized<std::uint64_t>(600, 300'000), 1000, servers, 64, 3);
}

// ---- of records

/// A section that finds its record misaligned is not counted.
struct count_where_it_belongs {
  static constexpr bool reads_other_memory = false;
  std::uint32_t word;
  template <class Record>
  __device__ void operator()(Record& r, warden::no_context) const {
    if (reinterpret_cast<std::uintptr_t>(&r) % alignof(Record) == 0) r.counts[word] += 1;
  }
};
template <class Policy, class Record>
using counted = warden::basic_guarded<Policy, Record, count_where_it_belongs>;

/// Operation i counts in one of the record's words.
struct count_all {
  std::uint32_t n, records, words;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const word = static_cast<std::uint32_t>(i) % words;
      client.send(test::id_of(i, records), count_where_it_belongs{word}, i < n);
    });
    client.flush();
  }
};
template <class Policy, class Record>
void count_in(std::uint32_t records, unsigned servers) {
  SCOPED_TRACE(testing::Message() << sizeof(Record) << " bytes, aligned to " << alignof(Record));
  std::uint32_t const n = 1000, words = sizeof(Record::counts) / sizeof(Record::counts[0]);
  test::guarded_records<counted<Policy, Record>> g{records, {.servers = servers}};
  warden::launch_fused(count_all{n, records, words}, 3, Policy::block_threads, {}, g.guarded);
  g.guarded.wait();
  std::vector<Record> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) wanted[test::id_of(i, records)].counts[i % words] += 1;
  auto const seen = g.records.to_host();
  for (std::uint32_t k = 0; k < records; ++k) {
    for (std::uint32_t w = 0; w < words; ++w)
      ASSERT_EQ(seen[k].counts[w], wanted[k].counts[w]) << "record " << k << ", word " << w;
  }
}

template <std::size_t Bytes>
struct page {
  std::uint32_t counts[Bytes / sizeof(std::uint32_t)];
};
// Larger than a thread's stack. With 200 records of one server threads own several.
TEST(sizes, large_records) {
  count_in<test::small_policy, page<16 * 1024>>(200, 1);
  count_in<test::small_policy, page<16 * 1024>>(20, 2);
  count_in<test::small_policy, page<100 * 1024>>(100, 1);
}

template <unsigned Bytes>
struct alignas(Bytes) aligned {
  std::uint32_t counts[Bytes / sizeof(std::uint32_t)];
};
using on_chip =
    warden::with_values<test::small_policy, &warden::options::records, warden::placement::on_chip>;
TEST(sizes, aligned_records) {
  count_in<test::small_policy, aligned<128>>(130, 1);
  count_in<on_chip, aligned<32>>(130, 1);
  count_in<on_chip, aligned<64>>(130, 1);
  count_in<on_chip, aligned<128>>(130, 1);
  count_in<on_chip, aligned<128>>(20, 2);
}

TEST(sizes, more_servers_than_records) { round_trip<2>(200, 3, 5, 32, 2); }

}  // namespace
