// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: the block, tiles and coalesced lanes of a warp, the grid of a cooperative
// launch.
#pragma once

#include "cuda_runtime.h"

#include <cstring>

namespace warden::check {
/// Waits until all blocks of the cooperative launch have come.
void sync_grid(site const& where);
bool is_cooperative();
}  // namespace warden::check

namespace cooperative_groups {

using warden::check::site;

class thread_block {
 public:
  static void sync(site where = site::current()) { warden::simt::sync_block(where); }
  static unsigned thread_rank() { return warden::simt::thread_rank(); }
  static unsigned size() { return warden::simt::block_threads(); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static void sync(site where = site::current()) { warden::check::sync_grid(where); }
  static bool is_valid() { return warden::check::is_cooperative(); }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long block_rank() { return warden::simt::block_rank(); }
  static unsigned long long num_blocks() { return warden::simt::block_count(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return thread_block::group_index(); }
};
inline grid_group this_grid() { return {}; }

/// Lanes of a warp, numbered from 0 in the order of the lanes.
class warp_lanes {
 public:
  explicit warp_lanes(unsigned mask) : mask_{mask} {}

  void sync(site where = site::current()) const { __syncwarp(mask_, where); }
  [[nodiscard]] unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(mask_ & ((1u << warden::simt::lane_id()) - 1)));
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] unsigned lane_mask() const { return mask_; }

  template <class T>
  T shfl(T value, int rank, site where = site::current()) const {
    return from(value, static_cast<unsigned>(rank) % size(), where);
  }
  template <class T>
  T shfl_up(T value, unsigned distance, site where = site::current()) const {
    unsigned const me = thread_rank();
    return from(value, me < distance ? me : me - distance, where);
  }
  template <class T>
  T shfl_down(T value, unsigned distance, site where = site::current()) const {
    unsigned const me = thread_rank();
    return from(value, me + distance < size() ? me + distance : me, where);
  }
  template <class T>
  T shfl_xor(T value, unsigned bits, site where = site::current()) const {
    return from(value, (thread_rank() ^ bits) % size(), where);
  }
  int any(int value, site where = site::current()) const { return __any_sync(mask_, value, where); }
  int all(int value, site where = site::current()) const { return __all_sync(mask_, value, where); }
  unsigned ballot(int value, site where = site::current()) const {
    return ranks_of(__ballot_sync(mask_, value, where));
  }
  template <class T>
  unsigned match_any(T value, site where = site::current()) const {
    return ranks_of(__match_any_sync(mask_, value, where));
  }
  template <class T>
  unsigned match_all(T value, int& all, site where = site::current()) const {
    return ranks_of(__match_all_sync(mask_, value, &all, where));
  }

 private:
  [[nodiscard]] int lane_of(unsigned rank) const {
    return static_cast<int>(__fns(mask_, 0, static_cast<int>(rank) + 1));
  }
  [[nodiscard]] unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned r = 0; r < size(); ++r) ranks |= (lanes >> lane_of(r) & 1u) << r;
    return ranks;
  }
  /// The value of the lane of that rank, word by word.
  template <class T>
  T from(T value, unsigned rank, site const& where) const {
    static_assert(std::is_trivially_copyable_v<T>);
    unsigned words[(sizeof(T) + 3) / 4] = {};
    std::memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = __shfl_sync(mask_, word, lane_of(rank), 32, where);
    std::memcpy(&value, words, sizeof(T));
    return value;
  }

  unsigned mask_;
};

class coalesced_group : public warp_lanes {
 public:
  using warp_lanes::warp_lanes;
};
inline coalesced_group coalesced_threads(site where = site::current()) {
  return coalesced_group{__activemask(where)};
}

namespace details {
/// Mask of the part of the warp's `lanes` that the caller is in, if these are cut into parts of
/// `size` by rank.
inline unsigned part_of(unsigned lanes, unsigned size) {
  warp_lanes const all{lanes};
  unsigned const first = all.thread_rank() / size * size;
  unsigned part = 0;
  for (unsigned r = first; r < first + size && r < all.size(); ++r)
    part |= 1u << __fns(lanes, 0, static_cast<int>(r) + 1);
  return part;
}
/// The lanes of the caller's warp that the block has.
inline unsigned warp_of_block() {
  unsigned const first = warden::simt::thread_rank() / 32 * 32;
  unsigned const lanes = thread_block::size() - first;
  return lanes >= 32 ? ~0u : (1u << lanes) - 1;
}
}  // namespace details

template <unsigned Size, class Parent = void>
class thread_block_tile : public warp_lanes {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has a power of two up to 32 threads");

 public:
  thread_block_tile(unsigned mask, unsigned part, unsigned parts)
      : warp_lanes{mask}, part_{part}, parts_{parts} {}
  [[nodiscard]] static constexpr unsigned size() { return Size; }
  [[nodiscard]] static constexpr unsigned num_threads() { return Size; }
  [[nodiscard]] unsigned meta_group_rank() const { return part_; }
  [[nodiscard]] unsigned meta_group_size() const { return parts_; }

 private:
  unsigned part_, parts_;
};
template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(thread_block const&) {
  return {details::part_of(details::warp_of_block(), Size), thread_block::thread_rank() / Size,
          (thread_block::size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Parent>
thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    thread_block_tile<ParentSize, Parent> const& parent) {
  return {details::part_of(parent.lane_mask(), Size), parent.thread_rank() / Size,
          ParentSize / Size};
}

/// Any of the groups above.
class thread_group : public warp_lanes {
 public:
  thread_group(warp_lanes const& lanes) : warp_lanes{lanes}, is_block_{false} {}
  thread_group(thread_block const&) : warp_lanes{details::warp_of_block()}, is_block_{true} {}
  void sync(site where = site::current()) const {
    if (is_block_) {
      thread_block::sync(where);
    } else {
      warp_lanes::sync(where);
    }
  }
  [[nodiscard]] unsigned thread_rank() const {
    return is_block_ ? thread_block::thread_rank() : warp_lanes::thread_rank();
  }
  [[nodiscard]] unsigned size() const {
    return is_block_ ? thread_block::size() : warp_lanes::size();
  }
  [[nodiscard]] unsigned num_threads() const { return size(); }

 private:
  bool is_block_;
};
inline thread_group tiled_partition(thread_group const& parent, unsigned size) {
  return warp_lanes{details::part_of(parent.lane_mask(), size)};
}
inline coalesced_group tiled_partition(coalesced_group const& parent, unsigned size) {
  return coalesced_group{details::part_of(parent.lane_mask(), size)};
}
template <class Label>
coalesced_group labeled_partition(warp_lanes const& lanes, Label label,
                                  site where = site::current()) {
  return coalesced_group{__match_any_sync(lanes.lane_mask(), label, where)};
}
inline coalesced_group binary_partition(warp_lanes const& lanes, bool side,
                                        site where = site::current()) {
  return labeled_partition(lanes, static_cast<int>(side), where);
}

template <class Group>
void sync(Group const& group, site where = site::current()) {
  group.sync(where);
}

// ---- cooperative_groups/reduce.h and cooperative_groups/scan.h

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <class T, class Join = plus<T>>
T reduce(warp_lanes const& lanes, T value, Join join = {}, site where = site::current()) {
  T all = lanes.shfl(value, 0, where);
  for (unsigned r = 1; r < lanes.size(); ++r)
    all = join(all, lanes.shfl(value, static_cast<int>(r), where));
  return all;
}
template <class T, class Join = plus<T>>
T inclusive_scan(warp_lanes const& lanes, T value, Join join = {}, site where = site::current()) {
  T sum = value;
  for (unsigned distance = 1; distance < lanes.size(); distance *= 2) {
    T const before = lanes.shfl_up(sum, distance, where);
    if (lanes.thread_rank() >= distance) sum = join(before, sum);
  }
  return sum;
}
template <class T, class Join = plus<T>>
T exclusive_scan(warp_lanes const& lanes, T value, Join join = {}, site where = site::current()) {
  T const before = lanes.shfl_up(inclusive_scan(lanes, value, join, where), 1, where);
  return lanes.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
