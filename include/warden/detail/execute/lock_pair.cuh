// SPDX-License-Identifier: Apache-2.0
/// @file
/// The two locks of a section's records, and the wait for them.
#pragma once

#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Two locks, which may be the same.
struct lock_pair {
  unsigned a;  ///< lock of the first record
  unsigned b;  ///< lock of the second record
};

/// Waits until both locks of `locks`, a lock_table of block `number`, look free. Their holders run
/// sections or try for locks. One thread. Returns false once the launch is poisoned.
template <class Ref, class Table>
WARDEN_DEVICE bool wait_for_locks(Ref const& ref, Table const& locks, lock_pair wanted,
                                  std::uint32_t number) {
  return ref.wait_until([&] { return locks.is_free(wanted.a) && locks.is_free(wanted.b); },
                        [&](auto watch) {
                          watch(locks.word(wanted.a));
                          watch(locks.word(wanted.b));
                        },
                        wait_kind::lock, number, wanted.a);
}

}  // namespace detail
WARDEN_NAMESPACE_END
