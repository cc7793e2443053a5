// SPDX-License-Identifier: Apache-2.0
/// @file
/// Map from vertices to regions, and from a region's vertices to the blocks of its cluster.
#pragma once

#include <warden/simt/simt.cuh>

#include <bit>
#include <cstdint>

namespace max_flow {

namespace simt = warden::simt;

/// Divides numbers below 2^32 by a fixed number, a multiple of 32: by a multiplication of all but
/// their last four bits, and a shift [Granlund and Montgomery 1994].
class divisor {
 public:
  explicit divisor(std::uint32_t by)
      : by_{by}, shift_{by < 256 ? 0 : static_cast<unsigned>(std::bit_width(by)) - 8} {
    // A product is too large by less than 2^28 / 2^(32 + shift_) of a quotient, at most 16 / by,
    // and the distance to the next quotient is at least that.
    std::uint64_t const one = std::uint64_t{1} << (32 + shift_);
    factor_ = static_cast<std::uint32_t>(one / (by / 16) + 1);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t by() const { return by_; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t quotient(std::uint32_t n) const {
    return simt::multiply_high(n / 16, factor_) >> shift_;
  }

 private:
  std::uint32_t by_;
  unsigned shift_;
  std::uint32_t factor_;
};

/// Division of a network into bands of vertices with consecutive numbers. Bands are dealt to the
/// regions in turn, because excess is mostly in one part of a network and an iteration takes as
/// long as that of its busiest region.
struct region_shape {
  std::uint32_t part;     ///< vertices of a block
  unsigned cluster;       ///< blocks of a cluster, a power of two
  std::uint32_t regions;  ///< regions of the network, at least 1
  divisor band;           ///< vertices of a band, a multiple of 32
  divisor turn;           ///< vertices of one band of each region together

  static constexpr unsigned bands = 2;  ///< bands of a region

  /// Returns the shape with `part` vertices per block. Preconditions: each band of a region has a
  /// multiple of 32 vertices, and the network has at most 2^31 vertices.
  static region_shape of(std::uint32_t vertices, std::uint32_t part, unsigned cluster) {
    std::uint32_t const size = part * cluster, regions = (vertices - 1) / size + 1;
    return {part, cluster, regions, divisor{size / bands}, divisor{regions * (size / bands)}};
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t region_of(std::uint32_t v) const {
    return band.quotient(v - turn.quotient(v) * turn.by());
  }
};

/// Vertices of a region, with the block and the bit of each vertex. Blocks of the cluster take 32
/// vertices each in turn, because vertices with neighbouring numbers are active together and a step
/// waits for the block with the most active vertices.
class region_map {
 public:
  struct spot {
    unsigned rank;
    std::uint32_t place;
  };

  WARDEN_DEVICE region_map(region_shape const& shape, std::uint32_t region)
      : shape_{shape},
        before_{shape.turn.by() - region * shape.band.by()},
        mask_{shape.cluster - 1},
        shift_{static_cast<unsigned>(simt::last_bit(shape.cluster))} {}

  [[nodiscard]] WARDEN_DEVICE bool has(std::uint32_t v) const {
    std::uint32_t const at = v + before_;
    return at - shape_.turn.quotient(at) * shape_.turn.by() < shape_.band.by();
  }
  /// Returns the spot of a vertex of the region.
  [[nodiscard]] WARDEN_DEVICE spot spot_of(std::uint32_t v) const {
    std::uint32_t const at = v + before_, turn = shape_.turn.quotient(at);
    std::uint32_t const i = at - turn * shape_.turn.by() + (turn - 1) * shape_.band.by();
    return {i / 32 & mask_, (i / 32 >> shift_) * 32 + i % 32};
  }
  /// Returns the vertex at a place of block `rank`; after the network's end it is no vertex.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t vertex_at(unsigned rank, std::uint32_t place) const {
    std::uint32_t const i = ((place / 32 << shift_) + rank) * 32 + place % 32;
    std::uint32_t const band = shape_.band.quotient(i);
    return i - band * shape_.band.by() + (band + 1) * shape_.turn.by() - before_;
  }

 private:
  region_shape const& shape_;
  std::uint32_t before_;  ///< vertices of a turn before the region's band, taken from a turn
  unsigned mask_, shift_;
};

}  // namespace max_flow
