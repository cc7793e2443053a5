// SPDX-License-Identifier: Apache-2.0
// Tasks that need locks elsewhere, done by sections: right under every schedule, without a false
// alarm.

#include "tests/support/many_schedules.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

unsigned __device__ global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Calls `task()` under as many schedules as WARDEN_SEEDS says, or 4: one takes long.
template <class Task>
void under_schedules(Task task) {
  std::uint64_t left = test::environment("WARDEN_SEEDS", 4);
  test::under_many_schedules(1, [&](std::uint64_t) {
    if (left == 0) return;
    --left;
    task();
  });
}

// ---- a map with a lock for each bucket: each operation goes on with its answer

struct bucket {
  unsigned keys[4], values[4];
};
struct put {
  unsigned key, value;
  __device__ bool operator()(bucket& b) const {
    for (unsigned wanted : {key, 0u}) {
      for (int i = 0; i < 4; ++i) {
        if (b.keys[i] != wanted) continue;
        b.keys[i] = key;
        b.values[i] = value;
        return true;
      }
    }
    return false;
  }
};
struct find {
  unsigned key;
  __device__ unsigned operator()(bucket& b) const {
    for (int i = 0; i < 4; ++i) {
      if (b.keys[i] == key) return b.values[i];
    }
    return 0;
  }
};
struct erase {
  unsigned key;
  __device__ bool operator()(bucket& b) const {
    for (int i = 0; i < 4; ++i) {
      if (b.keys[i] != key) continue;
      b.keys[i] = 0;
      return true;
    }
    return false;
  }
};
using map = warden::basic_guarded<test::sorted, bucket, put, find, erase>;
constexpr unsigned buckets = 256;
struct put_find_erase {
  unsigned* wrong;
  __device__ void operator()(warden::virtual_block const& at, map::ref const& all) const {
    map::thread_client const client{all, at};
    auto const i = static_cast<unsigned>(at.global_rank());
    unsigned const key = i + 1, id = i % buckets;
    auto const put_it = client.call(id, put{key, key * 10}).get();
    auto const found = client.call(id, find{key}).get();
    bool right = put_it && *put_it && found && *found == key * 10;
    if (i % 3 != 0) {
      auto const erased = client.call(id, erase{key}).get();
      auto const gone = client.call(id, find{key}).get();
      right = right && erased && *erased && gone && *gone == 0;
    }
    if (!right) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(tasks, a_map_whose_operations_answer) {
  under_schedules([] {
    warden::buffer<bucket> all{buckets};
    all.fill_bytes(0);
    warden::buffer<unsigned> wrong{1};
    wrong.fill_bytes(0);
    map m{all};
    warden::launch_fused(put_find_erase{wrong.data()}, 2, {}, m);
    m.wait();
    EXPECT_EQ(wrong.to_host()[0], 0u);
  });
}

// ---- a table of files and a pool of pages, with a lock each that threads take in either order

struct file {
  unsigned open, pages;
};
struct pool {
  unsigned free;
};
struct open_file {
  __device__ void operator()(file& f) const { f.open += 1; }
};
struct add_page {
  __device__ void operator()(pool& p) const { p.free += 1; }
};
using files = warden::guarded<file, open_file>;
using pools = warden::guarded<pool, add_page>;
struct evict {
  unsigned most;
  __device__ void operator()(file& f, pool& p) const {
    unsigned const n = f.pages < most ? f.pages : most;
    f.pages -= n;
    p.free += n;
  }
};
struct close_file {
  __device__ void operator()(file& f, pool& p) const {
    evict{1}(f, p);
    f.open += 1;
  }
};
using files_and_pools = warden::deferred_between<files, pools, evict, close_file>;
__global__ void evict_and_close(files_and_pools::ref_type to, unsigned n) {
  unsigned const i = global_thread();
  if (i >= n) return;
  if (blockIdx.x % 2 != 0) {
    to.send(i % 4, 0, evict{2});
  } else {
    to.send(i % 4, 0, close_file{});
  }
}
TEST(tasks, two_arrays_in_either_order) {
  under_schedules([] {
    warden::buffer<file> table{std::vector<file>(4, file{0, 500})};
    warden::buffer<pool> pages{1};
    pages.fill_bytes(0);
    files all_files{table};
    pools all_pools{pages};
    files_and_pools log{all_files, all_pools, 1000};
    warden::launch(evict_and_close, 8, 128, {}, log.ref(), 1000u);
    log.run();
    all_files.wait();
    all_pools.wait();
    unsigned sum = pages.to_host()[0].free, closed = 0;
    for (file const& f : table.to_host()) {
      sum += f.pages;
      closed += f.open;
    }
    EXPECT_EQ(sum, 2000u);
    EXPECT_EQ(closed, 512u);
  });
}

// ---- a maximum with the place where it was found

struct best {
  int value, at;
};
struct offer {
  int value, at;
  __device__ void operator()(best& b) const {
    if (value > b.value) b = {value, at};
  }
  __device__ static offer combine(offer a, offer b) { return a.value < b.value ? b : a; }
};
using maximum = warden::guarded<best, offer>;
__global__ void find_maximum(maximum::deferred_ref all, int const* values, unsigned n) {
  unsigned const i = global_thread();
  if (i < n) all.send(0, offer{values[i], static_cast<int>(i)});
}
TEST(tasks, a_maximum_and_its_place) {
  under_schedules([] {
    std::vector<int> values(1000);
    for (int i = 0; i < 1000; ++i) values[i] = i * 37 % 1000;
    warden::buffer<int> const from{values};
    warden::buffer<best> found{1};
    found.fill_bytes(0);
    maximum m{found};
    warden::deferred log{m, 1000};
    warden::launch(find_maximum, 8, 128, {}, log.ref(), from.data(), 1000u);
    log.run();
    m.wait();
    EXPECT_EQ(found.to_host()[0].value, 999);
    EXPECT_EQ(values[found.to_host()[0].at], 999);
  });
}

// ---- sorted lists, whose nodes lie in other memory

struct list {
  unsigned head;
};
struct nodes {
  unsigned* next;
};
constexpr unsigned end_of_list = ~0u;
struct insert_sorted {
  unsigned id;
  __device__ void operator()(list& l, nodes n) const {
    unsigned* place = &l.head;
    while (*place < id) place = &n.next[*place];
    n.next[id] = *place;
    *place = id;
  }
};
using with_nodes = warden::policy<warden::options{}, warden::context<nodes>>;
using lists = warden::basic_guarded<with_nodes, list, insert_sorted>;
__global__ void insert_all(lists::deferred_ref all, unsigned n, unsigned count) {
  unsigned const i = global_thread();
  if (i < n) all.send(i % count, insert_sorted{i});
}
TEST(tasks, sorted_lists) {
  under_schedules([] {
    unsigned const n = 600, count = 5;
    warden::buffer<list> heads{std::vector<list>(count, list{end_of_list})};
    warden::buffer<unsigned> next{n};
    lists all{heads, nodes{next.data()}};
    warden::deferred log{all, n};
    warden::launch(insert_all, 5, 128, {}, log.ref(), n, count);
    log.run();
    all.wait();
    auto const links = next.to_host();
    for (unsigned l = 0; l < count; ++l) {
      unsigned at = heads.to_host()[l].head;
      for (unsigned expected = l; expected < n; expected += count, at = links[at])
        ASSERT_EQ(at, expected);
      EXPECT_EQ(at, end_of_list);
    }
  });
}

// ---- sums of floats in the order of the threads

struct gradient {
  float sum;
};
struct add {
  float more;
  __device__ void operator()(gradient& g) const { g.sum += more; }
};
using in_order = warden::policy<warden::options{}, warden::order::sequential>;
using gradients = warden::basic_guarded<in_order, gradient, add>;
__global__ void add_in_order(gradients::deferred_ref to, unsigned n, unsigned count) {
  WARDEN_SHARED(gradients::deferred_block<128>::storage, storage);
  gradients::deferred_block<128> client{to, storage};
  unsigned const i = global_thread();
  client.send(i % count, add{0.1f * static_cast<float>(i)}, i < n);
  client.flush();
}
TEST(tasks, sums_bit_for_bit) {
  under_schedules([] {
    warden::buffer<gradient> sums{10};
    sums.fill_bytes(0);
    gradients all{sums};
    warden::deferred log{all, 400};
    warden::launch(add_in_order, 4, 128, {}, log.ref(), 400u, 10u);
    log.run();
    all.wait();
    std::vector<float> expected(10);
    for (unsigned i = 0; i < 400; ++i) expected[i % 10] += 0.1f * static_cast<float>(i);
    for (unsigned k = 0; k < 10; ++k) EXPECT_EQ(sums.to_host()[k].sum, expected[k]);
  });
}

// ---- buckets that groups of lanes search together

struct counters {
  unsigned keys[4], counts[4];
};
struct count {
  static constexpr unsigned group_size = 4;
  unsigned key;
  __device__ void operator()(counters& c, warden::no_context,
                             warden::lane_group<group_size> const& group) const {
    unsigned const lane = group.lane();
    unsigned const hit = group.ballot(c.keys[lane] == key);
    unsigned const room = group.ballot(c.keys[lane] == 0);
    unsigned const chosen = hit != 0 ? hit : room;
    if ((chosen & (0u - chosen)) != 1u << lane) return;
    c.keys[lane] = key;
    c.counts[lane] += 1;
  }
};
using counting = warden::guarded<counters, count>;
__global__ void count_keys(counting::deferred_ref all, unsigned n, unsigned keys) {
  unsigned const i = global_thread();
  if (i < n) all.send(i % keys / 4, count{1 + i % keys});
}
TEST(tasks, buckets_that_lanes_search) {
  under_schedules([] {
    warden::buffer<counters> all{8};
    all.fill_bytes(0);
    counting c{all};
    warden::deferred log{c, 640};
    warden::launch(count_keys, 5, 128, {}, log.ref(), 640u, 32u);
    log.run();
    c.wait();
    for (counters const& b : all.to_host()) {
      for (unsigned n : b.counts) EXPECT_EQ(n, 20u);
    }
  });
}

}  // namespace
