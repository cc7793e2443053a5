// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `sorted` with buffers for each destination; servers by windows.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_parts<small<64, Where>, warden::executor::sorted<128>, warden::sender::buffered>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using buffered = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>>;

TEST(fuzz_buffered, in_memory) { many_programs<buffered<placement::in_memory, true>>(); }
TEST(fuzz_buffered, on_chip_unfenced) { many_programs<buffered<placement::on_chip, false>>(); }

}  // namespace
