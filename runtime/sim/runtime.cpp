// SPDX-License-Identifier: Apache-2.0
// The compiled host part on the simulated device: host memory, and work in its streams.

#include "../refuse_block.hpp"
#include "device_memory.hpp"
#include "machine.hpp"
#include "streams.hpp"

#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

namespace sim {
namespace {

/// More than any device has.
constexpr std::uint64_t most_multiprocessors = 1024;

/// Returns the defaults, changed by the environment.
settings first_settings() {
  settings s;
  auto const read = [](char const* name, std::uint64_t& value) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return;
    char const* const end = text + std::strlen(text);
    if (auto const [at, error] = std::from_chars(text, end, value);
        error != std::errc{} || at != end)
      throw limit_error{std::string{name} + ": " + text + " is not a number from 0 to " +
                        std::to_string(~std::uint64_t{0})};
  };
  read("WARDEN_SEED", s.seed);
  read("WARDEN_MAX_STEPS", s.max_steps);
  read("WARDEN_MAX_QUIET_STEPS", s.max_quiet_steps);
  read("WARDEN_WATCHDOG_SECONDS", s.watchdog_seconds);
  read("WARDEN_MAX_HOST_CALLS", s.max_host_calls);
  auto multiprocessors = static_cast<std::uint64_t>(s.multiprocessors);
  read("WARDEN_SIM_MULTIPROCESSORS", multiprocessors);
  if (multiprocessors == 0 || multiprocessors > most_multiprocessors) {
    throw limit_error{"WARDEN_SIM_MULTIPROCESSORS: " + std::to_string(multiprocessors) +
                      " multiprocessors; give 1 to " + std::to_string(most_multiprocessors)};
  }
  s.multiprocessors = static_cast<int>(multiprocessors);
  return s;
}

struct state {
  settings chosen = first_settings();
  std::uint64_t launches = 0;
  /// [kernel] bytes of dynamic shared memory with which it may be launched, where they are more
  /// than `unasked_shared_bytes`.
  std::map<void const*, std::size_t> shared_bytes_allowed;
  bool timed = false;  ///< between the marks of a timer
  report last;
  counts total;
  host_calls calls;
  std::size_t allocated = 0;  ///< bytes
};

state& global() {
  // Never destroyed: see streams.
  static state& s = *new state;
  return s;
}

constexpr int cuda_error_memory_allocation = 2;
constexpr int cuda_error_invalid_configuration = 9;
constexpr int cuda_error_launch_out_of_resources = 701;
constexpr int cuda_error_invalid_cluster_size = 912;
constexpr int cuda_error_stream_capture_unsupported = 900;
/// Dynamic shared memory of a block that a kernel may have without asking, in bytes.
constexpr std::size_t unasked_shared_bytes = 48 * 1024;

void allow(runtime::kernel const& k, std::size_t shared_bytes) {
  auto const lock = lock_device();
  std::size_t& allowed = global().shared_bytes_allowed[k.function];
  allowed = std::max(allowed, shared_bytes);
}
bool is_allowed(runtime::kernel const& k, std::size_t shared_bytes) {
  if (shared_bytes <= unasked_shared_bytes) return true;
  auto const found = global().shared_bytes_allowed.find(k.function);
  return found != global().shared_bytes_allowed.end() && shared_bytes <= found->second;
}

/// Number of blocks of this shape that the device holds.
unsigned resident_blocks(runtime::launch_shape const& shape) {
  settings const& s = global().chosen;
  device_room const empty(static_cast<std::size_t>(s.multiprocessors), free_room{s});
  return static_cast<unsigned>(blocks_that_fit(empty, shape));
}

}  // namespace

void configure(settings const& chosen) {
  auto const lock = lock_device();
  all_streams().configure(chosen.seed, chosen.late_streams);
  global().chosen = chosen;
  global().launches = 0;
  global().calls = {};
}
settings const& current_settings() { return global().chosen; }
report const& last_report() {
  auto const lock = lock_device();
  all_streams().finish_all();
  return global().last;
}
counts total_counts() {
  auto const lock = lock_device();
  all_streams().finish_all();
  return global().total;
}
counts counts_so_far() { return global().total; }
void count_sectors(bool on) { global().timed = on; }
bool sectors_count() { return global().chosen.count_sectors || global().timed; }
std::uint64_t next_launch_seed() {
  // A launch of its own seed: the same kernel twice in a test takes two schedules.
  return random_numbers{global().chosen.seed * 0x9e3779b97f4a7c15ull + ++global().launches}.next();
}
void note_report(report const& r, bool failed) {
  global().last = r;
  if (!failed) global().total += r.counts;
}

counts& counts::operator+=(counts const& more) {
  global_atomics += more.global_atomics;
  global_loads += more.global_loads;
  global_stores += more.global_stores;
  shared_accesses += more.shared_accesses;
  fences += more.fences;
  sectors += more.sectors;
  messages += more.messages;
  reservations += more.reservations;
  lock_retries += more.lock_retries;
  deadlocks += more.deadlocks;
  return *this;
}

host_calls calls_since_configure() {
  auto const lock = lock_device();
  return global().calls;
}

void enqueue(stream_ref s, work w, std::source_location where) {
  auto const lock = lock_device();
  ++(s.handle() == nullptr ? global().calls.in_default_stream : global().calls.in_other_streams);
  all_streams().enqueue(s, std::move(w), where);
}

namespace {

/// Throws cuda_error if `bytes` bytes from `address` on begin in device memory and are not all of
/// one allocation.
void demand_range(char const* what, void const* address, std::size_t bytes,
                  std::source_location where) {
  auto const lock = lock_device();
  allocation const* const a = memory().near(address);
  if (a == nullptr || bytes == 0 || a->holds(address, bytes)) return;
  throw cuda_error{
      cuda_error_invalid_value,
      std::string{what} + " " + device_memory::describe(*a, address, bytes) + ": invalid argument",
      where};
}

}  // namespace

misuse_error::misuse_error(std::string const& message, std::source_location where,
                           std::string const& details)
    : error{message, where}, text_{error::what() + details} {
  if (on_misuse != nullptr) on_misuse(text_.c_str());
}

}  // namespace sim

void stream_ref::synchronize(std::source_location where) const {
  auto const lock = sim::lock_device();
  ++sim::global().calls.synchronizations;
  sim::all_streams().synchronize(*this, where);
}

namespace runtime {

std::vector<std::pair<std::string, std::string>> device_details(std::source_location) { return {}; }
int device_count() noexcept { return 1; }
int current_device(std::source_location) { return 0; }

device_facts facts(int ordinal, std::source_location) {
  sim::settings const& s = sim::current_settings();
  device_facts f;
  f.name = "simulated device";
  f.ordinal = ordinal;
  f.simulated = true;
  f.cooperative_launch = s.cooperative_launch;
  f.multiprocessors = s.multiprocessors;
  f.threads_per_multiprocessor = s.threads_per_multiprocessor;
  f.registers_per_multiprocessor = static_cast<int>(s.registers_per_multiprocessor);
  f.shared_bytes_per_block = s.shared_bytes_per_block;
  f.shared_bytes_per_multiprocessor = s.shared_bytes_per_multiprocessor;
  f.reserved_shared_bytes_per_block = s.reserved_shared_bytes_per_block;
  f.global_bytes = s.global_bytes;
  f.cache_bytes = s.cache_bytes;
  return f;
}

device_scope::device_scope(int, std::source_location) : previous_{0} {}
device_scope::~device_scope() = default;

profiled_scope::profiled_scope() noexcept = default;
profiled_scope::~profiled_scope() = default;

void* allocate(std::size_t bytes, std::source_location where) {
  auto const lock = sim::lock_device();
  auto& global = sim::global();
  auto const refuse = [&](int code, std::string const& why) {
    throw cuda_error{
        code, "allocating " + std::to_string(bytes) + " bytes of device memory: " + why, where};
  };
  if (sim::all_streams().forbidden_by_capture()) {
    refuse(sim::cuda_error_stream_capture_unsupported,
           "operation not permitted when stream is capturing");
  }
  if (bytes > global.chosen.global_bytes - std::min(global.allocated, global.chosen.global_bytes))
    refuse(sim::cuda_error_memory_allocation, "out of memory");
  void* const memory = sim::memory().allocate(bytes, where);
  global.allocated += bytes;
  return memory;
}
void deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  auto const lock = sim::lock_device();
  // As on a GPU it fails during a capture, and then the memory stays.
  if (sim::all_streams().forbidden_by_capture()) return;
  sim::all_streams().finish_all_quietly();
  sim::global().allocated -= sim::memory().free(memory);
}
void* allocate_pinned(std::size_t bytes, std::source_location where) {
  return allocate(bytes, where);
}
void deallocate_pinned(void* memory) noexcept { deallocate(memory); }

void copy_async(void* to, void const* from, std::size_t bytes, stream_ref s,
                std::source_location where) {
  sim::demand_range("copying to", to, bytes, where);
  sim::demand_range("copying from", from, bytes, where);
  sim::enqueue(
      s,
      [=] {
        std::memcpy(to, from, bytes);
        sim::all_streams().note_written(to, bytes);
      },
      where);
}
void fill_async(void* to, unsigned char byte, std::size_t bytes, stream_ref s,
                std::source_location where) {
  sim::demand_range("filling", to, bytes, where);
  sim::enqueue(
      s,
      [=] {
        std::memset(to, byte, bytes);
        sim::all_streams().note_written(to, bytes);
      },
      where);
}
bool capturing(stream_ref s, std::source_location where) {
  auto const lock = sim::lock_device();
  return sim::all_streams().capturing(s, where);
}

void allow_shared_bytes(kernel const& k, std::size_t shared_bytes, std::source_location where) {
  std::size_t const most = sim::current_settings().shared_bytes_per_block;
  if (shared_bytes > most) {
    throw limit_error{"a block with " + std::to_string(shared_bytes) +
                          " bytes of dynamic shared memory; the device has " + std::to_string(most),
                      where};
  }
  sim::allow(k, shared_bytes);
}

int blocks_per_multiprocessor(kernel const& k, unsigned threads, std::size_t shared_bytes,
                              std::source_location where) {
  allow_shared_bytes(k, shared_bytes, where);
  int const blocks = sim::free_room{sim::current_settings()}.blocks_of(
      {.blocks = 1, .threads = threads, .shared_bytes = shared_bytes});
  if (blocks == 0) refuse_block(threads, shared_bytes, where);
  return blocks;
}

int registers(kernel const&, std::source_location) { return 0; }
std::size_t local_bytes(kernel const&, std::source_location) { return 0; }
int compiled_for(kernel const&, std::source_location) { return 0; }

int resident_blocks(kernel const& k, unsigned threads, std::size_t shared_bytes,
                    std::source_location where) {
  return blocks_per_multiprocessor(k, threads, shared_bytes, where) *
         sim::current_settings().multiprocessors;
}

int resident_clusters(kernel const& k, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                      std::source_location where) {
  if (cluster > sim::current_settings().blocks_per_cluster) return 0;
  return resident_blocks(k, threads, shared_bytes, where) / static_cast<int>(cluster);
}

launch_result try_launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
                         std::source_location where) {
  auto const lock = sim::lock_device();
  auto const blocks = shape.blocks.count(), threads = shape.threads.count();
  auto const refuse = [&](int code, std::string const& why) {
    throw cuda_error{code,
                     "launching " + std::to_string(blocks) + " blocks of " +
                         std::to_string(threads) + " threads with " +
                         std::to_string(shape.shared_bytes) +
                         " bytes of dynamic shared memory: " + why,
                     where};
  };
  std::uint64_t const launch = ++sim::global().calls.launches;
  std::uint64_t const failing = sim::current_settings().failing_launch;
  if (failing != 0 && launch >= failing &&
      launch - failing < sim::current_settings().failing_launches)
    refuse(sim::cuda_error_launch_out_of_resources, "it is the failing_launch of the settings");
  if (blocks == 0 || threads == 0 || threads > 1024)
    refuse(sim::cuda_error_invalid_configuration, "invalid configuration argument");
  if (shape.cluster == 0 || shape.blocks.x % shape.cluster != 0 ||
      shape.cluster > sim::current_settings().blocks_per_cluster) {
    refuse(sim::cuda_error_invalid_cluster_size,
           "invalid cluster size (" + std::to_string(shape.cluster) + ")");
  }
  if (!sim::is_allowed(k, shape.shared_bytes))
    refuse(sim::cuda_error_invalid_value, "invalid argument");
  unsigned const resident = sim::resident_blocks(shape);
  if (resident == 0)
    refuse(sim::cuda_error_launch_out_of_resources, "too many resources requested for launch");
  if (shape.cooperative && blocks > std::min(resident, sim::current_settings().refuse_blocks_over))
    return launch_result::too_large;
  sim::enqueue(s, sim::kernel_launch{shape, k.bind(k.function, arguments), where}, where);
  return launch_result::launched;
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
