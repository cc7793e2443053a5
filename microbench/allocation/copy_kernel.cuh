// SPDX-License-Identifier: Apache-2.0
// A copy in which one of every `each` elements takes places from a counter, in several ways.
#pragma once

#include <warden/allocate.cuh>
#include <warden/cuda_names.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstdint>

namespace allocation {

namespace simt = warden::simt;

/// Number of places that an element takes. It differs between threads, so that no compiler adds the
/// numbers up.
WARDEN_HOST_DEVICE std::uint32_t places_of(std::uint32_t element) { return 1 + element % 4; }

/// Arguments of a copy. The copy of an element that takes places is the sum of the element and its
/// first place.
struct copy_arguments {
  std::uint32_t const* in;
  std::uint32_t* out;
  std::uint32_t n;         ///< elements, a multiple of 4
  std::uint32_t each;      ///< one of every `each` elements takes places; a power of two
  std::uint32_t* counter;  ///< counter of all blocks
  std::uint64_t* wide;     ///< counter of all blocks, for arms that count in 64 bits
  std::uint32_t zero;      ///< 0; unknown to the compiler
};

/// Shape of the kernel, whose blocks copy tile by tile.
struct copy_tile {
  static constexpr unsigned threads = 256, vectors = 2;
  /// Elements of a thread.
  static constexpr unsigned items = 4 * vectors;
  static constexpr unsigned elements = threads * items;
};
struct alignas(16) element_vector {
  std::uint32_t words[4];
};

/// Takes no places.
struct no_places {
  struct storage {};
  WARDEN_DEVICE no_places(copy_arguments const&, storage&) {}
  WARDEN_DEVICE void add(std::uint32_t (&)[copy_tile::items],
                         std::uint32_t const (&)[copy_tile::items]) {}
};
/// `apart` hides from the compiler that all lanes add to one counter. Otherwise ptxas replaces the
/// atomics of a warp by a scan and one atomic, and the benchmark would measure other code than the
/// source.
enum class lanes { apart, together };
template <lanes Lanes>
WARDEN_DEVICE std::uint32_t offset_of_lane(copy_arguments const& a) {
  return Lanes == lanes::apart ? simt::lane_id() & a.zero : 0;
}

/// Takes places by one atomic per element, on one word of global memory.
template <lanes Lanes>
struct global_atomic_places {
  struct storage {};
  std::uint32_t* counter;
  WARDEN_DEVICE global_atomic_places(copy_arguments const& a, storage&)
      : counter{a.counter + offset_of_lane<Lanes>(a)} {}
  /// Takes `counts[k]` places for element k and adds the first of them to it, unless `counts[k]` is
  /// 0.
  WARDEN_DEVICE void add(std::uint32_t (&elements)[copy_tile::items],
                         std::uint32_t const (&counts)[copy_tile::items]) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < copy_tile::items; ++k) {
      if (counts[k] != 0) elements[k] += simt::fetch_add(counter, counts[k]);
    }
  }
};
/// Takes places by one atomic per element, on one word of the block's shared memory.
template <lanes Lanes>
struct shared_atomic_places {
  struct storage {
    std::uint32_t counter;
  };
  std::uint32_t* counter;
  WARDEN_DEVICE shared_atomic_places(copy_arguments const& a, storage& shared)
      : counter{&shared.counter + offset_of_lane<Lanes>(a)} {
    if (simt::thread_rank() == 0) shared.counter = 0;
    simt::sync_block();
  }
  WARDEN_DEVICE void add(std::uint32_t (&elements)[copy_tile::items],
                         std::uint32_t const (&counts)[copy_tile::items]) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < copy_tile::items; ++k) {
      if (counts[k] != 0) elements[k] += simt::shared_fetch_add(*counter, counts[k]);
    }
  }
};
/// Takes all places of a thread at once: `places(count)` returns the first.
template <class Places>
WARDEN_DEVICE void add_places(std::uint32_t (&elements)[copy_tile::items],
                              std::uint32_t const (&counts)[copy_tile::items], Places places) {
  std::uint32_t sum = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < copy_tile::items; ++k) sum += counts[k];
  std::uint32_t place = places(sum);
  WARDEN_UNROLL
  for (unsigned k = 0; k < copy_tile::items; ++k) {
    if (counts[k] != 0) elements[k] += place;
    place += counts[k];
  }
}
/// Takes places by a scan of the block's counts, without atomics. The block continues after its
/// earlier places.
struct block_scan_places {
  using scan = simt::block_scan<copy_tile::threads>;
  struct storage {
    scan::storage scanning;
  };
  storage& shared;
  std::uint32_t taken = 0;
  WARDEN_DEVICE block_scan_places(copy_arguments const&, storage& memory) : shared{memory} {}
  WARDEN_DEVICE void add(std::uint32_t (&elements)[copy_tile::items],
                         std::uint32_t const (&counts)[copy_tile::items]) {
    std::uint32_t total;
    add_places(elements, counts, [&](std::uint32_t count) {
      return taken + scan::exclusive_sum(shared.scanning, count, total);
    });
    taken += total;
    simt::sync_block();
  }
};

/// Takes places by a scan of the block's counts, and one atomic for the block.
struct block_allocator_places {
  using allocator = warden::block_allocator<copy_tile::threads>;
  using storage = allocator::storage;
  allocator places;
  WARDEN_DEVICE block_allocator_places(copy_arguments const& a, storage& memory)
      : places{a.wide, memory} {}
  WARDEN_DEVICE void add(std::uint32_t (&elements)[copy_tile::items],
                         std::uint32_t const (&counts)[copy_tile::items]) {
    add_places(elements, counts, [&](std::uint32_t count) {
      return static_cast<std::uint32_t>(places.allocate(count));
    });
  }
};

template <class Places>
WARDEN_KERNEL void WARDEN_BOUNDS(copy_tile::threads, 6) copy_elements(copy_arguments const a) {
  simt::assume_one_dimension();
  WARDEN_SHARED(typename Places::storage, memory);
  Places places{a, memory};
  std::uint32_t const vectors = a.n / 4;
  auto const* const in = reinterpret_cast<element_vector const*>(a.in);
  auto* const out = reinterpret_cast<element_vector*>(a.out);
  constexpr std::uint32_t step = copy_tile::vectors * copy_tile::threads;
  for (std::uint32_t base = simt::block_rank() * step; base < vectors;
       base += simt::block_count() * step) {
    std::uint32_t elements[copy_tile::items], counts[copy_tile::items];
    WARDEN_UNROLL
    for (unsigned v = 0; v < copy_tile::vectors; ++v) {
      std::uint32_t const at = base + v * copy_tile::threads + simt::thread_rank();
      element_vector const loaded = in[at < vectors ? at : 0];
      WARDEN_UNROLL
      for (unsigned w = 0; w < 4; ++w) {
        bool const takes = at < vectors && ((4 * at + w) & (a.each - 1)) == 0;
        elements[4 * v + w] = loaded.words[w];
        counts[4 * v + w] = takes ? places_of(loaded.words[w]) : 0;
      }
    }
    places.add(elements, counts);
    WARDEN_UNROLL
    for (unsigned v = 0; v < copy_tile::vectors; ++v) {
      std::uint32_t const at = base + v * copy_tile::threads + simt::thread_rank();
      std::uint32_t const* const from = elements + 4 * v;
      if (at < vectors) out[at] = {{from[0], from[1], from[2], from[3]}};
    }
  }
}

/// Number of blocks that copy; at most as many as are resident together.
template <class Places>
unsigned copy_blocks(std::uint32_t n) {
  auto const kernel = simt::make_kernel(&copy_elements<Places>);
  auto const resident =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel, copy_tile::threads, 0));
  return std::min(resident, (n + copy_tile::elements - 1) / copy_tile::elements);
}
/// Enqueues the copy. Throws cuda_error.
template <class Places>
void copy_async(copy_arguments const& a) {
  simt::launch(&copy_elements<Places>, copy_blocks<Places>(a.n), copy_tile::threads, 0, a, {});
}

}  // namespace allocation
