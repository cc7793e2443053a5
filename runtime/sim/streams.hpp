// SPDX-License-Identifier: Apache-2.0
// Streams of the simulated device: queues of work that runs late, events, captures, and launches of
// different streams that run at once.
#pragma once

#include "machine.hpp"

#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// One copy, fill or mark, or a kernel.
using work = std::variant<std::function<void()>, kernel_launch>;

/// A place in a stream, recorded by an event.
struct mark {
  bool reached = false;
};

/// Captured work, in its order.
using captured_work = std::vector<work>;

/// One stream.
struct queue {
  struct item {
    work run;
    std::shared_ptr<mark const> waits_for{};  ///< runs only once this is reached, if set
    std::shared_ptr<mark> reaches{};          ///< reached when the item has run
  };
  std::deque<item> items;
  running_launch const* running = nullptr;  ///< the items come after it
  bool destroyed = false;                   ///< destroyed by its owner; its work still runs
  bool captures = false;
  std::thread::id capturing_thread{};
  bool capture_failed = false;
  captured_work captured;

  [[nodiscard]] bool is_ready() const {
    return running == nullptr && !items.empty() &&
           (items.front().waits_for == nullptr || items.front().waits_for->reached);
  }
};

/// All streams of the device. Enqueued work runs when something waits for it, each stream in its
/// order, different ones in an order that the seed chooses. An error of any work ends all enqueued
/// work, and is thrown by the wait that ran it.
///
/// A launch that runs alone and those of other streams that begin before all have ended run on one
/// machine. The threads of a launch know the work that precedes it in its stream, or by an event.
class streams {
 public:
  streams();

  /// Finishes everything; the choices and the count of calls begin again. Throws what the work
  /// throws.
  void configure(std::uint64_t seed, bool late);

  queue* create();
  void destroy(queue* q) noexcept;

  // Each of these is one of at most `settings::max_host_calls` calls of the host; the next one
  // throws misuse_error.

  /// Throws cuda_error when a capture has failed.
  void enqueue(stream_ref s, work w, std::source_location where);
  // These cannot be captured: they throw cuda_error during a capture of the stream.
  [[nodiscard]] std::shared_ptr<mark const> record(stream_ref s, std::source_location where);
  void wait(stream_ref s, std::shared_ptr<mark const> m, std::source_location where);
  // These throw what the work throws; the first one cuda_error while the stream is captured.
  void synchronize(stream_ref s, std::source_location where);
  void synchronize(mark const& m, std::source_location where);

  /// Throws what the work throws, and misuse_error if the host wrote outside of allocations.
  void finish_all();
  /// An error is kept for the next wait.
  void finish_all_quietly() noexcept;

  // Throw cuda_error as CUDA would.
  void begin_capture(stream_ref s, std::source_location where);
  captured_work end_capture(stream_ref s, std::source_location where);
  [[nodiscard]] bool capturing(stream_ref s, std::source_location where) const {
    return queue_of(s, where).captures;
  }
  /// True if this thread captures a stream. Calls that enqueue nothing are then forbidden, and
  /// invalidate the thread's captures.
  bool forbidden_by_capture();

  /// Work of a stream has written `bytes` bytes.
  void note_written(void const* memory, std::size_t bytes);

 private:
  [[nodiscard]] queue& queue_of(stream_ref s, std::source_location where) const;
  void count_call(std::source_location where);
  void push(queue& q, queue::item i);
  /// Runs work until `done()`, that of `wanted` first, if given.
  template <class Done>
  void run_until(Done done, queue const* wanted);
  queue& choose(queue const* wanted, std::uint32_t others_turns);
  void run_front(queue& q);
  // See concurrent_launches.cpp.
  void run_launches(queue& q, kernel_launch const& kernel);
  void begin(queue& q, kernel_launch const& kernel);
  void end(running_launch const& l);
  void begin_more();
  void plan_next();
  [[nodiscard]] bool can_begin(queue const& q) const;
  [[nodiscard]] std::string waiting_launches() const;
  void learn(void const* place, void const* from);
  void drop_everything();
  void drop_destroyed();
  void throw_kept_error();

  /// The streams in the order of their creation, so that choices do not hang on addresses.
  std::vector<std::unique_ptr<queue>> queues_;
  random_numbers choices_{0};
  bool late_ = true;
  std::uint64_t calls_ = 0;  ///< calls of the host since `configure`
  std::exception_ptr kept_error_;
  machine* machine_ = nullptr;  ///< machine of the launches that run
  unsigned running_ = 0;        ///< launches on it
  unsigned begun_ = 0;          ///< launches on it so far
  /// [queue or mark] knowledge there of the work that ran on the machine.
  std::unordered_map<void const*, knowledge_ptr> known_;
};

/// The program's. Only under `lock_device`.
streams& all_streams();
/// The counts of all launches that have ended without error; waits for none.
counts counts_so_far();
/// The seed of the next launch.
std::uint64_t next_launch_seed();
/// True if launches that begin now count sectors.
bool sectors_count();
/// Notes that a launch has ended, in error or not.
void note_report(report const& r, bool failed);
/// Several host threads may call the runtime; each call has the device to itself.
std::unique_lock<std::recursive_mutex> lock_device();

/// Counts and enqueues a request of the host.
void enqueue(stream_ref s, work w, std::source_location where);
/// CUDA's number for an invalid argument.
inline constexpr int cuda_error_invalid_value = 1;

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
