// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `pair_messages` with buffers for each destination, hardly any
// locks, and two warps that read the ring.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
using policy =
    warden::with_values<warden::with_parts<small<96, Where>, warden::executor::pair_messages<4>,
                                           warden::sender::buffered>,
                        &warden::tuning::forward_bytes, 3072>;
template <placement Where, bool Fenced, reach Reach = reach{Fenced, Fenced}>
using pair_messages_buffered =
    configuration<policy<Where>, Reach, plain_section<Reach>, pair_section<Reach>>;

TEST(fuzz_pair_messages_buffered, in_memory_unfenced) {
  many_programs<pair_messages_buffered<placement::in_memory, false>>();
}
TEST(fuzz_pair_messages_buffered, on_chip) {
  many_programs<pair_messages_buffered<placement::on_chip, true>>();
}

}  // namespace
