// SPDX-License-Identifier: Apache-2.0
// Sums by key, for keys of 64 bits that lie anywhere: rows, results and their check.
#pragma once

#include "microbench/workloads/arms.hpp"
#include "microbench/workloads/rows.cuh"

#include <cstdint>

namespace workloads {

/// Sum of the values of a key, and their number.
struct key_total {
  std::uint64_t sum, count;
};
/// Returns the key of a group. Groups have different keys, because the hash is a permutation.
WARDEN_HOST_DEVICE std::uint64_t key_of_group(std::uint32_t group) { return bench::mix(group, 99); }

/// Rows to sum up, as kernels see them.
struct keyed_rows {
  std::uint64_t const *keys, *values;
  std::uint32_t n, n_groups;
  key_total* totals;  ///< [group] result of an arm
};

struct keyed_arguments {
  std::uint32_t const* groups;
  std::uint64_t *keys, *values;
  std::uint32_t n;
  key_total* expected;
};
/// Draws the values of rows with given groups, and sums them up by atomics.
template <class Arguments>
WARDEN_KERNEL void draw_keyed_rows(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    std::uint32_t const group = a.groups[i];
    a.keys[i] = key_of_group(group);
    a.values[i] = bench::mix(i, 7);
    simt::add(&a.expected[group].sum, a.values[i]);
    simt::add(&a.expected[group].count, 1u);
  });
}
struct keyed_check {
  key_total const *found, *expected;
  std::uint32_t n_groups;
  std::uint32_t* wrong;
};
template <class Arguments>
WARDEN_KERNEL void compare_totals(Arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n_groups, [&](std::uint64_t g) {
    if (a.found[g].sum != a.expected[g].sum || a.found[g].count != a.expected[g].count)
      simt::fetch_add(a.wrong, 1u);
  });
}

template <class Find>
struct lookup_arguments {
  Find find;
  keyed_rows rows;
};
/// Copies the total that `find(key)` returns for each group's key.
template <class Find>
WARDEN_KERNEL void look_up_totals(lookup_arguments<Find> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.rows.n_groups, [&](std::uint64_t g) {
    a.rows.totals[g] = a.find(key_of_group(static_cast<std::uint32_t>(g)));
  });
}
/// Copies an arm's results to where they are checked. Not part of the measured time.
template <class Find>
void look_up(keyed_rows const& rows, Find const& find) {
  launch_helper(&look_up_totals<Find>, {find, rows});
}

/// Rows, and expected and found totals of a point.
class keyed_work {
 public:
  explicit keyed_work(size const& s)
      : keys_{s.rows}, values_{s.rows}, expected_{s.keys}, totals_{s.keys} {
    expected_.fill_bytes(0);
    auto const groups = draw_ids(s);
    launch_helper(&draw_keyed_rows<keyed_arguments>,
                  {groups.data(), keys_.data(), values_.data(), s.rows, expected_.data()});
    warden::stream_ref{}.synchronize();
  }
  [[nodiscard]] keyed_rows rows() const {
    return {keys_.data(), values_.data(), static_cast<std::uint32_t>(keys_.size()),
            static_cast<std::uint32_t>(totals_.size()), totals_.data()};
  }
  void reset() { totals_.fill_bytes(0); }
  bool is_right() {
    return finds_none_wrong(&compare_totals<keyed_check>,
                            {totals_.data(), expected_.data(), rows().n_groups, nullptr});
  }

 private:
  warden::buffer<std::uint64_t> keys_, values_;
  warden::buffer<key_total> expected_, totals_;
};

/// Adds the arm that sorts and reduces by CUB, on a GPU.
void add_cub_arms(arm_makers<keyed_work>& to);

}  // namespace workloads
