// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `pair_messages`: pairs of any owners, chains, and few locks.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_values<warden::with_parts<small<64, Where>, warden::executor::pair_messages<16>>,
                        &warden::tuning::forward_bytes, 6144, &warden::options::statistics, true>;
/// The memory kept for a record is reached by way of two servers, which needs fences.
template <placement Where, bool Fenced, reach Reach = reach{Fenced, Fenced}>
using pair_messages = configuration<policy<Where>, Reach, plain_section<Reach>, pair_section<Reach>,
                                    chain_section<Reach>>;

TEST(fuzz_pair_messages, in_memory) { many_programs<pair_messages<placement::in_memory, true>>(); }
TEST(fuzz_pair_messages, on_chip_unfenced) {
  many_programs<pair_messages<placement::on_chip, false>>();
}

}  // namespace
