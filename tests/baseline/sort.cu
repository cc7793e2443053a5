// SPDX-License-Identifier: Apache-2.0
// Sort-and-apply runs every section once, those of one record in the order of their operations.

#include "tests/support/support.cuh"

#include <warden/detail/baseline/sort.cuh>

namespace {

namespace baseline = warden::baseline;
namespace simt = warden::simt;

/// A chain of hashes: a section that is lost, doubled or out of order changes all later values.
template <int Bytes>
struct chain {
  std::uint64_t hash;
  std::uint64_t count;
  std::uint64_t more[(Bytes - 16) / 8 + 1];
};
using in_registers = chain<24>;
using in_memory = chain<40>;
static_assert(sizeof(in_registers) <= 32 && sizeof(in_memory) > 32);

struct context {
  std::uint32_t* executed;  ///< one count an operation
};
template <class Record>
struct link {
  std::uint32_t operation;
  __device__ void operator()(Record& r, context c) const {
    r.hash = test::mix(r.hash + operation + 1);
    r.count += 1;
    c.executed[operation] += 1;
  }
};
template <class Record>
struct make {
  __device__ link<Record> operator()(std::uint32_t i) const { return {i}; }
};

/// Every other operation is on record 0 where ids are skewed.
std::vector<std::uint32_t> make_ids(std::uint32_t n, std::uint32_t keys, bool skewed) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i)
    ids.push_back(skewed && test::mix(i) >> 63 != 0 ? 0 : test::id_of(i, keys));
  return ids;
}

template <class Record>
struct fixture {
  using work = baseline::work<Record, make<Record>, context>;
  using applier = baseline::segment_applier<work>;

  std::vector<std::uint32_t> host_ids;
  warden::buffer<Record> records;
  warden::buffer<std::uint32_t> ids, executed;

  fixture(std::uint32_t n, std::uint32_t keys, bool skewed = false)
      : host_ids{make_ids(n, keys, skewed)}, records{keys}, ids{host_ids}, executed{n} {
    clear();
  }
  void clear() {
    records.fill_bytes(0);
    executed.fill_bytes(0);
  }
  std::uint32_t n() const { return static_cast<std::uint32_t>(host_ids.size()); }
  work all() const { return {records.data(), ids.data(), n(), {}, {executed.data()}}; }
  void check() {
    std::vector<Record> wanted(records.size());
    for (std::uint32_t i = 0; i < n(); ++i) {
      Record& r = wanted[host_ids[i]];
      r.hash = test::mix(r.hash + i + 1);
      r.count += 1;
    }
    auto const seen = records.to_host();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_EQ(seen[k].count, wanted[k].count) << "record " << k << ": sections lost or doubled";
      ASSERT_EQ(seen[k].hash, wanted[k].hash) << "record " << k << ": sections out of order";
    }
    EXPECT_EQ(executed.to_host(), std::vector<std::uint32_t>(n(), 1));
    clear();
  }
};

template <class Record>
void check_sizes() {
  for (std::uint32_t const keys : {1u, 2u, 7u, 100u, 1025u}) {
    for (std::uint32_t const n : {0u, 1u, 2u, 31u, 33u, 64u, 1111u}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", keys = " + std::to_string(keys));
      fixture<Record> f{n, keys};
      baseline::sorter sorter{n, keys};
      baseline::sort_async(f.all(), sorter);
      f.check();
    }
  }
}
TEST(sort, records_in_registers) { check_sizes<in_registers>(); }
TEST(sort, records_in_memory) { check_sizes<in_memory>(); }

/// Whatever the device's size: runs in threads of their own, in warps, and a long one among short.
template <class Record>
void check_spreads() {
  for (bool const skewed : {false, true}) {
    fixture<Record> f{test::sized(2001u, 100'003u), test::sized(150u, 10'000u), skewed};
    auto const keys = static_cast<std::uint32_t>(f.records.size());
    baseline::sorter sorter{f.n(), keys};
    for (std::uint32_t const spread : {1u, 4u, 32u}) {
      SCOPED_TRACE("spread = " + std::to_string(spread) + (skewed ? ", skewed" : ""));
      auto const operations = sorter.sort(f.ids.data(), f.n(), {});
      constexpr unsigned threads = fixture<Record>::applier::threads;
      simt::launch(&baseline::sort_kernel<typename fixture<Record>::work>,
                   (keys * spread + threads - 1) / threads, threads,
                   sizeof(typename fixture<Record>::applier::storage),
                   {f.all(), operations, spread}, {});
      f.check();
    }
  }
}
TEST(sort, every_spread_of_records_in_registers) { check_spreads<in_registers>(); }
TEST(sort, every_spread_of_records_in_memory) { check_spreads<in_memory>(); }

TEST(sort, a_hot_record_among_many) {
  fixture<in_registers> f{test::sized(1501u, 1'000'003u), test::sized(1000u, 500'000u), true};
  baseline::sorter sorter{f.n(), static_cast<std::uint32_t>(f.records.size())};
  baseline::sort_async(f.all(), sorter);
  f.check();
}

TEST(sort, one_sorter_for_many_launches) {
  fixture<in_registers> f{777, 50};
  baseline::sorter sorter{1000, 50};
  // Ids and order twice, the numbers to sort with, and the memory of the sort itself.
  EXPECT_GE(sorter.memory_bytes(), 1000u * 12 + 50 * 4);
  for (std::uint32_t const n : {777u, 3u, 0u, 500u, 777u}) {
    f.host_ids = make_ids(n, 50, false);
    f.ids = warden::buffer<std::uint32_t>{f.host_ids};
    f.executed = warden::buffer<std::uint32_t>{n};
    f.clear();
    baseline::sort_async(f.all(), sorter);
    f.check();
  }
}

TEST(sort, limits) {
  fixture<in_registers> f{11, 5};
  baseline::sorter sorter{10, 5};
  try {
    baseline::sort_async(f.all(), sorter);
    ADD_FAILURE() << "no limit_error";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("11 operations: the sorter was made for 10"),
              std::string::npos)
        << e.what();
  }
  EXPECT_THROW((baseline::sorter{0x80000000u, 5}), warden::limit_error);
}

}  // namespace
