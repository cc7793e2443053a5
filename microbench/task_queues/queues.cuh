// SPDX-License-Identifier: Apache-2.0
// The arms that run tasks: each has `fill_async(task)`, `run_async(f)` and `wait()`.
#pragma once

#include "microbench/task_queues/broker.cuh"

#include <warden/task_queue.cuh>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace task_queues {

/// Threads of a block that runs tasks.
inline constexpr unsigned threads = 256;

/// A queue whose tasks `Function` runs.
template <class Task, class Function>
class task_runner {
 public:
  virtual ~task_runner() = default;
  /// Pushes the first task, and readies the queue. Enqueued.
  virtual void fill_async(Task const& first) = 0;
  /// Enqueued. This is timed.
  virtual void run_async(Function const& f) = 0;
  /// Blocks the host, and throws everything that went wrong.
  virtual void wait() = 0;
};

template <class Task, class Function, class Policy>
class warden_runner final : public task_runner<Task, Function> {
 public:
  explicit warden_runner(std::uint32_t log2_slots)
      : queue_{std::uint64_t{1} << log2_slots}, first_(1) {}
  void fill_async(Task const& first) override {
    warden::copy(first_.data(), &first, 1);
    warden::stream_ref{}.synchronize();  // `first` is the caller's
    queue_.fill_async(first_.data(), 1);
  }
  void run_async(Function const& f) override { warden::run_tasks<threads>(queue_, f); }
  void wait() override { queue_.wait(); }

 private:
  warden::task_queue<Task, Policy> queue_;
  warden::buffer<Task> first_;
};

template <class Task, class Function>
class broker_runner final : public task_runner<Task, Function> {
 public:
  explicit broker_runner(std::uint32_t log2_slots) : queue_{log2_slots} {}
  void fill_async(Task const& first) override {
    warden::launch(&push_first<Task>, 1, simt::warp_size, {}, queue_.ref(), first);
  }
  void run_async(Function const& f) override {
    auto const kernel = &run_broker_tasks<Task, Function>;
    // Each of thousands of waiting threads would take time on the simulated device.
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    auto const blocks = simulated ? 1u
                                  : static_cast<unsigned>(warden::runtime::resident_blocks(
                                        simt::make_kernel(kernel), threads, 0));
    warden::launch(kernel, blocks, threads, {}, queue_.ref(), f);
  }
  void wait() override { warden::stream_ref{}.synchronize(); }

 private:
  broker_queue<Task> queue_;
};

/// Returns the queue of an arm, with `2^log2_slots` slots.
template <class Task, class Function>
std::unique_ptr<task_runner<Task, Function>> make_runner(std::string const& arm,
                                                         std::uint32_t log2_slots) {
  namespace policy = warden::queue_policy;
  if (arm == "central")
    return std::make_unique<warden_runner<Task, Function, policy::central>>(log2_slots);
  if (arm == "per_block")
    return std::make_unique<warden_runner<Task, Function, policy::per_block>>(log2_slots);
  if (arm == "donating")
    return std::make_unique<warden_runner<Task, Function, policy::donating>>(log2_slots);
  if (arm == "stealing")
    return std::make_unique<warden_runner<Task, Function, policy::stealing>>(log2_slots);
  return std::make_unique<broker_runner<Task, Function>>(log2_slots);
}

/// The queues of all arms of a point, made when they are first needed.
template <class Task, class Function>
class runners {
 public:
  explicit runners(std::uint32_t log2_slots) : log2_slots_{log2_slots} {}
  task_runner<Task, Function>& of(std::string const& arm) {
    auto& runner = all_[arm];
    if (!runner) runner = make_runner<Task, Function>(arm, log2_slots_);
    return *runner;
  }

 private:
  std::uint32_t log2_slots_;
  std::map<std::string, std::unique_ptr<task_runner<Task, Function>>> all_;
};

}  // namespace task_queues
