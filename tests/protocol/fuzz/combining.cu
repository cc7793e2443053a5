// SPDX-License-Identifier: Apache-2.0
// Random programs whose sections are combined, in batches and in windows of one warp.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_values<warden::with_parts<small<32, Where>, warden::executor::sorted<128>>,
                        &warden::tuning::combine_in_fused, true>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using combining = configuration<policy<Where>, Reach, combined_section<Reach>>;

TEST(fuzz_combining, in_memory) { many_programs<combining<placement::in_memory, true>>(); }
TEST(fuzz_combining, on_chip_unfenced) { many_programs<combining<placement::on_chip, false>>(); }

}  // namespace
