// SPDX-License-Identifier: Apache-2.0
// Random programs by the paper configuration: a bit-mask, buffers, and a leader warp with two
// followers.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy = warden::with_parts<small<96, Where, warden::paper_policy>,
                                  warden::executor::locks<16, warden::detail::leader_server>>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using paper = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>,
                            pair_section<Reach>>;

TEST(fuzz_paper, in_memory) { many_programs<paper<placement::in_memory, true>>(); }
TEST(fuzz_paper, on_chip_unfenced) { many_programs<paper<placement::on_chip, false>>(); }

}  // namespace
