// SPDX-License-Identifier: Apache-2.0
/// @file
/// Control of the simulated device: its size, its schedules and its memory, and the counts of a
/// launch.
#pragma once

#include <warden/error.hpp>
#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
/// Control of the simulated device. Programs for a GPU do not have it.
namespace sim {

/// Choice of the thread that runs next.
enum class schedule {
  random,  ///< any runnable thread may go next; one block at a time for a while
  pct,     ///< always the runnable thread of highest priority, with a few changes of priority
};

/// Limits of one compute capability, from the CUDA programming guide.
struct device_profile {
  std::string_view name;           ///< "7.5", or "default"
  int threads_per_multiprocessor;  ///< resident threads
  int blocks_per_multiprocessor;   ///< resident blocks
  unsigned blocks_per_cluster;     ///< blocks of the largest cluster; 1: the device has no clusters
  unsigned registers_per_multiprocessor;        ///< registers of 32 bits
  std::size_t shared_bytes_per_multiprocessor;  ///< shared memory, in bytes
  std::size_t shared_bytes_per_block;           ///< most dynamic shared memory of a block
  std::size_t reserved_shared_bytes_per_block;  ///< taken by the system for each block
  bool bulk_copies;  ///< the hardware copies rows to shared memory (`simt/bulk_copy.cuh`)

  /// True if all members are equal.
  friend bool operator==(device_profile const&, device_profile const&) = default;
};
/// Returns the profile of that name: "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0", or
/// "default", which is 9.0 with 8 resident blocks a multiprocessor. Throws limit_error for any
/// other name.
device_profile const& find_profile(std::string_view name);
/// Returns the profile that `WARDEN_SIM_PROFILE` names, or "default". Throws as find_profile.
device_profile const& chosen_profile();

/// Settings of the simulated device. Runs are deterministic: equal settings give equal runs.
struct settings {
  /// Every choice of a launch follows from the seed and the number of launches since `configure`.
  std::uint64_t seed = 1;
  schedule order = schedule::random;  ///< how the next thread is chosen
  unsigned pct_changes = 8;  ///< priority changes a launch, within its first `pct_horizon` steps
  std::uint64_t pct_horizon = 200'000;  ///< in steps; see `pct_changes`
  /// Loads return older values wherever the memory model allows it. False: loads always return the
  /// newest values.
  bool weak_memory = true;
  /// One in `stale_loads` loads that may return an older value does, in a thread that does not lag.
  unsigned stale_loads = 4;
  /// A launch in which every thread sleeps is an error at once, instead of after a lapse of time.
  bool deadlock_is_error = false;
  /// Enqueued work runs only when something waits for it, different streams in an order that the
  /// seed chooses. False: it has run when the call that enqueues it returns.
  bool late_streams = true;
  /// Counts 32-byte sectors of warp accesses; slow.
  bool count_sectors = false;
  /// Adds the launches to the memory report; slow. `WARDEN_SIM_REPORT=memory` does so, too, and
  /// prints the report when the program ends.
  bool report_memory = false;
  /// Steps after which a launch is stopped with an error. A step takes 0.05 to 0.4 microseconds.
  std::uint64_t max_steps = 150'000'000;
  /// Calls of streams and events since `configure` after which the next call throws misuse_error,
  /// because the host is in an endless loop.
  std::uint64_t max_host_calls = 200'000;
  /// Steps without progress after which a launch is stopped with an error. In such a step no thread
  /// changes memory, begins or ends. Each thread that can run only repeats reads that it did
  /// before, in loops through barriers and warp collectives, too. No thread is in `wait_until` or
  /// reads the clock. The default takes about half a second, and is more than any launch computes
  /// without a store.
  std::uint64_t max_quiet_steps = 4'000'000;
  /// Seconds that a thread may run without a scheduling point, that is, in a loop of plain or
  /// `volatile` accesses alone. After that the program ends with exit status 1 and a message on
  /// standard error. 0: never. Device code comes to its next scheduling point within microseconds,
  /// so only a program that is very slow otherwise needs a larger limit.
  std::uint64_t watchdog_seconds = 30;
  // Device that the library sees.
  int multiprocessors = 4;  ///< multiprocessors of the device
  /// Profile that gives the limits below, unless they are set.
  device_profile const* profile = &chosen_profile();
  /// Resident threads of a multiprocessor.
  int threads_per_multiprocessor = profile->threads_per_multiprocessor;
  /// Resident blocks of a multiprocessor.
  int blocks_per_multiprocessor = profile->blocks_per_multiprocessor;
  /// Blocks of the largest cluster; 1: the device has no clusters.
  unsigned blocks_per_cluster = profile->blocks_per_cluster;
  /// Registers of 32 bits. Code of the simulated device uses none.
  unsigned registers_per_multiprocessor = profile->registers_per_multiprocessor;
  /// Shared memory of a multiprocessor. Units: bytes.
  std::size_t shared_bytes_per_multiprocessor = profile->shared_bytes_per_multiprocessor;
  /// Dynamic shared memory of a block, at most. Units: bytes.
  std::size_t shared_bytes_per_block = profile->shared_bytes_per_block;
  /// Shared memory that each resident block takes in addition to its own. Units: bytes.
  std::size_t reserved_shared_bytes_per_block = profile->reserved_shared_bytes_per_block;
  /// The hardware copies to shared memory. False: threads do, as below compute capability 9.0.
  bool bulk_copies = profile->bulk_copies;
  /// Device memory. Allocating more throws cuda_error. Units: bytes.
  std::size_t global_bytes = std::size_t{4} << 30;
  std::size_t cache_bytes = std::size_t{50} << 20;  ///< level-2 cache. Units: bytes
  bool cooperative_launch = true;                   ///< false: guarded arrays are refused
  /// Cooperative launches of more blocks than this are refused as too large, at any occupancy.
  unsigned refuse_blocks_over = 0xffffffffu;
  /// Number, counted from 1, of the launch after `configure` that throws cuda_error and is not
  /// enqueued.
  std::uint64_t failing_launch = 0;
  /// Number of launches that throw, from `failing_launch` on.
  std::uint64_t failing_launches = 1;
};

/// Sets the settings of the following launches, and starts the count of launches again. Work that
/// is enqueued already runs first; throws its errors.
void configure(settings const& chosen);
/// Returns the settings configured last. At first they are the defaults, with the numbers of the
/// environment variables `WARDEN_SEED`, `WARDEN_MAX_STEPS`, `WARDEN_MAX_QUIET_STEPS`,
/// `WARDEN_WATCHDOG_SECONDS`, `WARDEN_MAX_HOST_CALLS` and `WARDEN_SIM_MULTIPROCESSORS` if they are
/// set. Throws limit_error for a number of multiprocessors that is not from 1 to 1,024.
settings const& current_settings();

/// Calls `run` once for each seed from `first` to `end - 1`, and compares the texts that it
/// returns. The settings are the current ones except for the seed and the order, which is
/// `schedule::pct` for even seeds. Returns "no race found; results differ between seeds 3 and 7
/// ..." with the first lines that differ, or an empty text if all results are equal. Throws what
/// `run` throws.
std::string compare_seeds(std::uint64_t first, std::uint64_t end,
                          std::function<std::string()> const& run);

/// Counts of the library's operations. They describe the schedule that ran, not a GPU.
struct counts {
  std::uint64_t global_atomics = 0;   ///< atomics on global memory
  std::uint64_t global_loads = 0;     ///< loads from global memory; a flit is one
  std::uint64_t global_stores = 0;    ///< stores to global memory; a flit is one
  std::uint64_t shared_accesses = 0;  ///< loads, stores and atomics on shared memory
  std::uint64_t fences = 0;           ///< device and block fences
  std::uint64_t sectors = 0;          ///< only with settings::count_sectors, or between timer marks
  std::uint64_t messages = 0;         ///< messages sent by clients
  std::uint64_t reservations = 0;     ///< reservations of slots for messages
  std::uint64_t lock_retries = 0;     ///< failed tries for a lock, global or in a server's table
  std::uint64_t deadlocks = 0;        ///< launches with `report::deadlock`

  /// Adds each count.
  counts& operator+=(counts const& more);
};

/// Report of one launch.
struct report {
  std::uint64_t steps = 0;        ///< platform operations
  std::uint64_t switches = 0;     ///< switches to another thread
  std::uint64_t nanoseconds = 0;  ///< time that device code observed: see simt::nanoseconds
  std::uint64_t trace_hash = 0;   ///< equal for two runs that did the same in the same order
  bool deadlock = false;          ///< true if at some time every thread slept and no event was left
  std::string deadlock_text;      ///< place where each thread slept then
  sim::counts counts;             ///< work of this launch
};
/// Returns the report of the last launch that ended, in error or not. Work that is enqueued runs
/// first; throws its errors.
report const& last_report();
/// Returns the counts of all launches of the program that ended without error. Work that is
/// enqueued runs first; throws its errors.
counts total_counts();

/// Accesses of warps to one kind of memory, of one kind, from one line of the source.
struct line_accesses {
  std::string line;                 ///< "tile.cu:40"
  std::string effect;               ///< "load", "store" or "atomic"
  bool shared = false;              ///< to shared memory; false: to global memory
  std::uint64_t accesses = 0;       ///< one for all lanes of a warp that access together
  std::uint64_t conflicts = 0;      ///< bank conflicts; 0 in global memory
  std::uint64_t sectors = 0;        ///< 32-byte sectors touched; 0 in shared memory
  std::uint64_t ideal_sectors = 0;  ///< 32-byte sectors that the bytes would fill
};
/// Costs of the accesses of warps.
struct memory_lines {
  std::vector<line_accesses> lines;    ///< one for each line and kind of access
  std::vector<std::string> uncounted;  ///< places whose accesses are not counted, and why
};
/// Returns the sums of the launches that ended in the program, if settings::report_memory was set
/// for them. Work that is enqueued runs first; throws its errors.
memory_lines memory_report();
/// Forgets these launches. Work that is enqueued runs first; throws its errors.
void clear_memory_report();
/// Returns a table of the lines that cost most, then of what is not counted.
std::string to_text(memory_lines const& report);

/// Calls of the host to the runtime since `configure`.
struct host_calls {
  std::uint64_t synchronizations = 0;   ///< synchronizations of streams
  std::uint64_t in_default_stream = 0;  ///< copies, fills and launches in the default stream
  std::uint64_t in_other_streams = 0;   ///< copies, fills and launches in other streams
  std::uint64_t launches = 0;           ///< launches of kernels, failed ones included
};
/// Returns the counts of the calls of all threads of the program.
host_calls calls_since_configure();

/// A program did something forbidden on the device. The message names the thread and its place, and
/// the places of all other threads.
class misuse_error : public error {
 public:
  /// Makes an error. `message` is one line; `details` are further lines, each with a line break
  /// before it.
  explicit misuse_error(std::string const& message,
                        std::source_location where = std::source_location::current(),
                        std::string const& details = "");
  /// Returns the message with its place, "(file:line)", and the details.
  [[nodiscard]] char const* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
