// SPDX-License-Identifier: Apache-2.0
// Sums of rows by record, from a stable sort of the row numbers: the same bits in every repetition.
//
// A `Finish` has `start(id, column)`, the value to which the rows of a record are added, and
// `finish(id, lane, sums)`, which gets the sums of the lane's columns. It is called once for each
// record that has rows.
#pragma once

#include "microbench/workloads/row_sums.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace workloads {

struct number_arguments {
  std::uint32_t* numbers;
  std::uint32_t n;
};
template <class Arguments>
WARDEN_KERNEL void number_rows(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) { a.numbers[i] = static_cast<std::uint32_t>(i); });
}
/// Rows sorted by record.
class row_order {
 public:
  row_order(std::uint32_t n, std::uint32_t n_records)
      : bits_{static_cast<unsigned>(std::bit_width(std::max(n_records, 2u) - 1))},
        numbers_{n},
        ids_{n},
        order_{n},
        memory_{warden::runtime::sort_bytes(n, bits_)} {
    launch_helper(&number_rows<number_arguments>, {numbers_.data(), n});
  }
  void sort_async(std::uint32_t const* ids) {
    warden::runtime::sort_pairs(
        {ids, numbers_.data(), ids_.data(), order_.data(), static_cast<std::uint32_t>(ids_.size())},
        bits_, memory_.data(), memory_.bytes(), {});
  }
  /// Ids in ascending order.
  [[nodiscard]] std::uint32_t const* ids() const { return ids_.data(); }
  /// Numbers of the rows in this order.
  [[nodiscard]] std::uint32_t const* order() const { return order_.data(); }

 private:
  unsigned bits_;
  warden::buffer<std::uint32_t> numbers_, ids_, order_;
  warden::buffer<std::byte> memory_;
};

/// Lanes that work on one row, and columns of each.
template <unsigned Floats>
inline constexpr unsigned row_lanes = Floats < 32 ? Floats : 32;
template <unsigned Floats>
inline constexpr unsigned lane_columns = Floats / row_lanes<Floats>;

/// The columns of one lane in a row.
template <unsigned Floats>
struct lane_sums {
  static constexpr unsigned lanes = row_lanes<Floats>, columns = lane_columns<Floats>;
  float v[columns];

  WARDEN_DEVICE static lane_sums load(float const* row, unsigned lane) {
    lane_sums loaded;
    WARDEN_UNROLL
    for (unsigned c = 0; c < columns; ++c) loaded.v[c] = row[lane + c * lanes];
    return loaded;
  }
  WARDEN_DEVICE void store(float* row, unsigned lane) const {
    WARDEN_UNROLL
    for (unsigned c = 0; c < columns; ++c) row[lane + c * lanes] = v[c];
  }
  WARDEN_DEVICE void add(lane_sums const& other) {
    WARDEN_UNROLL
    for (unsigned c = 0; c < columns; ++c) v[c] += other.v[c];
  }
};

/// Items to reduce, sorted by id. Item p is row `order[p]`, or row p without an order.
template <unsigned Floats, class Finish>
struct reduce_arguments {
  std::uint32_t const* ids;
  std::uint32_t const* order;
  float const* values;
  std::uint32_t n;
  std::uint32_t* next_ids;  ///< 2 items of each tile: rests of the first and of the last segment
  float* next_values;
  Finish finish;

  WARDEN_DEVICE lane_sums<Floats> item(std::uint32_t p, unsigned lane) const {
    std::uint64_t const row = order == nullptr ? p : order[p];
    return lane_sums<Floats>::load(values + row * Floats, lane);
  }
};

/// Items of a segment whose loads are in progress at the same time.
constexpr unsigned items_at_once = 8;

/// Calls `use(items, count)` for all items of the segment that begins at `p`, several at once.
/// `load(p)` returns item p.
template <class Load, class Use>
WARDEN_DEVICE void for_each_of_segment(std::uint32_t const* ids, std::uint32_t n, std::uint32_t p,
                                       Load load, Use use) {
  std::uint32_t const id = ids[p];
  decltype(load(p)) some[items_at_once];
  for (; p + items_at_once <= n && ids[p + items_at_once - 1] == id; p += items_at_once) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k) some[k] = load(p + k);
    use(some, items_at_once);
  }
  if constexpr (sizeof(some[0]) > sizeof(float)) {
    // Loads with conditions take registers for all items, and most segments are short.
    for (; p < n && ids[p] == id; ++p) {
      some[0] = load(p);
      use(some, 1);
    }
  } else {
    unsigned count = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k) {
      bool const mine = p + k < n && ids[p + k] == id;
      if (mine) some[k] = load(p + k);
      count += mine ? 1 : 0;
    }
    if (count != 0) use(some, count);
  }
}

/// Adds the rows of each record in their order, by one group of lanes: the bits of a loop.
template <unsigned Floats, class Finish>
WARDEN_KERNEL void add_segments(reduce_arguments<Floats, Finish> const a) {
  simt::assume_one_dimension();
  using sums = lane_sums<Floats>;
  std::uint32_t const thread = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint32_t p = thread / sums::lanes;
  unsigned const lane = thread % sums::lanes;
  if (p >= a.n) return;
  std::uint32_t const id = a.ids[p];
  if (p != 0 && a.ids[p - 1] == id) return;
  sums sum = a.finish.start(id, lane);
  for_each_of_segment(
      a.ids, a.n, p, [&](std::uint32_t at) { return a.item(at, lane); },
      [&](auto const& some, unsigned count) {
        WARDEN_UNROLL
        for (unsigned k = 0; k < items_at_once; ++k) {
          if (k < count) sum.add(some[k]);
        }
      });
  a.finish.finish(id, lane, sum);
}

constexpr std::uint32_t no_id = ~0u;

/// Items of a tile. A thread alone reads adjacent items, so fewer of them keep its lines in the L1
/// cache.
template <unsigned Floats>
inline constexpr std::uint32_t tile_items = Floats == 1 ? 16 : 32;

/// Adds the items of each segment in a tile, by one group of lanes. Segments that begin or end in
/// another tile become items of the next level.
template <unsigned Floats, class Finish>
WARDEN_KERNEL void add_tiles(reduce_arguments<Floats, Finish> const a) {
  simt::assume_one_dimension();
  using sums = lane_sums<Floats>;
  std::uint32_t const thread = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint32_t const tile = thread / sums::lanes, begin = tile * tile_items<Floats>;
  unsigned const lane = thread % sums::lanes;
  if (begin >= a.n) return;
  std::uint32_t const end = begin + tile_items<Floats> < a.n ? begin + tile_items<Floats> : a.n;
  std::uint32_t rests[2] = {no_id, no_id};
  std::uint32_t id = a.ids[begin];
  bool from_before = begin != 0 && a.ids[begin - 1] == id;
  auto const pass_on = [&](unsigned place, sums const& sum) {
    rests[place] = id;
    sum.store(a.next_values + (std::uint64_t{tile} * 2 + place) * Floats, lane);
  };
  sums sum{};
  auto const add = [&](std::uint32_t p, sums const& item, std::uint32_t next) {
    sum.add(item);
    bool const goes_on = p + 1 < a.n && next == id;
    if (goes_on && p + 1 < end) return;
    if (id == no_id) {
      // Nothing to add.
    } else if (from_before) {
      pass_on(0, sum);
      // The items of one record stay next to each other if it fills the tile.
      if (goes_on) pass_on(1, sums{});
    } else if (goes_on) {
      pass_on(1, sum);
    } else {
      sums total = a.finish.start(id, lane);
      total.add(sum);
      a.finish.finish(id, lane, total);
    }
    sum = sums{};
    from_before = false;
    id = next;
  };
  for (std::uint32_t first = begin; first < end; first += items_at_once) {
    std::uint32_t ids[items_at_once + 1];
    sums items[items_at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k <= items_at_once; ++k)
      ids[k] = first + k < a.n ? a.ids[first + k] : no_id;
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k)
      items[k] = ids[k] != no_id ? a.item(first + k, lane) : sums{};
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k) {
      if (first + k < end) add(first + k, items[k], ids[k + 1]);
    }
  }
  if (lane == 0) {
    a.next_ids[2 * tile] = rests[0];
    a.next_ids[2 * tile + 1] = rests[1];
  }
}

/// Threads of a block of these kernels.
constexpr unsigned sum_threads = 256;

template <unsigned Floats, class Finish>
void launch_groups(void (*kernel)(reduce_arguments<Floats, Finish>), std::uint32_t groups,
                   reduce_arguments<Floats, Finish> const& a) {
  unsigned const threads = arm_threads(sum_threads), per_block = threads / row_lanes<Floats>;
  simt::launch(kernel, (groups + per_block - 1) / per_block, threads, 0, a, {});
}

/// Sorts rows, then adds each record's by one group.
template <unsigned Floats>
class segment_sums {
 public:
  explicit segment_sums(float_rows<Floats> const& r) : order_{r.n, r.n_records} {}
  template <class Finish>
  void add_async(float_rows<Floats> const& r, Finish const& finish) {
    order_.sort_async(r.ids);
    launch_groups(&add_segments<Floats, Finish>, r.n,
                  {order_.ids(), order_.order(), r.values, r.n, nullptr, nullptr, finish});
  }

 private:
  row_order order_;
};

/// Sorts rows, then adds them in a tree whose shape depends on the places of the sorted rows.
template <unsigned Floats>
class piece_sums {
 public:
  explicit piece_sums(float_rows<Floats> const& r) : order_{r.n, r.n_records} {
    for (std::uint32_t tiles = tiles_of(r.n);; tiles = tiles_of(2 * tiles)) {
      ids_.emplace_back(2 * tiles);
      values_.emplace_back(std::size_t{2 * tiles} * Floats);
      if (tiles == 1) return;
    }
  }
  template <class Finish>
  void add_async(float_rows<Floats> const& r, Finish const& finish) {
    order_.sort_async(r.ids);
    reduce_arguments<Floats, Finish> level{order_.ids(), order_.order(), r.values, r.n,
                                           nullptr,      nullptr,        finish};
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      level.next_ids = ids_[k].data();
      level.next_values = values_[k].data();
      std::uint32_t const tiles = tiles_of(level.n);
      launch_groups(&add_tiles<Floats, Finish>, tiles, level);
      level.ids = level.next_ids;
      level.order = nullptr;
      level.values = level.next_values;
      level.n = 2 * tiles;
    }
  }

 private:
  static std::uint32_t tiles_of(std::uint32_t n) {
    return (n + tile_items<Floats> - 1) / tile_items<Floats>;
  }
  row_order order_;
  std::vector<warden::buffer<std::uint32_t>> ids_;
  std::vector<warden::buffer<float>> values_;
};

}  // namespace workloads
