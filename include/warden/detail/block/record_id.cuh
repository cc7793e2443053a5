// SPDX-License-Identifier: Apache-2.0
/// @file
/// Id of the record that a section runs on, as the section may take it.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Id of a record, as the sender named it. A section that takes one gets the id of its record.
struct record_id {
  std::uint64_t value;  ///< below the number of records, of all ranks if they are spread

  /// Returns the id as a number.
  WARDEN_HOST_DEVICE constexpr operator std::uint64_t() const { return value; }
};

namespace detail {

/// Stands for an id in the test whether a section takes one. Converts to no number, so a section
/// that takes a number does not take an id.
struct any_record_id {
  WARDEN_DEVICE operator record_id() const { return {}; }
};

/// Stands for the id if the caller of a section does not know it.
struct unknown_record_id {};

/// Id of the record with a server's local number, or a partition's. It is computed when it is
/// converted, so a section that takes no id does not pay for it.
template <class Ref>
struct local_record_id {
  Ref const& ref;        ///< guarded array, as its workers see it
  std::uint32_t number;  ///< server, or partition
  std::uint32_t local;   ///< number among its records

  /// Computes the id.
  WARDEN_DEVICE operator record_id() const { return ref.id_of(number, local); }
};

}  // namespace detail
WARDEN_NAMESPACE_END
