// SPDX-License-Identifier: Apache-2.0
// Transfers and audits under many schedules of the simulated device, by all arms but those whose
// thousands of threads spin for locks.

#include "apps/bank_transfer/arms.cuh"
#include "tests/apps/bank_traces.cuh"
#include "tests/support/many_schedules.cuh"

namespace {

using bank_transfer::bank;

std::vector<std::string> arms_without_locks() {
  std::vector<std::string> names = bank_transfer::arm_names();
  std::erase_if(names, [](std::string const& name) { return name.starts_with("lock_"); });
  return names;
}

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(bank_transfer, arms, testing::ValuesIn(arms_without_locks()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, under_many_schedules) {
  std::uint32_t const accounts = 6;
  test::on_device const pairs{test::busy_pairs(60, accounts)};
  // So little money that refusals are usual.
  test::on_device const mixed{with_audits(test::drawn(90, accounts, 900), accounts)};
  test::under_many_schedules(5, [&](std::uint64_t) {
    bank b{{.accounts = accounts, .opening = 1000}};
    auto const arm = make_arm(GetParam(), b);
    for (test::on_device const* work : {&pairs, &mixed}) {
      b.open_async();
      arm->run_async(work->all);
      arm->wait();
      auto const found = b.audit(work->all, arm->promises());
      ASSERT_EQ(b.complaint(found, work->all, arm->promises()), "");
    }
  });
}

}  // namespace
