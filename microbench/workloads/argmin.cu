// SPDX-License-Identifier: Apache-2.0
// The cheapest candidate of each node, and what belongs to it: by packed atomics, by a lock after a
// check, and by Warden.

#include "microbench/workloads/points.hpp"
#include "microbench/workloads/rows.cuh"
#include "microbench/workloads/work_point.hpp"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace workloads {
namespace {

constexpr std::uint32_t no_candidate = ~0u;

/// Cheapest candidate of a node. The lock shares its cache line.
struct alignas(16) best {
  float cost;
  std::uint32_t candidate, extra, lock;
};
/// Order of candidates: by cost, and then by number. Costs are not negative.
WARDEN_DEVICE bool is_better(float cost, std::uint32_t candidate, float than, std::uint32_t other) {
  return cost < than || (cost == than && candidate < other);
}
WARDEN_DEVICE std::uint64_t packed(float cost, std::uint32_t candidate) {
  return std::uint64_t{__float_as_uint(cost)} << 32 | candidate;
}

/// Candidates as kernels see them.
struct candidates {
  std::uint32_t const* nodes;
  float const* costs;
  std::uint32_t const* extras;
  std::uint32_t n, n_nodes;
  best* found;
  std::uint64_t* packed;  ///< [node] memory for the packed cost and number
};

struct draw_arguments {
  float* costs;
  std::uint32_t* extras;
  std::uint32_t n;
};
WARDEN_KERNEL void draw_candidates(draw_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.costs[i] = static_cast<float>(bench::mix(i, 11) >> 40);
    a.extras[i] = static_cast<std::uint32_t>(bench::mix(i, 12));
  });
}
WARDEN_KERNEL void clear_best(candidates a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n_nodes, [&](std::uint64_t v) {
    a.found[v] = {__uint_as_float(0x7f800000), no_candidate, 0, 0};  // infinity
  });
}
WARDEN_KERNEL void take_minimum(candidates a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    auto const number = static_cast<std::uint32_t>(i);
    std::uint64_t const mine = packed(a.costs[i], number);
    std::uint64_t* const place = a.packed + a.nodes[i];
    if (mine < simt::load_relaxed(place)) simt::fetch_min(place, mine);
  });
}
WARDEN_KERNEL void unpack_best(candidates a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n_nodes, [&](std::uint64_t v) {
    auto const number = static_cast<std::uint32_t>(a.packed[v]);
    if (number == no_candidate) return;
    a.found[v] = {__uint_as_float(static_cast<unsigned>(a.packed[v] >> 32)), number,
                  a.extras[number], 0};
  });
}

struct check_arguments {
  candidates all;
  std::uint64_t const* expected;
  std::uint32_t* wrong;
};
WARDEN_KERNEL void compare_best(check_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.all.n_nodes, [&](std::uint64_t v) {
    best const b = a.all.found[v];
    bool const none = a.expected[v] == ~std::uint64_t{0};
    bool const good =
        none ? b.candidate == no_candidate
             : packed(b.cost, b.candidate) == a.expected[v] && b.extra == a.all.extras[b.candidate];
    if (!good) simt::fetch_add(a.wrong, 1u);
  });
}

/// Candidates, results and expected results.
class argmin_work {
 public:
  explicit argmin_work(size const& s)
      : nodes_{draw_ids(s)},
        costs_{s.rows},
        extras_{s.rows},
        found_{s.keys},
        packed_{s.keys},
        expected_{s.keys} {
    launch_helper(&draw_candidates, {costs_.data(), extras_.data(), s.rows});
    expected_.fill_bytes(0xff);
    candidates a = all();
    a.packed = expected_.data();
    launch_helper(&take_minimum, a);
  }
  [[nodiscard]] candidates all() const {
    return {nodes_.data(),
            costs_.data(),
            extras_.data(),
            static_cast<std::uint32_t>(costs_.size()),
            static_cast<std::uint32_t>(found_.size()),
            found_.data(),
            packed_.data()};
  }
  void reset() { launch_helper(&clear_best, all()); }
  bool is_right() { return finds_none_wrong(&compare_best, {all(), expected_.data(), nullptr}); }

 private:
  warden::buffer<std::uint32_t> nodes_;
  warden::buffer<float> costs_;
  warden::buffer<std::uint32_t> extras_;
  warden::buffer<best> found_;
  warden::buffer<std::uint64_t> packed_, expected_;
};

// ---- baselines

void clear_packed(candidates const& a) {
  warden::runtime::fill_async(a.packed, 0xff, a.n_nodes * sizeof *a.packed, {});
}
arm make_atomics(argmin_work& w) {
  return {[a = w.all()] {
    clear_packed(a);
    launch_resident(&take_minimum, arm_threads(256), 0, a);
    launch_resident(&unpack_best, arm_threads(256), 0, a);
  }};
}

/// Nodes whose minima fit the shared memory of a block, of which 2 are resident.
constexpr std::uint32_t most_shared_nodes = 8192;
/// Takes minima in the shared memory of each block, and then in memory.
WARDEN_KERNEL void WARDEN_BOUNDS(1024, 2) take_shared_minimum(candidates a) {
  simt::assume_one_dimension();
  auto* const minima = reinterpret_cast<std::uint64_t*>(simt::dynamic_shared());
  for (std::uint32_t v = simt::thread_rank(); v < a.n_nodes; v += simt::block_threads())
    minima[v] = ~std::uint64_t{0};
  simt::sync_block();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    std::uint64_t const mine = packed(a.costs[i], static_cast<std::uint32_t>(i));
    std::uint64_t& place = minima[a.nodes[i]];
    if (mine < simt::shared_load(place)) simt::shared_fetch_min(place, mine);
  });
  simt::sync_block();
  for (std::uint32_t v = simt::thread_rank(); v < a.n_nodes; v += simt::block_threads()) {
    if (minima[v] < simt::load_relaxed(a.packed + v)) simt::fetch_min(a.packed + v, minima[v]);
  }
}
arm make_shared_atomics(argmin_work& w) {
  return {[a = w.all()] {
    clear_packed(a);
    launch_resident(&take_shared_minimum, arm_threads(1024), a.n_nodes * sizeof *a.packed, a);
    launch_resident(&unpack_best, arm_threads(256), 0, a);
  }};
}

/// Takes the lock of a node unless its best candidate is cheaper already.
WARDEN_KERNEL void take_locks(candidates a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    auto const number = static_cast<std::uint32_t>(i);
    best& b = a.found[a.nodes[i]];
    float const cost = a.costs[i];
    // The section is in the loop: threads of a warp may want the same lock.
    unsigned failed = 0;
    for (bool done = false; !done;) {
      if (simt::load_relaxed(&b.cost) < cost) {
        done = true;
      } else if (simt::compare_exchange(&b.lock, 0u, 1u) == 0) {
        simt::fence_device();
        if (is_better(cost, number, simt::load_relaxed(&b.cost),
                      simt::load_relaxed(&b.candidate))) {
          simt::store_relaxed(&b.extra, a.extras[i]);
          simt::store_relaxed(&b.candidate, number);
          simt::store_relaxed(&b.cost, cost);
        }
        simt::fence_device();
        simt::exchange(&b.lock, 0u);
        done = true;
      } else {
        simt::back_off(failed++);
      }
    }
  });
}
arm make_lock_checked(argmin_work& w) {
  return {[a = w.all()] { launch_resident(&take_locks, arm_threads(256), 0, a); }};
}

// ---- Warden

/// Section: a candidate of a node.
struct offer {
  float cost;
  std::uint32_t candidate, extra;
  __device__ static offer make(candidates const& a, std::uint64_t i) {
    return {a.costs[i], static_cast<std::uint32_t>(i), a.extras[i]};
  }
  __device__ bool improves(best const& b) const {
    return is_better(cost, candidate, b.cost, b.candidate);
  }
  __device__ bool is_noop(best const& b) const { return !improves(b); }
  __device__ void operator()(best& b) const {
    if (improves(b)) b = {cost, candidate, extra, 0};
  }
  __device__ static offer combine(offer const& a, offer const& b) {
    return is_better(a.cost, a.candidate, b.cost, b.candidate) ? a : b;
  }
};
using nodes = warden::guarded<best, offer>;

struct node_log {
  explicit node_log(candidates const& a) : on{a.found, a.n_nodes}, log{on, a.n} {}
  nodes on;
  warden::deferred<warden::policy<>, best, offer> log;
};
void send_offers(node_log& by, candidates const& a, std::uint32_t first, std::uint32_t n) {
  warden::send_async(by.log, n, [=] __device__(std::uint64_t i) {
    return warden::to{a.nodes[first + i], offer::make(a, first + i)};
  });
  by.log.run();
}
arm make_warden(argmin_work& w) {
  auto const by = std::make_shared<node_log>(w.all());
  return {[=, a = w.all()] { send_offers(*by, a, 0, a.n); }, [=] { by->on.wait(); }};
}

struct better_arguments {
  nodes::deferred_ref ref;
  candidates all;
  std::uint32_t first, end;
};
/// Sends the candidates that are better than what the runs before found.
WARDEN_KERNEL void send_better(better_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.end - a.first, [&](std::uint64_t k) {
    std::uint32_t const i = a.first + static_cast<std::uint32_t>(k);
    std::uint32_t const node = a.all.nodes[i];
    // No run executes concurrently, so a plain load sees the record.
    if (a.all.costs[i] <= a.all.found[node].cost) a.ref.send(node, offer::make(a.all, i));
  });
}
/// Sends in parts, each as large as all before it, so that a part can leave out what is not better.
arm make_warden_parts(argmin_work& w) {
  auto const by = std::make_shared<node_log>(w.all());
  return {[=, a = w.all()] {
            std::uint32_t first = std::max(a.n / 64, 1u);
            send_offers(*by, a, 0, first);
            for (std::uint32_t end; first < a.n; first = end) {
              end = first + std::min(first, a.n - first);
              launch_resident(&send_better, arm_threads(256), 0, {by->log.ref(), a, first, end});
              by->log.run();
            }
          },
          [=] { by->on.wait(); }};
}
void apply_offers(nodes& on, candidates const& a) {
  on.apply_async(a.nodes, a.n, [=] __device__(std::uint64_t i) { return offer::make(a, i); });
}
arm make_warden_bulk(argmin_work& w) {
  auto const on = std::make_shared<nodes>(w.all().found, w.all().n_nodes);
  return {[=, a = w.all()] { apply_offers(*on, a); }, [=] { on->wait(); }};
}

}  // namespace

std::shared_ptr<bench::point> make_argmin_point(size const& s) {
  arm_makers<argmin_work> arms{{"atomics", make_atomics},
                               {"lock_checked", make_lock_checked},
                               {"warden", make_warden},
                               {"warden_parts", make_warden_parts},
                               {"warden_bulk", make_warden_bulk}};
  if (s.keys <= most_shared_nodes) arms["shared_atomics"] = make_shared_atomics;
  return make_point<argmin_work>({"argmin", s.workload, s.keys, s.rows, std::move(arms),
                                  [s] { return std::make_unique<argmin_work>(s); }});
}

}  // namespace workloads
