// SPDX-License-Identifier: Apache-2.0
// Loops over records: each iteration calls a function.

#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/guarded_loop.cuh>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t accounts = 10, n = 1000;

struct account {
  std::uint64_t balance, deposits;
  friend bool operator==(account const&, account const&) = default;
};
std::vector<std::uint32_t> some_ids() {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i) ids.push_back(i % 2 == 0 ? 7 : i * 3 % accounts);
  return ids;
}
std::vector<std::uint32_t> some_amounts() {
  std::vector<std::uint32_t> amounts;
  for (std::uint32_t i = 0; i < n; ++i) amounts.push_back(i * i % 1009);
  return amounts;
}

class guarded_loop : public testing::Test {
 protected:
  guarded_loop() { records.fill_bytes(0); }
  /// Runs a loop over all ids.
  template <class Loop>
  std::vector<account> found(Loop loop) {
    loop.apply_async(ids);
    loop.wait();
    return records.to_host();
  }
  /// Returns the records after `f(record, i, id)` for all ids in turn.
  template <class F>
  static std::vector<account> expected(F f) {
    std::vector<account> all(accounts);
    auto const listed = some_ids();
    for (std::uint32_t i = 0; i < n; ++i) f(all[listed[i]], i, listed[i]);
    return all;
  }
  warden::buffer<account> records{accounts};
  warden::buffer<std::uint32_t> const ids{some_ids()}, amounts{some_amounts()};
};

// In a function: nvcc takes no lambdas for the device in a test's body.
void pay(warden::buffer<account> const& records, warden::buffer<std::uint32_t> const& ids,
         std::uint32_t const* amounts) {
  auto loop = warden::make_guarded_loop(records, [=] __device__(account & a, std::uint32_t i) {
    a.balance += amounts[i];
    ++a.deposits;
  });
  loop.apply_async(ids);
  loop.wait();
}
TEST_F(guarded_loop, calls_a_lambda) {
  pay(records, ids, amounts.data());
  EXPECT_EQ(records.to_host(), expected([](account& a, std::uint32_t i, std::uint32_t) {
              a.balance += some_amounts()[i];
              ++a.deposits;
            }));
}

struct add_id {
  std::uint32_t factor;
  __device__ void operator()(account& a, std::uint32_t i, warden::record_id id) const {
    a.balance += factor * i + id;
  }
};
TEST_F(guarded_loop, passes_the_id) {
  EXPECT_EQ(
      found(warden::make_guarded_loop(records, add_id{3})),
      expected([](account& a, std::uint32_t i, std::uint32_t id) { a.balance += 3 * i + id; }));
}

/// Lane 1 updates the first member, and lane 3 the second one.
struct by_lanes {
  __device__ void operator()(account& a, std::uint32_t i,
                             warden::lane_group<4> const& group) const {
    if (group.lane() == 1) a.balance += i;
    if (group.lane() == 3) ++a.deposits;
  }
};
/// The same with the id.
struct by_lanes_with_id {
  __device__ void operator()(account& a, std::uint32_t i, warden::record_id id,
                             warden::lane_group<4> const& group) const {
    by_lanes{}(a, i + static_cast<std::uint32_t>(id), group);
  }
};
TEST_F(guarded_loop, groups_call_the_function) {
  EXPECT_EQ(found(warden::make_guarded_loop<4>(records, by_lanes{})),
            expected([](account& a, std::uint32_t i, std::uint32_t) {
              a.balance += i;
              ++a.deposits;
            }));
  records.fill_bytes(0);
  EXPECT_EQ(found(warden::make_guarded_loop<4>(records, by_lanes_with_id{})),
            expected([](account& a, std::uint32_t i, std::uint32_t id) {
              a.balance += i + id;
              ++a.deposits;
            }));
}

struct mix {
  __host__ __device__ void operator()(account& a, std::uint32_t i) const {
    a.balance = a.balance * 31 + i;
  }
};
TEST_F(guarded_loop, runs_in_the_order_of_the_policy) {
  using in_order = warden::policy<warden::options{}, warden::order::sequential>;
  EXPECT_EQ(found(warden::make_guarded_loop<1, in_order>(records, mix{})),
            expected([](account& a, std::uint32_t i, std::uint32_t) { mix{}(a, i); }));
}

TEST_F(guarded_loop, moves) {
  auto loop = warden::make_guarded_loop(records, add_id{1});
  loop = warden::make_guarded_loop(records, add_id{2});
  EXPECT_EQ(found(std::move(loop)), expected([](account& a, std::uint32_t i, std::uint32_t id) {
              a.balance += 2 * i + id;
            }));
}

}  // namespace
