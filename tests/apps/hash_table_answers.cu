// SPDX-License-Identifier: Apache-2.0
// The answering table: callers are told what happened.

#include "apps/hash_table/answering_table.cuh"
#include "tests/apps/call_outcomes.cuh"
#include "tests/support/support.cuh"

#include <cstdint>

namespace {

using answering = hash_table::answering_table<std::uint32_t, std::uint64_t>;
using answering_by_locks = hash_table::answering_table<
    std::uint32_t, std::uint64_t, hash_table::integer_keys<std::uint32_t>,
    hash_table::answering_policy<std::uint32_t, std::uint64_t,
                                 hash_table::integer_keys<std::uint32_t>,
                                 warden::executor::locks<>>>;

template <class Table>
class every_answering_table : public testing::Test {};
using answering_tables = testing::Types<answering, answering_by_locks>;
TYPED_TEST_SUITE(every_answering_table, answering_tables);

TYPED_TEST(every_answering_table, tells_callers_what_happened) {
  std::uint32_t const n = test::sized(600u, 40'000u);
  TypeParam t{{.buckets = n / 3, .capacity = test::outcome_keys::first_own + n}};
  test::check_told(t, n, test::sized(2u, 100u));
}

template <class Table>
struct insert_all {
  std::uint32_t n;
  std::uint32_t* refused;
  __device__ void operator()(warden::virtual_block const& at,
                             typename Table::ref const& ref) const {
    typename Table::client client{ref, at};
    auto const i = static_cast<std::uint32_t>(at.global_rank());
    auto future = client.call(typename Table::section::insert{i, 0}, i < n);
    client.flush();
    auto const answer = future.get();
    if (answer && *answer == hash_table::outcome::refused) warden::simt::fetch_add(refused, 1u);
  }
};

TYPED_TEST(every_answering_table, tells_callers_that_the_pool_is_full) {
  std::uint32_t const overflow = 93, room = TypeParam::bucket_type::slots + overflow;
  TypeParam t{{.buckets = 1, .capacity = room, .overflow = overflow}};
  warden::buffer<std::uint32_t> refused{1};
  refused.fill_bytes(0);
  warden::launch_fused(insert_all<TypeParam>{room + 10, refused.data()}, 1, 256, {}, t.guarded());
  EXPECT_THROW(t.wait(), warden::limit_error);
  EXPECT_EQ(refused.to_host()[0], 10u);
}

TYPED_TEST(every_answering_table, takes_arrays_as_well) {
  std::uint32_t const n = 300, distinct = 40;
  TypeParam t{{.capacity = distinct}};
  std::vector<std::uint32_t> keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = i % distinct;
  warden::buffer<std::uint32_t> const device_keys{keys};
  t.count_async(device_keys.data(), n);
  t.add_async(device_keys.data(), 5, distinct);
  t.erase_async(device_keys.data() + 10, 3);
  t.wait();
  auto const all = test::contents<std::uint32_t, std::uint64_t>(t, distinct);
  ASSERT_EQ(all.size(), distinct - 3);
  for (auto const& [k, v] : all) {
    EXPECT_EQ(v, n / distinct + (k < n % distinct ? 1 : 0) + 5) << "key " << k;
  }
}

}  // namespace
