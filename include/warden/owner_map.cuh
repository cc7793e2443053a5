// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which server owns a record: record ids are dealt out to the servers in turn (papers/002,
/// section 4.2.1).
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Where a record lives: its owner, and its number among the owner's records.
struct owner {
  std::uint32_t server;  ///< the owner
  std::uint32_t local;   ///< number among the owner's records
};

/// Record id -> (id mod servers, id div servers), without a division on the device: the quotient is
/// the high word of a product with a rounded-up reciprocal, exact for every 32-bit id because the
/// reciprocal's error, below `servers`, times the id stays below 2^63.
class interleaved_owner_map {
 public:
  /// Indeterminate: assign before use.
  interleaved_owner_map() = default;
  /// `servers` is at least 1.
  explicit interleaved_owner_map(std::uint32_t servers)
      : reciprocal_{(std::uint64_t{1} << 63) / servers + ((std::uint64_t{1} << 63) % servers != 0)},
        servers_{servers} {}

  /// Where record `id` lives.
  WARDEN_DEVICE owner operator()(std::uint32_t id) const {
    auto const local =
        static_cast<std::uint32_t>(simt::multiply_high(reciprocal_, std::uint64_t{id} << 1));
    return {id - local * servers_, local};
  }
  /// The inverse: the id of a server's record.
  WARDEN_DEVICE std::uint32_t id(owner place) const {
    return place.local * servers_ + place.server;
  }
  /// Servers the records are dealt out to.
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return servers_; }

 private:
  std::uint64_t reciprocal_;
  std::uint32_t servers_;
};

WARDEN_NAMESPACE_END
