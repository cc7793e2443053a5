// SPDX-License-Identifier: Apache-2.0
// Sums by group: values, groups and their check.
#pragma once

#include "microbench/workloads/arms.hpp"
#include "microbench/workloads/rows.cuh"

#include <cstdint>

namespace workloads {

/// Integer of 128 bits, in two's complement.
struct value {
  std::uint64_t low, high;
};
WARDEN_HOST_DEVICE value operator+(value a, value b) {
  std::uint64_t const low = a.low + b.low;
  return {low, a.high + b.high + (low < b.low ? 1 : 0)};
}
/// Sum of the values of a group, and their number.
struct alignas(32) group {
  value sum;
  std::uint64_t count;
};

/// Rows to sum up, as kernels see them.
struct group_rows {
  std::uint32_t const* ids;
  value const* values;
  std::uint32_t n, n_groups;
  group* groups;
};

struct value_arguments {
  value* values;
  std::uint32_t n;
};
/// Draws values of both signs.
template <class Arguments>
WARDEN_KERNEL void draw_values(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    std::uint64_t const low = bench::mix(i, 7);
    a.values[i] = {low, (low >> 63 != 0 ? ~std::uint64_t{0} : 0) + bench::mix(i, 8) % 5};
  });
}

/// Arguments of the check. `limbs` are sums of the 32-bit words of values, which take no carries.
struct group_check {
  group_rows rows;
  std::uint64_t* limbs;   ///< [group][word]
  std::uint64_t* counts;  ///< [group]
  std::uint32_t* wrong;
};
template <class Arguments>
WARDEN_KERNEL void add_limbs(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.rows.n, [&](std::uint64_t i) {
    value const v = a.rows.values[i];
    std::uint64_t* const to = a.limbs + std::uint64_t{a.rows.ids[i]} * 4;
    simt::add(to, v.low & 0xffffffff);
    simt::add(to + 1, v.low >> 32);
    simt::add(to + 2, v.high & 0xffffffff);
    simt::add(to + 3, v.high >> 32);
    simt::add(a.counts + a.rows.ids[i], 1u);
  });
}
template <class Arguments>
WARDEN_KERNEL void compare_groups(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.rows.n_groups, [&](std::uint64_t g) {
    std::uint64_t const* const limb = a.limbs + g * 4;
    value sum{limb[0], 0};
    sum = sum + value{limb[1] << 32, limb[1] >> 32};
    sum.high += limb[2] + (limb[3] << 32);
    group const found = a.rows.groups[g];
    if (found.sum.low != sum.low || found.sum.high != sum.high || found.count != a.counts[g])
      simt::fetch_add(a.wrong, 1u);
  });
}

/// Rows, groups and expected sums of a point.
class group_work {
 public:
  explicit group_work(size const& s)
      : ids_{draw_ids(s)},
        values_{s.rows},
        groups_{s.keys},
        limbs_{s.keys * 4ull},
        counts_{s.keys} {
    launch_helper(&draw_values<value_arguments>, {values_.data(), s.rows});
    limbs_.fill_bytes(0);
    counts_.fill_bytes(0);
    launch_helper(&add_limbs<group_check>, {rows(), limbs_.data(), counts_.data(), nullptr});
  }
  [[nodiscard]] group_rows rows() const {
    return {ids_.data(), values_.data(), static_cast<std::uint32_t>(ids_.size()),
            static_cast<std::uint32_t>(groups_.size()), groups_.data()};
  }
  void reset() { groups_.fill_bytes(0); }
  bool is_right() {
    return finds_none_wrong(&compare_groups<group_check>,
                            {rows(), limbs_.data(), counts_.data(), nullptr});
  }

 private:
  warden::buffer<std::uint32_t> ids_;
  warden::buffer<value> values_;
  warden::buffer<group> groups_;
  warden::buffer<std::uint64_t> limbs_, counts_;
};

/// Adds the arm that sorts and reduces by CUB, on a GPU.
void add_cub_arms(arm_makers<group_work>& to);

}  // namespace workloads
