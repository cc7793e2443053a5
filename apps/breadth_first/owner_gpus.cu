// SPDX-License-Identifier: Apache-2.0
// A rank for each GPU.

#include "apps/breadth_first/owner_gpus.cuh"

#include <warden/stream.hpp>

#include <algorithm>
#include <mutex>

namespace breadth_first {

search_on_gpus find_on_gpus(int gpus, graph::csr const& out, graph::csr const& in,
                            graph::vertex source) {
  partition const parts = deal_by_degree(out, in, static_cast<std::uint32_t>(gpus));
  search_on_gpus found{owner_answer{out.vertices()}, {}};
  std::mutex mutex;
  warden::run_on_gpus(gpus, [&](warden::communicator const& world) {
    owner_searcher finder{world, parts, out, in};
    warden::timer clock;
    clock.start();
    finder.find(source);
    clock.stop();
    double const seconds = clock.result().seconds;
    finder.write_to(found.answer);
    std::lock_guard const lock{mutex};
    found.facts = finder.facts();
    found.seconds = std::max(found.seconds, seconds);
  });
  return found;
}

}  // namespace breadth_first
