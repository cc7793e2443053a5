// SPDX-License-Identifier: Apache-2.0
// Marks of complete messages, each with the library's sender that uses the mark.
#pragma once

#include <warden/detail/fused/buffered_outbox.cuh>
#include <warden/detail/fused/single_tag.cuh>
#include <warden/policy.cuh>

namespace transport {

/// Both 8-byte words of each flit hold the sequence tag.
struct in_band {
  static constexpr char const* name = "in_band";
  using readiness = warden::readiness::sequence_tags;
  using sender = warden::sender::sorted;
};
/// The first word of each flit holds the sequence tag.
struct single_tag {
  static constexpr char const* name = "whole_lanes";
  using readiness = warden::readiness::single_tag;
  using sender = warden::sender::sorted;
};
/// A bit for each slot, and a buffer for each destination, as in the paper configuration.
struct bitmask {
  static constexpr char const* name = "bitmask";
  using readiness = warden::readiness::bitmask;
  using sender = warden::sender::buffered;
};

}  // namespace transport
