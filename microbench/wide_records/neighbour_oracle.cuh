// SPDX-License-Identifier: Apache-2.0
// Checks of lists of neighbours.
#pragma once

#include "microbench/support/device.cuh"
#include "microbench/wide_records/neighbours.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstdint>

namespace wide_records {

struct list_check {
  neighbour_list const* lists;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  std::uint32_t*
      offered;  ///< [list] a bit for each place, set if an operation offered its neighbour
  std::uint32_t* wrong;
};
/// Checks that every offered neighbour is in the list, or that the list is full of nearer
/// neighbours.
template <class Make>
WARDEN_KERNEL void look_for_candidates(list_check a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    neighbour_list const& list = a.lists[a.ids[i]];
    auto const c = Make{}(static_cast<std::uint32_t>(i));
    unsigned place = 0;
    while (place < list.size && c.is_after(list.ids[place], list.distances[place])) ++place;
    if (place == list.size) return;
    if (list.ids[place] == c.id && list.distances[place] == c.distance) {
      simt::fetch_or(&a.offered[a.ids[i]], 1u << place);
    } else {
      simt::fetch_add(a.wrong, 1u);
    }
  });
}
/// Checks that lists are sorted, without duplicates, and have only offered neighbours.
template <class Arguments>
WARDEN_KERNEL void look_at_lists(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.keys, [&](std::uint64_t k) {
    neighbour_list const& list = a.lists[k];
    for (unsigned p = 0; p < list.size; ++p) {
      bool const is_one = list.ids[p] != neighbour_list::none;
      bool good = is_one == ((a.offered[k] >> p & 1u) != 0);
      if (p != 0 && is_one) {
        candidate const here{list.ids[p], list.distances[p]};
        good = good && here.is_after(list.ids[p - 1], list.distances[p - 1]);
      }
      if (!good) simt::fetch_add(a.wrong, 1u);
    }
  });
}

/// Checks lists of candidates. `Make{}(i)` returns candidate i.
template <class Make>
class neighbour_oracle {
 public:
  explicit neighbour_oracle(std::uint32_t keys) : offered_{keys} {}
  /// Makes all lists empty: all bits are 1.
  static void reset(warden::buffer<neighbour_list>& lists) { lists.fill_bytes(0xff); }
  bool verify(warden::buffer<std::uint32_t> const& ids, std::uint32_t n,
              warden::buffer<neighbour_list> const& lists) {
    offered_.fill_bytes(0);
    wrong_.fill_bytes(0);
    list_check const arguments{
        lists.data(),    ids.data(),   n, static_cast<std::uint32_t>(lists.size()),
        offered_.data(), wrong_.data()};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&look_for_candidates<Make>, blocks, threads, 0, arguments, {});
    simt::launch(&look_at_lists<list_check>, blocks, threads, 0, arguments, {});
    return wrong_.to_host()[0] == 0;
  }

 private:
  warden::buffer<std::uint32_t> offered_;
  warden::buffer<std::uint32_t> wrong_{1};
};

}  // namespace wide_records
