// SPDX-License-Identifier: Apache-2.0
// Points that measure pairs of push and pop.

#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/task_queues/broker.cuh"
#include "microbench/task_queues/points.hpp"

#include <warden/task_queue.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace task_queues {
namespace {

using task = std::uint32_t;

/// Sums of all pushed or popped tasks.
struct sums {
  std::uint64_t count, plain, mixed;

  WARDEN_DEVICE void add(task t) {
    std::uint64_t x = t + 1;
    x = (x ^ (x >> 16)) * 0x9e3779b97f4a7c15ull;
    ++count;
    plain += t;
    mixed += x ^ (x >> 32);
  }
  WARDEN_DEVICE void give(sums* all) const {
    simt::add(&all->count, count);
    simt::add(&all->plain, plain);
    simt::add(&all->mixed, mixed);
  }
};
/// Arguments of the kernels. Thread i pushes i, i + the number of threads, and so on.
struct pairs {
  std::uint32_t rounds;
  sums *pushed, *popped;
};

/// By blocks of `Threads` threads. A block that has pushed all its tasks pops until none is left.
/// Tasks that other blocks push after that are popped by those blocks.
template <unsigned Threads, class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1) push_and_pop_by_blocks(Ref queue, pairs a) {
  using worker_type = warden::block_worker<Threads, Ref>;
  worker_type worker{queue,
                     *reinterpret_cast<typename worker_type::storage*>(simt::dynamic_shared())};
  sums pushed{}, popped{};
  task const me = simt::block_rank() * Threads + simt::thread_rank();
  for (std::uint32_t round = 0;;) {
    bool const pushes = round < a.rounds;
    if (pushes) {
      task const mine = me + round++ * simt::block_count() * Threads;
      if (worker.push(mine)) pushed.add(mine);
    }
    task t;
    warden::pop_result const got = worker.pop(t);
    if (got == warden::pop_result::task) popped.add(t);
    if (got == warden::pop_result::finished && !pushes) break;
  }
  pushed.give(a.pushed);
  popped.give(a.popped);
}
WARDEN_KERNEL void push_and_pop_by_threads(broker_worker<task> queue, pairs a) {
  sums pushed{}, popped{};
  task const me = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  for (std::uint32_t round = 0; round < a.rounds; ++round) {
    task const mine = me + round * simt::block_count() * simt::block_threads();
    task t;
    if (queue.push(mine)) pushed.add(mine);
    while (!queue.pop(t)) simt::back_off(0);
    queue.complete();
    popped.add(t);
  }
  pushed.give(a.pushed);
  popped.give(a.popped);
}

class pairs_point final : public bench::timed_point {
  using queue_type = warden::task_queue<task, warden::queue_policy::central>;

 public:
  explicit pairs_point(std::uint32_t threads) : threads_{threads} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm == "central" || arm == "broker";
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "pairs/empty/" + arm + "/keys:" + std::to_string(threads_);
  }

 private:
  static constexpr std::uint32_t log2_slots = 18;

  /// Pushes and pops of all threads.
  [[nodiscard]] std::uint32_t operations() const override { return 2 * threads_ * rounds(); }
  [[nodiscard]] std::uint32_t rounds() const {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    return simulated ? 2 : std::max(100u, (1u << 24) / threads_);
  }
  void set_up(std::uint32_t) override {
    queue_.emplace(std::uint64_t{1} << log2_slots);
    broker_.emplace(log2_slots);
    sums_.emplace(2);
  }
  bench::run_result run(std::string const& arm, std::uint32_t, std::uint64_t) override {
    sums_->fill_bytes(0);
    pairs const arguments{rounds(), sums_->data(), sums_->data() + 1};
    bench::run_result result;
    if (arm == "broker") {
      result.cost = bench::device_time([&] {
        warden::launch(&push_and_pop_by_threads, threads_ / 256, 256, {}, broker_->ref(),
                       arguments);
      });
    } else {
      result.cost = bench::device_time([&] {
        threads_ < 65536 ? launch_blocks<256>(arguments) : launch_blocks<512>(arguments);
      });
      queue_->wait();
    }
    auto const all = sums_->to_host();
    result.verified = all[0].count == std::uint64_t{threads_} * rounds() &&
                      all[0].count == all[1].count && all[0].plain == all[1].plain &&
                      all[0].mixed == all[1].mixed;
    return result;
  }
  void prepare(std::string const& arm, std::uint32_t, bench::row& r) override {
    r.verified = run(arm, 0, 0).verified;  // the warm-up
  }
  template <unsigned Threads>
  void launch_blocks(pairs const& arguments) {
    using storage = typename warden::block_worker<Threads, queue_type::ref_type>::storage;
    warden::launch(&push_and_pop_by_blocks<Threads, queue_type::ref_type>,
                   {threads_ / Threads, Threads, sizeof(storage)}, {}, queue_->ref(), arguments);
  }
  void tear_down() override {
    queue_.reset();
    broker_.reset();
    sums_.reset();
  }

  std::uint32_t threads_;
  std::optional<queue_type> queue_;
  std::optional<broker_queue<task>> broker_;
  std::optional<warden::buffer<sums>> sums_;
};

}  // namespace

std::shared_ptr<bench::point> make_pairs_point(std::uint32_t threads) {
  return std::make_shared<pairs_point>(threads);
}

}  // namespace task_queues
