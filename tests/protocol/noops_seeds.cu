// SPDX-License-Identifier: Apache-2.0
// Sections that one thread runs, and that say when they are no-ops: under many schedules, and when
// they are wrong.

#include "tests/protocol/noops.cuh"
#include "tests/support/many_schedules.cuh"

#include <gmock/gmock.h>

#include <string>

namespace {

using noops::policy;
using noops::put;
using noops::set;
using testing::HasSubstr;
using warden::placement;
using sorted = policy<warden::executor::sorted<>>;
using in_order = noops::in_order<sorted>;
using locks = policy<warden::executor::locks<16>>;
using locks_on_chip = policy<warden::executor::locks<16>, placement::on_chip>;

TEST(noops_seeds, are_checked_between_sections) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 5);
    noops::defer<sorted>(250, keys);
    noops::defer<locks, 16>(250, keys);
    noops::defer<locks_on_chip>(250, keys);
    noops::fuse<sorted, put>(200, keys);
    noops::fuse<locks, put>(200, keys);
    noops::fuse<noops::combined<sorted>, noops::put_all>(200, keys);
    noops::chain<sorted>(150, keys);
  });
}

/// Says that it would change nothing, and counts its runs; the record is not changed, or it is.
template <bool Lies>
struct say_so {
  __device__ bool is_noop(set<1> const&, std::uint32_t*) const { return true; }
  __device__ void operator()(set<1>& s, std::uint32_t* runs) const {
    noops::simt::fetch_add(runs, 1u);
    if (Lies) s.bits = 1;
  }
};
template <class Policy>
using counting = warden::with_parts<Policy, warden::context<std::uint32_t*>>;
/// Returns how many of `n` sections on one record run.
template <class Policy, bool Lies>
std::uint32_t runs_of(std::uint32_t n) {
  warden::buffer<std::uint32_t> ids{n}, count{1};
  warden::buffer<set<1>> sets{1};
  ids.fill_bytes(0), count.fill_bytes(0), sets.fill_bytes(0);
  warden::basic_guarded<counting<Policy>, set<1>, say_so<Lies>> g{sets, count.data()};
  warden::buffer<say_so<Lies>> const sections{n};
  g.apply_async(ids.data(), sections.data(), n);
  g.wait();
  return count.to_host()[0];
}
TEST(noops_seeds, few_noop_sections_are_run) {
  constexpr std::uint32_t n = 100;
  EXPECT_LT((runs_of<sorted, false>(n)), n / 2);
  EXPECT_LT((runs_of<locks, false>(n)), n / 2);
  // In order a thread runs them all.
  EXPECT_EQ((runs_of<in_order, false>(n)), n);
}
template <class Policy>
std::string error_of_a_lie() {
  try {
    static_cast<void>(runs_of<Policy, true>(100));
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}
TEST(noops_seeds, sections_that_change_something_after_all_are_reported) {
  auto const text = HasSubstr("a section whose is_noop returned true has changed its record");
  EXPECT_THAT((error_of_a_lie<sorted>()), text);
  EXPECT_THAT((error_of_a_lie<in_order>()), text);
  EXPECT_THAT((error_of_a_lie<locks_on_chip>()), text);
}

}  // namespace
