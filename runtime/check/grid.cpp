// SPDX-License-Identifier: Apache-2.0
// The barrier of a cooperative launch's grid.

#include "grid.hpp"

#include "../sim/machine.hpp"
#include "include/cooperative_groups.h"
#include "include/cuda/atomic"

#include <map>

namespace warden::check {
namespace {

/// Blocks that have come, one word a launch. Reused: no program has as many launches that wait.
unsigned long long arrivals[64];
unsigned launches = 0;
/// Launch of the thread that runs.
sim::running_launch const& launch() { return *sim::machine::now->current().home->of; }
/// The word of each cooperative launch. A later launch may have the address of one that has ended.
std::map<sim::running_launch const*, unsigned long long*> arrived;

}  // namespace

std::function<void()> with_grid_barrier(std::function<void()> body) {
  unsigned long long* const own = &arrivals[launches++ % std::size(arrivals)];
  *own = 0;
  return [own, body = std::move(body)] {
    arrived[&launch()] = own;
    body();
  };
}

bool is_cooperative() { return launch().kernel.shape.cooperative; }
bool in_kernel() { return sim::machine::now != nullptr; }

void sync_grid(site const& where) {
  if (!is_cooperative())
    sim::device::misuse("the grid synchronizes in a launch that is not cooperative", where);
  unsigned long long* const count = arrived.at(&launch());
  simt::sync_block(where);
  if (simt::thread_rank() == 0) {
    // The fence and the addition release what the block did, and the fence after the loop acquires
    // what all blocks did. The barriers of the block do that among its threads.
    __threadfence(where);
    unsigned long long const blocks = gridDim.count();
    unsigned long long const all = (atomicAdd(count, 1ull, where) / blocks + 1) * blocks;
    while (__ldcg(count, where) < all) {
    }
    __threadfence(where);
  }
  simt::sync_block(where);
}

}  // namespace warden::check
