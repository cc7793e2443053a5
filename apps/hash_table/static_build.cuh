// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels that build a static table: they partition the keys by region, then a block builds each
/// region in shared memory.
#pragma once

#include "apps/hash_table/static_layout.cuh"

#include <warden/cuda_names.cuh>
#include <warden/simt/collective.cuh>

#include <cstdint>

namespace hash_table::detail {

/// A key with the index of its value. Keys are the high half, so the least of several entries of a
/// key has the lowest index.
using static_entry = std::uint64_t;
/// Marks a free place. No key has this index.
inline constexpr static_entry no_entry = ~static_entry{0};
WARDEN_DEVICE std::uint32_t key_of_entry(static_entry e) {
  return static_cast<std::uint32_t>(e >> 32);
}
WARDEN_DEVICE std::uint32_t index_of_entry(static_entry e) { return static_cast<std::uint32_t>(e); }

/// Memory and arguments of a build.
struct static_build {
  std::uint32_t const *keys, *values;
  std::uint32_t n;
  std::uint32_t regions;
  std::uint32_t most_buckets;  ///< largest region that fits a block
  std::uint32_t stash;         ///< entries of a region that no bucket had room for, at most
  std::uint32_t scale;         ///< slots of a region for 2^16 entries
  static_hash hash;
  static_entry* entries;   ///< by region
  std::uint32_t* counts;   ///< [region] entries; 0 at the start
  std::uint32_t* begins;   ///< [region] first entry
  std::uint32_t* cursors;  ///< [region] place of the next entry
  static_region* plan;
  static_bucket* buckets;
  std::uint64_t* repeats;   ///< entries with the key of another one
  std::uint64_t* failures;  ///< regions that were not built

  __device__ std::uint32_t region_of(std::uint32_t key) const {
    return static_hash::region(hash.mixed(key), regions);
  }
};

/// Counts the entries of each region, at first in shared memory.
WARDEN_KERNEL void count_static(static_build a) {
  simt::assume_one_dimension();
  simt::shared_span<std::uint32_t> const counts{
      reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), a.regions};
  unsigned const me = simt::thread_rank(), threads = simt::block_threads();
  for (unsigned r = me; r < a.regions; r += threads) simt::shared_store(counts[r], 0);
  simt::sync_block();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * threads;
  for (std::uint64_t i = std::uint64_t{simt::block_rank()} * threads + me; i < a.n; i += step)
    simt::shared_fetch_add(counts[a.region_of(a.keys[i])], 1);
  simt::sync_block();
  for (unsigned r = me; r < a.regions; r += threads) {
    std::uint32_t const n = simt::shared_load(counts[r]);
    if (n != 0) simt::fetch_add(&a.counts[r], n);
  }
}

inline constexpr unsigned plan_threads = 256;

/// Places the entries and the buckets of each region after those of the regions before it. One
/// block. A region has buckets in proportion to its entries, so that all regions have the table's
/// load, up to the shared memory of a block: repeated keys take no room.
WARDEN_KERNEL void plan_static(static_build a) {
  simt::assume_one_dimension();
  using scan = simt::block_scan_by_warps<plan_threads, std::uint32_t>;
  WARDEN_SHARED(typename scan::storage, shared);
  std::uint32_t entries = 0, buckets = 0;
  for (unsigned from = 0; from < a.regions; from += plan_threads) {
    unsigned const r = from + simt::thread_rank();
    std::uint32_t const n = r < a.regions ? a.counts[r] : 0;
    std::uint64_t const slots = (std::uint64_t{n} * a.scale + 0xffff) >> 16;
    std::uint64_t wanted = (slots + static_bucket::slots - 1) / static_bucket::slots;
    if (wanted < static_hash::choices + 1) wanted = static_hash::choices + 1;
    std::uint32_t const own = r >= a.regions            ? 0
                              : wanted < a.most_buckets ? static_cast<std::uint32_t>(wanted)
                                                        : a.most_buckets;
    std::uint32_t all;
    std::uint32_t const begin = entries + scan::exclusive_sum(shared, n, all);
    entries += all;
    simt::sync_block();
    std::uint32_t const first = buckets + scan::exclusive_sum(shared, own, all);
    buckets += all;
    simt::sync_block();
    if (r < a.regions) {
      a.begins[r] = a.cursors[r] = begin;
      a.plan[r] = {first, own};
    }
  }
}

inline constexpr unsigned scatter_items = 16;

/// Writes the entries by region. A block takes the places of a tile of keys together: one atomic
/// for each region, because a frequent key would make one for each key slow.
WARDEN_KERNEL void scatter_static(static_build a) {
  simt::assume_one_dimension();
  simt::shared_span<std::uint32_t> const places{
      reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), a.regions};
  unsigned const me = simt::thread_rank(), threads = simt::block_threads();
  std::uint64_t const tile = std::uint64_t{threads} * scatter_items;
  for (std::uint64_t from = simt::block_rank() * tile; from < a.n;
       from += simt::block_count() * tile) {
    for (unsigned r = me; r < a.regions; r += threads) simt::shared_store(places[r], 0);
    simt::sync_block();
    std::uint32_t keys[scatter_items], ranks[scatter_items];
    WARDEN_UNROLL
    for (unsigned k = 0; k < scatter_items; ++k) {
      std::uint64_t const i = from + k * threads + me;
      keys[k] = i < a.n ? a.keys[i] : 0;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < scatter_items; ++k) {
      if (from + k * threads + me < a.n)
        ranks[k] = simt::shared_fetch_add(places[a.region_of(keys[k])], 1);
    }
    simt::sync_block();
    for (unsigned r = me; r < a.regions; r += threads) {
      std::uint32_t const n = simt::shared_load(places[r]);
      if (n != 0) simt::shared_store(places[r], simt::fetch_add(&a.cursors[r], n));
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < scatter_items; ++k) {
      std::uint64_t const i = from + k * threads + me;
      if (i >= a.n) continue;
      std::uint32_t const place = simt::shared_load(places[a.region_of(keys[k])]) + ranks[k];
      a.entries[place] = static_entry{keys[k]} << 32 | i;
    }
    simt::sync_block();
  }
}

/// Builds one region in shared memory.
///
/// A key is in choice j of its buckets only if choices 0 to j - 1 are full, and a full bucket stays
/// full. So a search ends at the first bucket with room. Before keys are evicted, slots do not
/// change their keys and fill in order. So all entries of a key look at the same slots in the same
/// order and meet in one slot, or all find their buckets full and meet in the stash. Keys of the
/// stash are distinct, so evictions cannot make two entries of a key.
class static_builder {
 public:
  __device__ static_builder(static_build const& a, unsigned r)
      : a_{a},
        region_{a.plan[r]},
        n_{a.counts[r]},
        entries_{a.entries + a.begins[r]},
        slots_{reinterpret_cast<static_entry*>(simt::dynamic_shared()),
               a.most_buckets * static_bucket::slots},
        stash_{slots_.data() + slots_.size(), a.stash} {}

  __device__ void build() {
    clear();
    simt::sync_block();
    for (std::uint64_t from = 0; from < n_; from += std::uint64_t{per_thread} * threads_)
      place_entries(from);
    simt::sync_block();  // mutation: static-stash
    for (unsigned s = me_; s < stash_.size(); s += threads_) {
      static_entry const e = simt::shared_load(stash_[s]);
      if (e != no_entry) evict_for(e);
    }
    simt::sync_block();
    for (unsigned b = me_; b < region_.buckets; b += threads_) write(b);
    if (repeats_ != 0) simt::fetch_add(a_.repeats, repeats_);
    if (failures_ != 0) simt::fetch_add(a_.failures, failures_);
  }

 private:
  static constexpr unsigned per_thread = 32;  ///< entries, for which a thread has one bit each
  static constexpr unsigned loads = 4;        ///< entries that a thread loads together
  static constexpr unsigned most_evictions = 256;
  static constexpr unsigned most_foreign = 1024;

  __device__ void clear() {
    for (unsigned s = me_; s < region_.buckets * static_bucket::slots; s += threads_)
      simt::shared_store(slots_[s], no_entry);
    for (unsigned s = me_; s < stash_.size(); s += threads_)
      simt::shared_store(stash_[s], no_entry);
  }

  /// Offers all entries to their first bucket, then the others to the second, and so on, so that
  /// most searches end in the first.
  __device__ void place_entries(std::uint64_t from) {
    unsigned waiting = ~0u;
    for (unsigned j = 0; j < static_hash::choices; ++j) {
      for (unsigned k = 0; k < per_thread; k += loads) {
        static_entry e[loads];
        WARDEN_UNROLL
        for (unsigned l = 0; l < loads; ++l) {
          std::uint64_t const i = from + (k + l) * threads_ + me_;
          e[l] = i < n_ && (waiting >> (k + l) & 1) != 0 ? entries_[i] : no_entry;
        }
        WARDEN_UNROLL
        for (unsigned l = 0; l < loads; ++l) {
          if (e[l] == no_entry || place(e[l], j)) waiting &= ~(1u << (k + l));
        }
      }
      simt::sync_block();
    }
    while (waiting != 0) {
      unsigned const k = static_cast<unsigned>(simt::first_bit(waiting));
      waiting &= waiting - 1;
      put_in_stash(entries_[from + k * threads_ + me_]);
    }
  }

  /// Returns the first slot of choice `j`.
  __device__ unsigned first_slot(std::uint32_t mixed, unsigned j) const {
    return static_hash::bucket(mixed, j, region_.buckets) * static_bucket::slots;
  }
  /// Returns true if the place took the entry or had its key.
  __device__ bool take(static_entry& place, static_entry e) {
    static_entry there = simt::shared_load(place);
    if (there == no_entry)
      there = simt::shared_compare_exchange(place, no_entry, e);  // mutation: static-slot
    if (there == no_entry) return true;
    if (key_of_entry(there) != key_of_entry(e)) return false;
    simt::shared_fetch_min(place, e);  // mutation: static-first
    ++repeats_;
    return true;
  }
  __device__ bool place(static_entry e, unsigned j) {
    unsigned const first = first_slot(a_.hash.mixed(key_of_entry(e)), j);
    for (unsigned s = 0; s < static_bucket::slots; ++s) {
      if (take(slots_[first + s], e)) return true;
    }
    return false;
  }
  __device__ void put_in_stash(static_entry e) {
    unsigned s = static_hash::bucket(a_.hash.mixed(key_of_entry(e)), 0, stash_.size());
    for (unsigned k = 0; k < stash_.size(); ++k) {
      if (take(stash_[s], e)) return;
      s = s + 1 == stash_.size() ? 0 : s + 1;
    }
    ++failures_;
  }

  /// Places an entry, evicts another one for it if all its buckets are full, and goes on with that.
  __device__ void evict_for(static_entry e) {
    for (unsigned k = 0; k < most_evictions; ++k) {
      std::uint32_t const mixed = a_.hash.mixed(key_of_entry(e));
      for (unsigned j = 0; j < static_hash::choices; ++j) {
        unsigned const first = first_slot(mixed, j);
        for (unsigned s = 0; s < static_bucket::slots; ++s) {
          static_entry& place = slots_[first + s];
          if (simt::shared_load(place) == no_entry &&
              simt::shared_compare_exchange(place, no_entry, e) == no_entry)
            return;
        }
      }
      // Another bucket and slot each time, or two keys could evict each other for ever.
      std::uint32_t const drawn = static_hash::bucket(mixed + k * 0x632be5abu, 3, 12);
      e = simt::shared_exchange(
          slots_[first_slot(mixed, drawn / static_bucket::slots) + drawn % static_bucket::slots],
          e);
    }
    ++failures_;
  }

  /// Returns a key that has bucket `b` of this region not among its choices.
  __device__ std::uint32_t foreign_key(unsigned b, unsigned r) {
    for (std::uint32_t key = 0; key < most_foreign; ++key) {
      std::uint32_t const mixed = a_.hash.mixed(key);
      if (static_hash::region(mixed, a_.regions) != r) return key;
      bool searched = false;
      for (unsigned j = 0; j < static_hash::choices; ++j)
        searched |= static_hash::bucket(mixed, j, region_.buckets) == b;
      if (!searched) return key;
    }
    ++failures_;
    return 0;
  }

  /// Writes a bucket, with the values of its entries.
  __device__ void write(unsigned b) {
    static_bucket out;
    WARDEN_UNROLL
    for (unsigned s = 0; s < static_bucket::slots; ++s) {
      static_entry const e = simt::shared_load(slots_[b * static_bucket::slots + s]);
      bool const used = e != no_entry;
      out.value(s) = used ? a_.values[index_of_entry(e)] : 0;
      out.key(s) = used     ? key_of_entry(e)
                   : s == 0 ? foreign_key(b, simt::block_rank())
                            : out.key(0);
    }
    static_bucket& to = a_.buckets[region_.first + b];
    to.halves[0] = out.halves[0];
    to.halves[1] = out.halves[1];
  }

  static_build const& a_;
  static_region region_;
  std::uint32_t n_;
  static_entry const* entries_;
  simt::shared_span<static_entry> slots_, stash_;
  unsigned me_ = simt::thread_rank(), threads_ = simt::block_threads();
  std::uint64_t repeats_ = 0, failures_ = 0;
};

inline constexpr unsigned build_threads = 512;

/// Builds all regions, a block each.
WARDEN_KERNEL void WARDEN_BOUNDS(build_threads, 2)
    build_static(WARDEN_GRID_CONSTANT static_build const a) {
  simt::assume_one_dimension();
  static_builder{a, simt::block_rank()}.build();
}

/// Searches for `n` keys.
struct static_search {
  static_view table;
  std::uint32_t const* keys;
  std::uint32_t n;
  std::uint32_t* values;
  bool* found;
};
WARDEN_KERNEL void find_static(static_search a) {
  simt::assume_one_dimension();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t i =
           std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
       i < a.n; i += step) {
    auto const there = a.table.find(a.keys[i]);
    a.values[i] = there.value;
    a.found[i] = there.is_there;
  }
}

}  // namespace hash_table::detail
