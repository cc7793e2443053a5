// SPDX-License-Identifier: Apache-2.0
// Which sections of hot90 note a time, and that noting changes nothing else.

#include "microbench/contention/observed.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t n = 200;

template <class Operation>
class every_operation : public testing::Test {};
using operations = testing::Types<contention::push, contention::add, contention::update>;
TYPED_TEST_SUITE(every_operation, operations);

TYPED_TEST(every_operation, runs_as_without_an_observer) {
  auto w = bench::workload::hot90(8);
  contention::cold_observer<TypeParam> observer{n, w.keys()};
  std::vector<std::string> arms{"lock_tuned",
                                "warden",
                                "warden_locks",
                                "warden_runs",
                                "warden_deferred",
                                "warden_deferred_on_chip",
                                "warden_deferred_threads",
                                "warden_deferred_sequential"};
  if (TypeParam::has_atomic) arms.insert(arms.end(), {"atomics", "warden_atomics"});
  if (warden::combining<typename TypeParam::section>)
    arms.insert(arms.end(),
                {"atomics_combined", "warden_runs_combined", "warden_deferred_combined"});
  for (std::string const& arm : arms) {
    auto const seen = observer.run(arm, w, n, {});
    EXPECT_TRUE(seen.verified) << arm;
    EXPECT_GT(seen.seconds, 0) << arm;
    EXPECT_NEAR(static_cast<double>(seen.cold), n / 10., n / 20.) << arm;
  }
}

template <class Operation>
struct one_each {
  typename contention::observed<Operation>::context context;
  typename Operation::record* records;
};
/// Thread i runs section i on record i; one that combines, combined with itself.
template <class Operation>
WARDEN_KERNEL void run_one_each(one_each<Operation> a) {
  using operation = contention::observed<Operation>;
  bench::for_each_of(n, [&](std::uint64_t i) {
    auto s = typename operation::make{}(static_cast<std::uint32_t>(i));
    if constexpr (warden::combining<typename operation::section>)
      s = operation::section::combine(s, s);
    s(a.records[i], a.context);
  });
}

TYPED_TEST(every_operation, notes_the_times_of_cold_keys) {
  using operation = contention::observed<TypeParam>;
  auto w = bench::workload::hot90(8);
  warden::buffer<std::uint32_t> ids{n}, per_operation{n};
  w.draw(ids.data(), n, operation::seed);
  auto const drawn = ids.to_host();
  std::vector<std::uint32_t> hits(w.keys());
  for (std::uint32_t const id : drawn) ++hits[id];
  auto const hot =
      static_cast<std::uint32_t>(std::max_element(hits.begin(), hits.end()) - hits.begin());

  warden::buffer<typename TypeParam::record> records{n};
  warden::buffer<std::uint64_t> latest{operation::stripes};
  records.fill_bytes(0);
  latest.fill_bytes(0);
  operation const o{{}, nullptr, latest.data()};
  warden::simt::launch(&run_one_each<TypeParam>, 10, 64, 0,
                       {o.make_context(per_operation.data()), records.data()}, {});
  auto const times = latest.to_host();
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(times[i] != 0, drawn[i] != hot) << i;
}

}  // namespace
