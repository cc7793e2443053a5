// SPDX-License-Identifier: Apache-2.0
// Transfers and audits under many schedules of the simulated device, by all arms but the locks as
// written, whose thousands of threads spin.

#include "apps/bank_transfer/arms.cuh"
#include "tests/apps/bank_traces.cuh"
#include "tests/support/many_schedules.cuh"

namespace {

using bank_transfer::bank;

std::vector<std::string> arms_of_few_threads() {
  std::vector<std::string> names = bank_transfer::arm_names();
  std::erase(names, "lock_as_written");
  return names;
}

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(bank_transfer, arms, testing::ValuesIn(arms_of_few_threads()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, under_many_schedules) {
  std::uint32_t const accounts = 6;
  test::on_device const pairs{test::busy_pairs(60, accounts)};
  // Little money, so that refusals are common.
  test::on_device const mixed{with_audits(test::drawn(90, accounts, 900), accounts)};
  bool const locks = GetParam().starts_with("lock_");
  // Tuned once, locks have few threads, which still meet.
  bank tuned{{.accounts = accounts, .opening = 1000}};
  auto const tuned_arm = make_arm(GetParam(), tuned);
  if (locks) tuned_arm->tune(pairs.all);
  test::under_many_schedules(5, [&](std::uint64_t) {
    bank fresh{{.accounts = accounts, .opening = 1000}};
    auto const fresh_arm = make_arm(GetParam(), fresh);
    bank& b = locks ? tuned : fresh;
    auto const& arm = locks ? tuned_arm : fresh_arm;
    for (test::on_device const* work : {&pairs, &mixed}) {
      b.open_async();
      arm->run_async(work->all);
      arm->wait();
      auto const found = b.audit(work->all, arm->promises());
      ASSERT_EQ(b.error_text(found, work->all, arm->promises()), "");
    }
  });
}

}  // namespace
