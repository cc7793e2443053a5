// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `sorted`: chains and forks.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy = warden::with_parts<small<64, Where>, warden::executor::sorted<64>>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using sorted = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>,
                             chain_section<Reach>, fork_section<Reach>>;

TEST(fuzz_sorted, in_memory) { many_programs<sorted<placement::in_memory, true>>(); }
TEST(fuzz_sorted, on_chip_unfenced) { many_programs<sorted<placement::on_chip, false>>(); }

}  // namespace
