// SPDX-License-Identifier: Apache-2.0
// Requests of sets of a cache, and the checks of the sets and of the answers to requests.

#include "microbench/wide_records/cache_set.cuh"
#include "microbench/wide_records/points.hpp"
#include "microbench/wide_records/wide_point.cuh"

#include <cstdint>
#include <memory>
#include <utility>

namespace wide_records {
namespace {

/// Operation with sections of one type.
template <class Section>
struct requesting {
  using record = cache_set;
  using section = Section;
  using make = make_request<Section>;
  using context = batch;
};
using requests = make_request<find_alone>;

/// Number of the only batch. Batches 1 to 64 used the keys that are there before it.
constexpr std::uint64_t batch_number = 1000;
/// Key of a place before the batch. Each set has 64 of its 80 keys, in a different order, and a
/// different batch used each key last.
WARDEN_HOST_DEVICE std::uint64_t first_key(std::uint64_t set, unsigned place) {
  return requests::key_number((place * 7 + set) % requests::keys_of_set);
}
WARDEN_HOST_DEVICE std::uint64_t first_used(std::uint64_t set, unsigned place) {
  return 1 + (place * 5 + set) % cache_set::size;
}

struct cache_arguments {
  cache_set* sets;
  std::uint32_t keys;
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint32_t const* places;  ///< [request]
  std::uint64_t* replaced;      ///< [set] a bit for each place, set if a request took the place
  std::uint32_t* wrong;
};
WARDEN_KERNEL void fill_sets(cache_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(std::uint64_t{a.keys} * cache_set::size, [&](std::uint64_t i) {
    std::uint64_t const set = i / cache_set::size;
    auto const place = static_cast<unsigned>(i % cache_set::size);
    a.sets[set].keys[place] = first_key(set, place);
    a.sets[set].used[place] = first_used(set, place);
  });
}
/// Checks that the place of each request holds its key, and that the batch used all places if a
/// request got none.
WARDEN_KERNEL void look_at_requests(cache_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    cache_set const& set = a.sets[a.ids[i]];
    std::uint64_t const key = requests::key_of(static_cast<std::uint32_t>(i));
    std::uint32_t const answer = a.places[i];
    bool good = true;
    if (answer == batch::no_place) {
      for (unsigned p = 0; p < set.size; ++p)
        good = good && set.used[p] == batch_number && set.keys[p] != key;
    } else {
      std::uint32_t const place = answer % cache_set::size;
      good =
          answer < 2 * cache_set::size && set.keys[place] == key && set.used[place] == batch_number;
      if (good && (answer & batch::is_new) != 0) {
        std::uint64_t const bit = std::uint64_t{1} << place;
        // No other request may have taken this place.
        good = (simt::fetch_or(&a.replaced[a.ids[i]], bit) & bit) == 0;
      }
    }
    if (!good) simt::fetch_add(a.wrong, 1u);
  });
}
/// Checks that the keys of each set are distinct. Keys that were replaced must have been used
/// before all keys that stayed. Places that were not taken keep their key, and places that were not
/// used keep key and batch. A request for a present key may run twice with the same result. If a
/// request that takes a place ran twice, its answer would lack `is_new`.
WARDEN_KERNEL void look_at_sets(cache_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.keys, [&](std::uint64_t k) {
    cache_set const& set = a.sets[k];
    std::uint64_t latest_gone = 0, first_left = ~std::uint64_t{0};
    bool good = true;
    for (unsigned p = 0; p < set.size; ++p) {
      std::uint64_t const before = first_used(k, p);
      bool const is_new = (a.replaced[k] >> p & 1u) != 0, is_used = set.used[p] == batch_number;
      good = good && (is_used || (!is_new && set.used[p] == before));
      good = good && (is_new || set.keys[p] == first_key(k, p));
      if (is_new && before > latest_gone) latest_gone = before;
      if (!is_used && before < first_left) first_left = before;
      for (unsigned q = 0; q < p; ++q) good = good && set.keys[p] != set.keys[q];
    }
    if (!good || first_left < latest_gone) simt::fetch_add(a.wrong, 1u);
  });
}

struct cache {
  static constexpr char const* name = "cache";
  using record = cache_set;
  using context = batch;
  using alone = requesting<find_alone>;
  using together = requesting<find_together<32>>;
  using under_locks = together;

  class memory {
   public:
    memory(std::uint32_t n, std::uint32_t keys) : places_{n}, replaced_{keys} {}
    [[nodiscard]] batch context() const { return {places_.data(), batch_number}; }
    void reset(warden::buffer<record>& sets) {
      places_.fill_bytes(0xff);
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&fill_sets, blocks, threads, 0, arguments(nullptr, 0, sets), {});
    }
    bool verify(warden::buffer<std::uint32_t> const& ids, std::uint32_t n,
                warden::buffer<record>& sets) {
      replaced_.fill_bytes(0);
      wrong_.fill_bytes(0);
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&look_at_requests, blocks, threads, 0, arguments(ids.data(), n, sets), {});
      simt::launch(&look_at_sets, blocks, threads, 0, arguments(ids.data(), n, sets), {});
      return wrong_.to_host()[0] == 0;
    }

   private:
    cache_arguments arguments(std::uint32_t const* ids, std::uint32_t n,
                              warden::buffer<record>& sets) {
      return {sets.data(),
              static_cast<std::uint32_t>(sets.size()),
              ids,
              n,
              places_.data(),
              replaced_.data(),
              wrong_.data()};
    }

    warden::buffer<std::uint32_t> places_;
    warden::buffer<std::uint64_t> replaced_;
    warden::buffer<std::uint32_t> wrong_{1};
  };
};

}  // namespace

std::shared_ptr<bench::point> make_cache_point(bench::workload w) {
  return std::make_shared<wide_point<cache>>(std::move(w));
}

}  // namespace wide_records
