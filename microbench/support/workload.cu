// SPDX-License-Identifier: Apache-2.0
// Draws ids on the device.

#include "microbench/support/workload.cuh"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

namespace bench {

struct draw_arguments {
  std::uint32_t* ids;
  std::uint32_t n;
  std::uint32_t keys;
  std::uint64_t seed;
  double const*
      cumulative;  ///< [rank] sum of the probabilities of ranks 0 to rank; null for uniform
  std::uint32_t const* ranked;  ///< [rank] id; or the list of ids to deal out
  std::uint32_t listed;         ///< length of the list; 0 if ids are drawn
  bool in_order;                ///< true if the list is used in its order
};

/// Returns the place of operation i in the sequence: operations are spread evenly over the
/// sequence.
WARDEN_HOST_DEVICE std::uint64_t place_in_sequence(std::uint64_t i, draw_arguments const& a) {
  if (a.n >= a.listed) return i % a.listed;
  // The seed shifts all operations by less than one step.
  std::uint64_t const shift = mix(0, a.seed) % a.listed;
  return (i * a.listed + shift) / a.n;
}

WARDEN_KERNEL void draw_ids(draw_arguments a) {
  for_each_of(a.n, [&](std::uint64_t i) {
    if (a.listed != 0) {
      a.ids[i] = a.ranked[a.in_order ? place_in_sequence(i, a) : i % a.listed];
      return;
    }
    if (a.cumulative == nullptr) {
      a.ids[i] =
          static_cast<std::uint32_t>(simt::multiply_high(mix(i, a.seed), std::uint64_t{a.keys}));
      return;
    }
    // Inverse of the distribution: the first rank whose cumulative probability exceeds u.
    double const u = mix_to_unit(i, a.seed);
    std::uint32_t low = 0, high = a.keys - 1;
    while (low < high) {
      std::uint32_t const middle = (low + high) / 2;
      if (a.cumulative[middle] > u) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    a.ids[i] = a.ranked[low];
  });
}

void workload::draw(std::uint32_t* ids, std::uint32_t n, std::uint64_t seed) {
  if (!listed_.empty()) {
    // Shuffles a copy, so that the order depends on the seed only, not on earlier draws.
    std::vector<std::uint32_t> dealt = listed_;
    std::shuffle(dealt.begin(), dealt.end(), std::mt19937_64{seed});
    ranked_ = warden::buffer<std::uint32_t>{dealt};
  }
  auto const [blocks, threads] = shape_of_helpers();
  simt::launch(&draw_ids, blocks, threads, 0,
               {ids, n, keys_, seed, cumulative_.data(), ranked_.data(),
                length_ != 0 ? length_ : static_cast<std::uint32_t>(listed_.size()), length_ != 0},
               {});
}

}  // namespace bench
