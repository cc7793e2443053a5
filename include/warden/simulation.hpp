// SPDX-License-Identifier: Apache-2.0
/// @file
/// Control of the simulated device: its size, its schedules and its memory, and what a launch on it
/// did.
#pragma once

#include <warden/error.hpp>
#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

WARDEN_HOST_NAMESPACE_BEGIN
/// Control of the simulated device; programs for a GPU do not have it.
namespace sim {

/// How the thread that goes on next is chosen.
enum class schedule {
  random,  ///< any runnable thread may go next; one block at a time for a while
  pct,     ///< always the runnable thread of highest priority, with a few changes of priority
};

/// Limits of one compute capability, by the CUDA programming guide.
struct device_profile {
  std::string_view name;                        ///< "7.5", or "default"
  int threads_per_multiprocessor;               ///< resident threads
  int blocks_per_multiprocessor;                ///< resident blocks
  unsigned blocks_per_cluster;                  ///< of the largest cluster; 1: the device has none
  unsigned registers_per_multiprocessor;        ///< registers of 32 bits
  std::size_t shared_bytes_per_multiprocessor;  ///< shared memory, in bytes
  std::size_t shared_bytes_per_block;           ///< most dynamic shared memory of a block
  std::size_t reserved_shared_bytes_per_block;  ///< taken by the system for each block
};
/// Returns the profile of that name: "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0", or
/// "default", which is 9.0 with 8 resident blocks a multiprocessor. Throws limit_error for any
/// other name.
device_profile const& find_profile(std::string_view name);
/// Returns the profile that `WARDEN_SIM_PROFILE` names, or "default". Throws as find_profile.
device_profile const& chosen_profile();

/// What one simulated device is like. Runs are deterministic: equal settings, equal runs.
struct settings {
  /// Every choice of a launch follows from this and the number of launches since `configure`.
  std::uint64_t seed = 1;
  schedule order = schedule::random;  ///< how the next thread is chosen
  unsigned pct_changes = 8;  ///< priority changes a launch, within its first `pct_horizon` steps
  std::uint64_t pct_horizon = 200'000;  ///< in steps; see `pct_changes`
  /// Loads return older values wherever the memory model allows it; off: the newest ones always.
  bool weak_memory = true;
  /// One in so many loads that may return an older value does, of a thread that does not lag.
  unsigned stale_loads = 4;
  /// A launch in which every thread sleeps is an error at once, instead of a lapse of time.
  bool deadlock_is_error = false;
  /// What is enqueued runs only when something waits for it, different streams in an order of the
  /// seed's choice. Otherwise it has run when the call that enqueued it returns.
  bool late_streams = true;
  /// Count 32-byte sectors of warp accesses; slow.
  bool count_sectors = false;
  /// A launch that takes more steps than this is stopped with an error. A step takes 0.05 to 0.4
  /// microseconds.
  std::uint64_t max_steps = 150'000'000;
  /// The next call throws misuse_error when the host has called streams and events as often since
  /// `configure`: a loop of the host without end.
  std::uint64_t max_host_calls = 200'000;
  /// A launch is stopped with an error when for this many steps no thread has changed memory, begun
  /// or ended, each thread that can run has only read again what it had read, in loops through
  /// barriers and warp collectives, too, and none is in `wait_until` or reads the clock. The
  /// default takes about half a second, and is more than any launch computes without a store.
  std::uint64_t max_quiet_steps = 4'000'000;
  /// The program ends with exit status 1 and a message on standard error when a thread runs for
  /// this many seconds without a scheduling point: a loop by plain or `volatile` accesses alone.
  /// 0: never. Device code comes to its next scheduling point within microseconds, so only a
  /// program that is very slow otherwise needs a larger limit.
  std::uint64_t watchdog_seconds = 30;
  // The device that the library sees.
  int multiprocessors = 4;  ///< multiprocessors of the device
  /// The profile whose limits the next members have, unless they are set.
  device_profile const* profile = &chosen_profile();
  /// Resident threads a multiprocessor holds.
  int threads_per_multiprocessor = profile->threads_per_multiprocessor;
  /// Resident blocks a multiprocessor holds.
  int blocks_per_multiprocessor = profile->blocks_per_multiprocessor;
  /// Blocks of the largest cluster; 1: the device has no clusters.
  unsigned blocks_per_cluster = profile->blocks_per_cluster;
  /// Registers of 32 bits; code of the simulated device uses none.
  unsigned registers_per_multiprocessor = profile->registers_per_multiprocessor;
  /// Shared memory of a multiprocessor, in bytes.
  std::size_t shared_bytes_per_multiprocessor = profile->shared_bytes_per_multiprocessor;
  /// The most dynamic shared memory of a block, in bytes.
  std::size_t shared_bytes_per_block = profile->shared_bytes_per_block;
  /// Shared memory that each resident block takes in addition to its own, in bytes.
  std::size_t reserved_shared_bytes_per_block = profile->reserved_shared_bytes_per_block;
  /// Device memory, in bytes; allocating more throws cuda_error.
  std::size_t global_bytes = std::size_t{4} << 30;
  std::size_t cache_bytes = std::size_t{50} << 20;  ///< level-2 cache, in bytes
  bool cooperative_launch = true;                   ///< false: guarded arrays are refused
  /// Cooperative launches of more blocks than this are refused as too large, whatever the
  /// occupancy.
  unsigned refuse_blocks_over = 0xffffffffu;
  /// Number, from 1 on, of the launch after `configure` that throws cuda_error and is not enqueued.
  std::uint64_t failing_launch = 0;
};

/// The settings of the following launches; the count of launches begins again. What is enqueued
/// runs first, and its errors are thrown.
void configure(settings const& chosen);
/// The settings last configured; at first the defaults, with the numbers of the environment
/// variables `WARDEN_SEED`, `WARDEN_MAX_STEPS`, `WARDEN_MAX_QUIET_STEPS`,
/// `WARDEN_WATCHDOG_SECONDS` and `WARDEN_MAX_HOST_CALLS` if they are set.
settings const& current_settings();

/// Calls `run` once under each seed from `first` to `end - 1`, with the current settings but for
/// the seed and the order, which is `schedule::pct` for even seeds, and compares what it returns.
/// Returns "no race found; results differ between seeds 3 and 7 ..." with the first lines that
/// differ, or nothing if all results are equal. Throws what `run` throws.
std::string compare_seeds(std::uint64_t first, std::uint64_t end,
                          std::function<std::string()> const& run);

/// What the library did; counts describe the schedule that ran, not a GPU.
struct counts {
  std::uint64_t global_atomics = 0;   ///< atomics on global memory
  std::uint64_t global_loads = 0;     ///< loads from global memory; a flit is one
  std::uint64_t global_stores = 0;    ///< stores to global memory; a flit is one
  std::uint64_t shared_accesses = 0;  ///< loads, stores and atomics on shared memory
  std::uint64_t fences = 0;           ///< device and block fences
  std::uint64_t sectors = 0;          ///< only with settings::count_sectors, or between timer marks
  std::uint64_t messages = 0;         ///< sent by clients
  std::uint64_t reservations = 0;     ///< of slots for messages
  std::uint64_t lock_retries = 0;     ///< failed tries for a lock, global or in a server's table
  std::uint64_t deadlocks = 0;        ///< launches with `report::deadlock`

  /// Adds each count.
  counts& operator+=(counts const& more);
};

/// What one launch did.
struct report {
  std::uint64_t steps = 0;        ///< platform operations
  std::uint64_t switches = 0;     ///< times another thread went on
  std::uint64_t nanoseconds = 0;  ///< as device code saw them pass: see simt::nanoseconds
  std::uint64_t trace_hash = 0;   ///< equal for two runs that did the same in the same order
  bool deadlock = false;      ///< at some time every thread slept, and nothing was left to happen
  std::string deadlock_text;  ///< where each thread slept then
  sim::counts counts;         ///< work of this launch
};
/// The report of the last launch that ended, in error or not. What is enqueued runs first, and its
/// errors are thrown.
report const& last_report();
/// The counts of all launches of the program that ended without error. What is enqueued runs first,
/// and its errors are thrown.
counts total_counts();

/// What the host asked of the runtime since `configure`.
struct host_calls {
  std::uint64_t synchronizations = 0;   ///< of streams
  std::uint64_t in_default_stream = 0;  ///< copies, fills and launches
  std::uint64_t in_other_streams = 0;   ///< the same, in streams of one's own
  std::uint64_t launches = 0;           ///< of kernels, failed ones included
};
/// Counts the calls of all threads of the program.
host_calls calls_since_configure();

/// A program did on the device what no program may: the message says which thread, where, and where
/// all other threads were.
class misuse_error : public error {
 public:
  /// `message` is one line; `details` are further ones, each with a line break before it.
  explicit misuse_error(std::string const& message,
                        std::source_location where = std::source_location::current(),
                        std::string const& details = "");
  /// The message with its place, "(file:line)", and the details.
  [[nodiscard]] char const* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
