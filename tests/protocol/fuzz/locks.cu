// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `locks`, whose warps receive slices; one call of a thread at a
// time.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_values<warden::with_parts<small<64, Where>, warden::executor::locks<16>>,
                        &warden::options::calls_per_thread, 1>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, true}>
using locks = configuration<policy<Where>, Reach, plain_section<Reach>, wide_section<Reach>,
                            pair_section<Reach>>;

TEST(fuzz_locks, in_memory_unfenced) { many_programs<locks<placement::in_memory, false>>(); }
TEST(fuzz_locks, on_chip) { many_programs<locks<placement::on_chip, true>>(); }

}  // namespace
