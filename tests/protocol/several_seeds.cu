// SPDX-License-Identifier: Apache-2.0
// Sections on several records under many schedules.

#include "tests/protocol/several.cuh"
#include "tests/support/many_schedules.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;

using several::cell;
using several::cells;
using several::expect_as_in_a_loop;
using warden::outcome;

constexpr warden::guarded_options patience{.time_limit_seconds = 0.002, .minimum_polls = 64};

/// Random sections, from one hot record to many records.
TEST(several_seeds, are_as_in_a_loop) {
  test::under_many_schedules(1, [](std::uint64_t seed) {
    auto const draw = [&](std::uint64_t which, std::uint32_t below) {
      return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
    };
    if (seed % 5 == 0) test::let_one_block_be_resident();
    several::shape const of{.records = 1 + draw(0, seed % 3 == 0 ? 3 : 60),
                            .positions = 1 + draw(1, 5),
                            .writes = 16 + draw(2, 200),
                            .bad = 4};
    expect_as_in_a_loop<5>(of, 1 + draw(3, 250), 2, patience, draw(4, 1u << 30));
  });
}

// ---- which sections overlap

/// Counts of the sections that are inside, and of the most at once.
struct inside {
  std::uint32_t now, most;
};
struct look {
  bool writes;
  __device__ void access(warden::access_list<2>& a) const {
    if (writes) a.write(0);
    a.read(0);
  }
  __device__ outcome operator()(warden::records<cell, 2>&, inside* const& count) const {
    std::uint32_t const others = simt::fetch_add(&count->now, 1u);
    simt::fetch_max(&count->most, others + 1);
    simt::add(&count->now, ~0u);
    return outcome::commit;
  }
};
using watched = warden::basic_guarded<warden::policy<warden::options{}, warden::context<inside*>>,
                                      cell, several::clear>;
/// Returns the largest number of sections that were inside at once.
std::uint32_t most_inside(bool writes) {
  warden::buffer<cell> records{several::first_cells(1)};
  warden::buffer<inside> count{std::vector<inside>{{0, 0}}};
  watched on{records, count.data(), patience};
  warden::deferred_several<watched, look> later{on, 20};
  warden::buffer<look> const sections{std::vector<look>(20, look{writes})};
  later.apply_async(sections.data(), 20);
  on.wait();
  return count.to_host()[0].most;
}
TEST(several_seeds, readers_share_a_record_and_writers_do_not) {
  std::uint32_t most = 0;
  test::under_many_schedules(5, [&](std::uint64_t) {
    EXPECT_EQ(most_inside(true), 1u) << "overlapping sections";
    most = std::max(most, most_inside(false));
  });
  EXPECT_GT(most, 1u) << "readers do not overlap";
}

}  // namespace
