// SPDX-License-Identifier: Apache-2.0
// Random programs whose sections are one atomic each; four calls of a thread at a time.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_values<warden::with_parts<small<64, Where>, warden::executor::atomics<64>>,
                        &warden::options::calls_per_thread, 4>;
/// Nothing excludes the sections of a record from one another but the atomic.
template <placement Where, bool Fenced, reach Reach = reach{Fenced, false}>
using atomics = configuration<policy<Where>, Reach, plain_section<Reach>>;

TEST(fuzz_atomics, in_memory_unfenced) { many_programs<atomics<placement::in_memory, false>>(); }
TEST(fuzz_atomics, on_chip) { many_programs<atomics<placement::on_chip, true>>(); }

}  // namespace
