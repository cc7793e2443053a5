// SPDX-License-Identifier: Apache-2.0
// Random programs with single tags: second words carry none. One warp a block, whose threads
// receive several messages each.

#include "fuzz.cuh"

#include <warden/detail/fused/single_tag.cuh>

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy = warden::with_parts<small<32, Where>, warden::executor::sorted<128>,
                                  warden::readiness::single_tag>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using single_tag = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>,
                                 chain_section<Reach>>;

TEST(fuzz_single_tag, in_memory_unfenced) {
  many_programs<single_tag<placement::in_memory, false>>();
}
TEST(fuzz_single_tag, on_chip) { many_programs<single_tag<placement::on_chip, true>>(); }

}  // namespace
