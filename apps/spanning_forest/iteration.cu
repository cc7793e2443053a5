// SPDX-License-Identifier: Apache-2.0
// Joins components and renumbers the roots.

#include "apps/spanning_forest/iteration.cuh"
#include "apps/support/device.cuh"

#include <warden/simt/launch.cuh>

#include <type_traits>

namespace spanning_forest {

namespace {

template <class Argument>
void run(void (*kernel)(Argument), std::type_identity_t<Argument> const& a) {
  simt::launch(kernel, apps::blocks(), apps::threads(), 0, a, {});
}

WARDEN_KERNEL void join_by_arcs(join_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.size, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    std::uint32_t const to = a.target[v];
    a.joined[v] = a.target[to] == v && v < to ? v : to;
  });
}

WARDEN_KERNEL void join_by_candidates(join_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.size, [&](std::uint64_t i) {
    auto const c = static_cast<std::uint32_t>(i);
    std::uint64_t const key = a.components[c].lightest;
    std::uint32_t to = c;
    if (key != no_key) {
      std::uint32_t const from = a.candidates.from[number_in(key)];
      to = from == c ? a.candidates.to[number_in(key)] : from;
      if (c < to && a.components[to].lightest == key) to = c;
    }
    a.joined[c] = to;
  });
}

/// A write shortens the paths of other threads. Correctness does not depend on whether they see it.
WARDEN_KERNEL void settle(settle_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.size, [&](std::uint64_t c) {
    std::uint32_t root = simt::load_relaxed(&a.joined[c]);
    for (std::uint32_t next; (next = simt::load_relaxed(&a.joined[root])) != root;) root = next;
    simt::store_relaxed(&a.joined[c], root);
  });
}

WARDEN_KERNEL void label_all(label_arguments a) {
  simt::assume_one_dimension();
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) *a.components = a.numbers[a.size];
  apps::for_my_share(a.size, [&](std::uint64_t c) { a.label[c] = a.numbers[a.joined[c]]; });
}

WARDEN_KERNEL void rename(rename_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.size, [&](std::uint64_t c) {
    a.now[c] = a.label[a.first ? static_cast<std::uint32_t>(c) : a.now[c]];
  });
}

WARDEN_KERNEL void sample_weights(sample_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(sampled, [&](std::uint64_t i) { a.sample[i] = a.weights[i * a.n / sampled]; });
}

}  // namespace

void join_by_arcs_async(join_arguments const& a) { run(&join_by_arcs, a); }
void join_by_candidates_async(join_arguments const& a) { run(&join_by_candidates, a); }
void settle_async(settle_arguments const& a) { run(&settle, a); }
void label_async(label_arguments const& a) { run(&label_all, a); }
void rename_async(rename_arguments const& a) { run(&rename, a); }
void sample_async(sample_arguments const& a) { run(&sample_weights, a); }

}  // namespace spanning_forest
