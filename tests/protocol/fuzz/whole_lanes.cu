// SPDX-License-Identifier: Apache-2.0
// Random programs by whole lanes, whose second words carry no lap; one warp a block, whose threads
// receive several messages each.

#include "fuzz.cuh"

#include <warden/whole_lanes.cuh>

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
struct policy : small<32, Where> {
  using executor = warden::executor::runs<128>;
  using readiness = warden::readiness::whole_lanes;
};
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using whole_lanes = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>,
                                  chain_section<Reach>>;

TEST(fuzz_whole_lanes, in_memory_unfenced) {
  many_programs<whole_lanes<placement::in_memory, false>>();
}
TEST(fuzz_whole_lanes, on_chip) { many_programs<whole_lanes<placement::on_chip, true>>(); }

}  // namespace
