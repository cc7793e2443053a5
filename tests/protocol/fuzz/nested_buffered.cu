// SPDX-License-Identifier: Apache-2.0
// Random programs by the executor `nested` behind buffers for each destination, with hardly any
// locks, and two warps that read the ring.

#include "fuzz.cuh"

namespace {

using namespace fuzz;
using warden::placement;

template <placement Where>
struct policy : small<96, Where> {
  using executor = warden::executor::nested<4>;
  using sender = warden::sender::buffered;
  static constexpr unsigned forward_bytes = 3072;
};
template <placement Where, bool Fenced, reach Reach = reach{Fenced, Fenced}>
using nested_buffered =
    configuration<policy<Where>, Reach, plain_section<Reach>, pair_section<Reach>>;

TEST(fuzz_nested_buffered, in_memory_unfenced) {
  many_programs<nested_buffered<placement::in_memory, false>>();
}
TEST(fuzz_nested_buffered, on_chip) { many_programs<nested_buffered<placement::on_chip, true>>(); }

}  // namespace
