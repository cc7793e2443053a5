// SPDX-License-Identifier: Apache-2.0
// Operations of the user's own on accounts in a hash table, as apps/hash_table/README.md has them.
#pragma once

#include "apps/hash_table/outcome.cuh"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace test {

/// 24 bytes.
struct account {
  std::int64_t balance;  ///< never below zero
  std::uint64_t changes;
  std::uint64_t refused;
};
/// Withdraws if there is enough; a new account has 100.
struct withdraw {
  static constexpr bool reads_other_memory = false;
  std::uint32_t key;
  std::int32_t amount;
  template <class Bucket, class Context>
  __device__ void operator()(Bucket& b, Context const& c) const {
    bool made;
    account* const w = c.find_or_insert(b, key, account{100, 0, 0}, made);
    if (w == nullptr) {
      c.count(hash_table::outcome::refused);
      return;
    }
    bool const enough = w->balance >= amount;
    if (enough) w->balance -= amount;
    (enough ? w->changes : w->refused) += 1;
  }
};
/// The i-th from `first` on.
struct make_withdrawals {
  std::uint32_t people;
  std::uint32_t first = 0;
  WARDEN_HOST_DEVICE withdraw of(std::uint32_t i) const {
    return {i * 7919u % people, static_cast<std::int32_t>(i % 40)};
  }
  __device__ withdraw operator()(std::uint32_t i) const { return of(first + i); }
};
/// Marks a account that is there by a balance that no withdrawal leaves.
struct reset {
  static constexpr bool reads_other_memory = false;
  std::uint32_t key;
  template <class Bucket, class Context>
  __device__ void operator()(Bucket& b, Context const& c) const {
    if (account* const w = c.find(b, key)) *w = {-1, 0, 0};
  }
};

}  // namespace test
