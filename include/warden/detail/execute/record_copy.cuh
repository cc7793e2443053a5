// SPDX-License-Identifier: Apache-2.0
/// @file
/// A record that a thread holds in registers.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if a thread may hold a record in registers while its sections run.
template <class Record>
inline constexpr bool fits_registers = sizeof(Record) <= 32;

/// Memory for a record that need not have a default constructor.
template <class Record>
union record_copy {
  WARDEN_DEVICE record_copy() : bytes{} {}
  unsigned char bytes[sizeof(Record)];  ///< uninitialized record
  Record value;                         ///< the record
};

}  // namespace detail
WARDEN_NAMESPACE_END
