// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loop over the elements of a bulk run. A thread loads its next elements before it adds those that
/// it has, so that the loads take no time of their own.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sections that one thread has loaded, with their records.
template <class Section, unsigned AtOnce>
class loaded_rows {
  // A section need not have a default constructor.
  union place {
    WARDEN_DEVICE place() {}
    Section loaded;
  };

 public:
  /// Loads the elements first + k * step, k < AtOnce, that are below `n`. `load(i)` returns an
  /// element as `apply_async` takes it. `is_outside(id, row)` reports an id beyond 32 bits.
  template <class Load, class Outside>
  WARDEN_DEVICE void load_all(std::uint64_t first, std::uint64_t step, std::uint64_t n,
                              Load const& load, Outside const& is_outside) {
    valid_ = 0;
    auto const load_one = [&](unsigned k) {
      send_returned(load(first + k * step), true,
                    [&](std::uint64_t id, Section const& section, bool valid) {
                      ids_[k] = static_cast<std::uint32_t>(id);
                      // Ids of 32 bits need no test, so this does not wait for their loads.
                      if (valid && id >> 32 != 0) is_outside(id, first + k * step);
                      if (!valid) return;
                      new (&places_[k].loaded) Section(section);
                      if (id >> 32 == 0) valid_ |= 1u << k;
                    });
    };
    // Without a condition at each load, none of them waits for another one.
    if (first + (AtOnce - 1) * step < n) {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) load_one(k);
    } else {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        if (first + k * step < n) load_one(k);
      }
    }
  }
  /// Copies the elements of `other`.
  WARDEN_DEVICE void take(loaded_rows const& other) {
    valid_ = other.valid_;
    WARDEN_UNROLL
    for (unsigned k = 0; k < AtOnce; ++k) {
      ids_[k] = other.ids_[k];
      new (&places_[k].loaded) Section(other.places_[k].loaded);
    }
  }
  /// True if there is an element k.
  [[nodiscard]] WARDEN_DEVICE bool has(unsigned k) const { return (valid_ >> k & 1u) != 0; }
  /// Returns the record of element k. Precondition: there is one.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(unsigned k) const { return ids_[k]; }
  /// Returns the section of element k. Precondition: there is one.
  [[nodiscard]] WARDEN_DEVICE Section const& section(unsigned k) const { return places_[k].loaded; }

 private:
  unsigned valid_ = 0;  ///< bit k: there is an element k
  std::uint32_t ids_[AtOnce];
  place places_[AtOnce];
};

/// Calls `load(i)` once for each i of a range, and `add(rows, first, step)` for the loaded_rows of
/// each thread, by all threads of a warp together: element k is that of `first` + k * `step`. Calls
/// `is_outside(id, i)` instead for ids beyond 32 bits. A thread loads `AtOnce` elements at once.
/// Collective over the grid, in blocks of one dimension.
template <unsigned AtOnce, class Load, class Outside, class Add>
WARDEN_DEVICE void for_each_row(index_range of, Load const& load, Outside const& is_outside,
                                Add const& add) {
  using section = typename send_traits<std::remove_cvref_t<decltype(load(of.end))>>::section;
  unsigned const threads = simt::block_threads();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * threads;
  std::uint64_t first =
      of.begin + std::uint64_t{simt::block_rank()} * threads + simt::thread_rank();
  std::uint64_t first_of_warp = first - simt::lane_id();
  loaded_rows<section, AtOnce> next, now;
  if (first_of_warp < of.end) next.load_all(first, step, of.end, load, is_outside);
  while (first_of_warp < of.end) {
    now.take(next);
    first += AtOnce * step;
    first_of_warp += AtOnce * step;
    if (first_of_warp < of.end) next.load_all(first, step, of.end, load, is_outside);
    add(now, first - AtOnce * step, step);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
