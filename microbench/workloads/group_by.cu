// SPDX-License-Identifier: Apache-2.0
// Sums by group: by atomics in global and in shared memory, and by Warden.

#include "microbench/workloads/group_by.cuh"
#include "microbench/workloads/points.hpp"
#include "microbench/workloads/work_point.hpp"

#include <warden/deferred.cuh>
#include <warden/sections.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace workloads {
namespace {

/// Adds by one atomic for each word that changes. Only the first one is waited for: it has a carry.
WARDEN_DEVICE void add_by_atomics(group& to, value v, std::uint64_t count) {
  std::uint64_t const old = v.low == 0 ? 0 : simt::fetch_add(&to.sum.low, v.low);
  std::uint64_t const high = v.high + (old + v.low < old ? 1 : 0);
  if (high != 0) simt::add(&to.sum.high, high);
  simt::add(&to.count, count);
}
WARDEN_KERNEL void add_in_memory(group_rows a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n,
                     [&](std::uint64_t i) { add_by_atomics(a.groups[a.ids[i]], a.values[i], 1); });
}
arm make_atomics(group_work& w) {
  return {[a = w.rows()] { launch_resident(&add_in_memory, arm_threads(256), 0, a); }};
}

/// Words of a sum in shared memory: 4 of the value, and the count. Shared memory adds 32 bits in
/// one instruction, and 64 bits in a loop.
constexpr unsigned sum_words = 5;

/// Sums in shared memory. Word w of slot s has `copies` copies, and lane l uses copy l % copies.
class shared_sums {
 public:
  WARDEN_DEVICE shared_sums(std::uint32_t* words, std::uint32_t slots, std::uint32_t copies)
      : words_{words}, slots_{slots}, copies_{copies} {}

  /// Clears all sums. Collective over the block.
  WARDEN_DEVICE void clear() const {
    for (std::uint32_t k = simt::thread_rank(); k < sum_words * slots_ * copies_;
         k += simt::block_threads())
      words_[k] = 0;
    simt::sync_block();
  }
  WARDEN_DEVICE void add(std::uint32_t slot, value v) const {
    std::uint32_t const words[] = {
        static_cast<std::uint32_t>(v.low), static_cast<std::uint32_t>(v.low >> 32),
        static_cast<std::uint32_t>(v.high), static_cast<std::uint32_t>(v.high >> 32)};
    std::uint32_t const copy = simt::lane_id() & (copies_ - 1);
    std::uint32_t carry = 0;
    WARDEN_UNROLL
    for (unsigned w = 0; w < 4; ++w) {
      std::uint32_t const more = words[w] + carry;
      // A word of ones with a carry adds nothing here and passes the carry on.
      if (more == 0) continue;
      std::uint32_t const old = simt::shared_fetch_add(word(w, slot, copy), more);
      carry = old + more < more ? 1 : 0;
    }
    simt::shared_fetch_add(word(4, slot, copy), 1u);
  }
  /// Adds the sums of a slot to the group. Called by one thread.
  WARDEN_DEVICE void flush(std::uint32_t slot, group& to) const {
    value sum{0, 0};
    std::uint64_t count = 0;
    for (std::uint32_t c = 0; c < copies_; ++c) {
      sum = sum + value{word(1, slot, c) * (std::uint64_t{1} << 32) + word(0, slot, c),
                        word(3, slot, c) * (std::uint64_t{1} << 32) + word(2, slot, c)};
      count += word(4, slot, c);
    }
    if (count != 0) add_by_atomics(to, sum, count);
  }

 private:
  WARDEN_DEVICE std::uint32_t& word(unsigned w, std::uint32_t slot, std::uint32_t copy) const {
    return words_[(w * slots_ + slot) * copies_ + copy];
  }
  std::uint32_t* words_;
  std::uint32_t slots_, copies_;
};

/// Shared memory of a block, of which 2 are resident.
constexpr std::uint32_t shared_bytes_of_block = 100 << 10;

struct shared_arguments {
  group_rows rows;
  std::uint32_t copies;
};
/// Sums up in the shared memory of each block, which holds all groups, and then in memory.
WARDEN_KERNEL void WARDEN_BOUNDS(1024, 2) add_in_shared(shared_arguments a) {
  simt::assume_one_dimension();
  shared_sums const sums{reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), a.rows.n_groups,
                         a.copies};
  sums.clear();
  bench::for_each_of(a.rows.n, [&](std::uint64_t i) { sums.add(a.rows.ids[i], a.rows.values[i]); });
  simt::sync_block();
  for (std::uint32_t g = simt::thread_rank(); g < a.rows.n_groups; g += simt::block_threads())
    sums.flush(g, a.rows.groups[g]);
}
arm make_shared_atomics(group_work& w) {
  shared_arguments a{w.rows(), 32};
  std::uint32_t const bytes = a.rows.n_groups * sum_words * 4;
  while (a.copies > 1 && bytes * a.copies > shared_bytes_of_block) a.copies /= 2;
  return {[=] { launch_resident(&add_in_shared, arm_threads(1024), bytes * a.copies, a); }};
}

constexpr std::uint32_t slot_bits = 12, cache_slots = 1 << slot_bits, no_group = ~0u;
constexpr std::uint32_t cache_bytes = cache_slots * (sum_words + 1) * 4;

/// Sums up in the shared memory of each block the groups that came to a slot first, and the other
/// groups in memory. Groups with many rows come early.
WARDEN_KERNEL void WARDEN_BOUNDS(1024, 2) add_in_cache(group_rows a) {
  simt::assume_one_dimension();
  auto* const words = reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  std::uint32_t* const owners = words + cache_slots * sum_words;
  shared_sums const sums{words, cache_slots, 1};
  for (std::uint32_t s = simt::thread_rank(); s < cache_slots; s += simt::block_threads())
    owners[s] = no_group;
  sums.clear();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    std::uint32_t const id = a.ids[i], slot = id * 2654435769u >> (32 - slot_bits);
    std::uint32_t owner = simt::shared_load(owners[slot]);
    if (owner == no_group) {
      owner = simt::shared_compare_exchange(owners[slot], no_group, id);
      if (owner == no_group) owner = id;
    }
    value const v = a.values[i];
    if (owner == id) {
      sums.add(slot, v);
    } else {
      add_by_atomics(a.groups[id], v, 1);
    }
  });
  simt::sync_block();
  for (std::uint32_t s = simt::thread_rank(); s < cache_slots; s += simt::block_threads()) {
    if (owners[s] != no_group) sums.flush(s, a.groups[owners[s]]);
  }
}
arm make_shared_cache(group_work& w) {
  return {[a = w.rows()] { launch_resident(&add_in_cache, arm_threads(1024), cache_bytes, a); }};
}

__extension__ using unsigned_int128 = unsigned __int128;

/// Section: a row of the table.
struct add_to_group {
  value v;
  __device__ void operator()(group& g) const { partial{*this}(g); }

  /// Sum of several rows.
  struct partial {
    value sum;
    std::uint32_t count;
    __device__ explicit partial(add_to_group const& one) : sum{one.v}, count{1} {}
    __device__ static partial combine(partial a, partial const& b) {
      a.sum = a.sum + b.sum;
      a.count += b.count;
      return a;
    }
    __device__ void operator()(group& g) const {
      g.sum = g.sum + sum;
      g.count += count;
    }
  };
};
using groups = warden::guarded<group, add_to_group>;

struct by_log {
  explicit by_log(group_rows const& r) : all{r.groups, r.n_groups}, log{all, r.n} {}
  groups all;
  warden::deferred<warden::policy<>, group, add_to_group> log;
};
void send_rows(by_log& by, group_rows const& a) {
  warden::send_async(by.log, a.n, [=] __device__(std::uint64_t i) {
    return warden::to{a.ids[i], add_to_group{a.values[i]}};
  });
  by.log.run();
}
arm make_warden(group_work& w) {
  auto const by = std::make_shared<by_log>(w.rows());
  return {[=, a = w.rows()] { send_rows(*by, a); }, [=] { by->all.wait(); }};
}
void apply_rows(groups& all, group_rows const& a) {
  all.apply_async(a.ids, a.n,
                  [=] __device__(std::uint64_t i) { return add_to_group{a.values[i]}; });
}
arm make_warden_bulk(group_work& w) {
  auto const all = std::make_shared<groups>(w.rows().groups, w.rows().n_groups);
  return {[=, a = w.rows()] { apply_rows(*all, a); }, [=] { all->wait(); }};
}

/// The group of ready-made sections, which add integers. Its layout is that of `group`.
struct total {
  unsigned_int128 sum;
  std::uint64_t count;
};
static_assert(sizeof(total) == sizeof(group));
using sum_and_count =
    warden::aggregate<unsigned_int128, warden::sum<&total::sum>, warden::count<&total::count>>;
using totals = warden::guarded<total, sum_and_count>;
void apply_sums(totals& all, group_rows const& a) {
  all.apply_async(a.ids, a.n, [=] __device__(std::uint64_t i) {
    value const v = a.values[i];
    return sum_and_count{unsigned_int128{v.high} << 64 | v.low};
  });
}
arm make_warden_sums(group_work& w) {
  auto const all =
      std::make_shared<totals>(reinterpret_cast<total*>(w.rows().groups), w.rows().n_groups);
  return {[=, a = w.rows()] { apply_sums(*all, a); }, [=] { all->wait(); }};
}

}  // namespace

std::shared_ptr<bench::point> make_group_by_point(size const& s) {
  arm_makers<group_work> arms{{"atomics", make_atomics},
                              {"shared_cache", make_shared_cache},
                              {"warden", make_warden},
                              {"warden_bulk", make_warden_bulk},
                              {"warden_sums", make_warden_sums}};
  if (s.keys * sum_words * 4 <= shared_bytes_of_block) arms["shared_atomics"] = make_shared_atomics;
  add_cub_arms(arms);
  return make_point<group_work>({"group_by", s.workload, s.keys, s.rows, std::move(arms),
                                 [s] { return std::make_unique<group_work>(s); }});
}

}  // namespace workloads
