// SPDX-License-Identifier: Apache-2.0
// Insertion into lists of neighbours, and the checks of the lists.

#include "microbench/wide_records/neighbours.cuh"
#include "microbench/wide_records/points.hpp"
#include "microbench/wide_records/wide_point.cuh"

#include <warden/section.cuh>

#include <cstdint>
#include <memory>
#include <utility>

namespace wide_records {
namespace {

/// Operation with sections of one type.
template <class Section>
struct inserting {
  using record = neighbour_list;
  using section = Section;
  using make = make_candidate<Section>;
  using context = warden::no_context;
};

struct check_arguments {
  neighbour_list const* lists;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  std::uint32_t*
      offered;  ///< [list] a bit for each place, set if an operation offered its neighbour
  std::uint32_t* wrong;
};
/// Checks that every offered neighbour is in the list, or that the list is full of nearer
/// neighbours.
WARDEN_KERNEL void look_for_candidates(check_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    neighbour_list const& list = a.lists[a.ids[i]];
    auto const c = make_candidate<insert_alone>{}(static_cast<std::uint32_t>(i));
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
WARDEN_KERNEL void look_at_lists(check_arguments a) {
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

struct neighbours {
  static constexpr char const* name = "neighbours";
  using record = neighbour_list;
  using context = warden::no_context;
  using alone = inserting<insert_alone>;
  using together = inserting<insert_together<32>>;
  using under_locks = inserting<insert_together<32>>;

  class memory {
   public:
    memory(std::uint32_t, std::uint32_t keys) : offered_{keys} {}
    [[nodiscard]] static warden::no_context context() { return {}; }
    /// Makes all lists empty: all bits are 1.
    static void reset(warden::buffer<record>& lists) { lists.fill_bytes(0xff); }
    bool verify(warden::buffer<std::uint32_t> const& ids, std::uint32_t n,
                warden::buffer<record> const& lists) {
      offered_.fill_bytes(0);
      wrong_.fill_bytes(0);
      check_arguments const arguments{
          lists.data(),    ids.data(),   n, static_cast<std::uint32_t>(lists.size()),
          offered_.data(), wrong_.data()};
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&look_for_candidates, blocks, threads, 0, arguments, {});
      simt::launch(&look_at_lists, blocks, threads, 0, arguments, {});
      return wrong_.to_host()[0] == 0;
    }

   private:
    warden::buffer<std::uint32_t> offered_;
    warden::buffer<std::uint32_t> wrong_{1};
  };
};

}  // namespace

std::shared_ptr<bench::point> make_neighbours_point(bench::workload w) {
  return std::make_shared<wide_point<neighbours>>(std::move(w));
}

}  // namespace wide_records
