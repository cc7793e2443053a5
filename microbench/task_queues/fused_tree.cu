// SPDX-License-Identifier: Apache-2.0
// A tree of tasks by sections that send sections.

#include "microbench/task_queues/visit.cuh"

#include <warden/fused.cuh>

#include <cstdint>
#include <memory>
#include <optional>

namespace task_queues {
namespace {

/// The task of a vertex, whose count is its record.
struct visit_section {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned sends_sections = 2;
  std::uint32_t vertex, size;
  task_cost cost;

  template <class Next>
  __device__ void operator()(std::uint32_t& ran, warden::no_context, Next& next) const {
    ran += cost.work(vertex);
    for (std::uint32_t child = 2 * vertex + 1; child < 2 * vertex + 3 && child < size; ++child)
      next.send(child, visit_section{child, size, cost});
  }
};
using vertex_counts = warden::guarded<std::uint32_t, visit_section>;

/// Sends the section of the root.
struct send_root {
  visit_section root;

  __device__ void operator()(warden::virtual_block const& at,
                             vertex_counts::ref const& counts) const {
    vertex_counts::block_client client{counts, at};
    client.send(root.vertex, root, at.global_rank() == 0);
    client.flush();
  }
};

class fused_runner final : public task_runner<std::uint32_t, visit> {
 public:
  void fill_async(std::uint32_t const& first) override { first_ = first; }
  void run_async(visit const& f) override {
    // The first time is the warm-up. Then there is room for the widest level.
    if (!counts_) {
      counts_.emplace(f.ran, f.size, warden::guarded_options{.forward_capacity = 1u << 15});
    }
    warden::launch_fused(send_root{{first_, f.size, f.cost}}, 1, {}, *counts_);
  }
  void wait() override { counts_->wait(); }

 private:
  std::uint32_t first_ = 0;
  std::optional<vertex_counts> counts_;
};

}  // namespace

std::unique_ptr<task_runner<std::uint32_t, visit>> make_fused_runner() {
  return std::make_unique<fused_runner>();
}

}  // namespace task_queues
