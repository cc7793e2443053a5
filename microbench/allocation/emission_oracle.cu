// SPDX-License-Identifier: Apache-2.0
// Checks emitted elements on the device.

#include "microbench/allocation/emission_oracle.hpp"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

#include <stdexcept>
#include <string>

namespace allocation {

namespace simt = warden::simt;

struct emission_check {
  emitted what;
  bool in_order;
  std::uint32_t *groups, *begin,
      *end;  ///< [item] number of its groups of adjacent elements; bounds of one group
  std::uint64_t* wrong;

  WARDEN_DEVICE std::uint32_t item(std::uint64_t place) const {
    return (what.elements[place] ^ what.flip) & (~0u >> (32 - what.bits));
  }
  /// Lowest bits of the number of an element among the elements of its item.
  WARDEN_DEVICE std::uint32_t number(std::uint64_t place) const {
    return what.bits == 32 ? 0 : (what.elements[place] ^ what.flip) >> what.bits;
  }
  WARDEN_DEVICE bool follows(std::uint64_t place) const {
    std::uint32_t const next = what.bits == 32 ? 0 : number(place - 1) + 1;
    return number(place) == (what.bits == 32 ? 0 : next & (~0u >> what.bits));
  }
};
WARDEN_KERNEL void check_elements(emission_check a) {
  bench::for_each_of(a.what.total, [&](std::uint64_t place) {
    std::uint32_t const item = a.item(place);
    bool good = item < a.what.n;
    if (good) {
      if (place == 0 || a.item(place - 1) != item) {
        good = a.number(place) == 0 && (!a.in_order || place == 0 || a.item(place - 1) < item);
        simt::fetch_add(&a.groups[item], 1u);
        a.begin[item] = static_cast<std::uint32_t>(place);
      } else {
        good = a.follows(place);
      }
      if (place + 1 == a.what.total || a.item(place + 1) != item)
        a.end[item] = static_cast<std::uint32_t>(place + 1);
    }
    if (!good) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}
WARDEN_KERNEL void check_items(emission_check a) {
  bench::for_each_of(a.what.n, [&](std::uint64_t i) {
    std::uint32_t const count = a.what.counts[i];
    bool const good =
        count == 0 ? a.groups[i] == 0 : a.groups[i] == 1 && a.end[i] - a.begin[i] == count;
    if (!good) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

std::uint64_t emission_oracle::wrong(emitted const& what, bool in_order) {
  if (what.total >= std::uint64_t{1} << 32)
    throw std::logic_error{"elements to check: " + std::to_string(what.total)};
  groups_.fill_bytes(0);
  wrong_.fill_bytes(0);
  emission_check const check{what,          in_order,    groups_.data(),
                             begin_.data(), end_.data(), wrong_.data()};
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(&check_elements, blocks, threads, 0, check, {});
  simt::launch(&check_items, blocks, threads, 0, check, {});
  return wrong_.to_host()[0];
}

}  // namespace allocation
