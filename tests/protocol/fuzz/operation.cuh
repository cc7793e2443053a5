// SPDX-License-Identifier: Apache-2.0
// What one operation of a random program does: it follows from the program's seed and the
// operation's number alone, so that clients, sections and the oracle know it without being told.
#pragma once

#include "tests/support/support.cuh"

#include <cstdint>

namespace fuzz {

using test::mix;

/// Each a bit: a configuration has those that its executor sorted.
enum kind : unsigned {
  plain = 1,  ///< one section on one record
  wide = 2,   ///< the same, in a message of several flits
  pair = 4,   ///< one section on two records
  chain = 8,  ///< sections each of which sends the next one
  fork = 16,  ///< a section that sends the first ones of two chains
};

/// Common properties of the operations of a program.
struct domain {
  std::uint64_t seed;
  std::uint32_t records;
  unsigned kinds;  ///< bits of `kind`
  bool one_owner;  ///< both records of a pair have one owner
};

struct operation {
  kind what;
  std::uint32_t first, second;  ///< records
  std::uint32_t value;          ///< 1 to 65,536
  std::uint32_t links;          ///< sections of a chain, or of each of two, after its first section

  WARDEN_HOST_DEVICE static operation of(domain const& d, std::uint32_t number) {
    std::uint64_t const h = mix(d.seed * 1'000'003 + number);
    operation o{};
    o.what = chosen(d, h >> 56);
    bool const is_hot = h % 4 == 0;
    o.first = is_hot ? 0 : test::id_of(h + 1, d.records);
    o.second = test::id_of(h + 2, d.records);
    if (d.one_owner) {
      // Neighbours have one owner; the last record may have no neighbour.
      o.second = (o.first ^ 1u) < d.records ? o.first ^ 1u : o.first;
    }
    o.value = 1 + static_cast<std::uint32_t>(h >> 8 & 0xffff);
    // Each message between servers costs many steps: forks get short chains.
    o.links = static_cast<std::uint32_t>(h >> 24) % (o.what == fork ? 2 : 6);
    return o;
  }

 private:
  /// Half of all are plain, or more where there is nothing else; but in every third program nearly
  /// all are of one other kind. `by` has eight random bits.
  WARDEN_HOST_DEVICE static kind chosen(domain const& d, std::uint64_t by) {
    kind const others[] = {wide, pair, chain, fork};
    std::uint64_t const of_program = mix(d.seed);
    if (of_program / 4 % 3 == 0 && by % 8 != 0) {
      for (std::uint64_t k = of_program % 4; k < of_program % 4 + 4; ++k) {
        if ((d.kinds & others[k % 4]) != 0) return others[k % 4];
      }
    }
    kind const k = by / 8 % 2 == 0 ? plain : others[by / 16 % 4];
    return (d.kinds & k) == 0 ? plain : k;
  }
};

/// Returns the record on which the section of a chain runs that has `left` links after it. An
/// operation has chain 0, or by a fork the chains 1 and 2; chain 0 begins at its first record.
WARDEN_HOST_DEVICE std::uint32_t station(domain const& d, std::uint32_t number, std::uint32_t which,
                                         std::uint32_t left) {
  operation const o = operation::of(d, number);
  if (which == 0 && left == o.links) return o.first;
  return test::id_of(mix(d.seed + number) + 16 * which + left, d.records);
}

}  // namespace fuzz
