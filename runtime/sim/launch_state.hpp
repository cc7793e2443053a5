// SPDX-License-Identifier: Apache-2.0
// Threads, warps, blocks and launches of the simulated device.
#pragma once

#include "call_places.hpp"
#include "looks.hpp"
#include "occupancy.hpp"
#include "order.hpp"
#include "stacks.hpp"

#include <warden/runtime.hpp>
#include <warden/simt/sim_device.hpp>
#include <warden/simulation.hpp>

#include <boost/context/fiber.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

struct block;
struct running_launch;
struct warp_state;

/// pct: steps that a thread may take at its priority. So a thread that spins in a way that
/// spinning.cpp does not recognise lets others run, too.
inline constexpr std::int64_t longest_turn = 100'000;

enum class thread_state : unsigned char {
  runnable,
  at_barrier,
  at_cluster_barrier,
  in_collective,
  asleep,
  ended
};

/// A store of another thread, of which a thread has read the value.
struct received_store {
  unsigned writer = no_thread;
  event_time time = 0;  ///< event of the writer
  view released = {};   ///< knowledge that the value was released with
  place_id stored_at = 0, loaded_at = 0;
  scope from = scope::block;  ///< the writer is of the same block, or not
  bool fenced = false;        ///< the thread has fenced since
};

struct thread {
  boost::context::fiber fiber;
  stack_bounds stack;
  block* home = nullptr;
  unsigned rank = 0;
  unsigned number = 0;  ///< unique among all threads that exist at once
  device::index index{};
  thread_state state = thread_state::runnable;
  std::uint32_t runnable_place = 0;
  std::uint64_t priority = 0;  ///< pct
  device::site where;          ///< its last operation
  /// The launch is early, and the thread has not yet waited for the kernel before it.
  bool must_wait_for_previous = false;
  thread_order order;          ///< events that happened before its next operation
  bool lags = false;           ///< its loads mostly return the oldest values that they may
  warp_state* warp = nullptr;  ///< lanes that its collectives meet
  // Barrier.
  device::barrier barrier{};
  device::coming from{};
  bool vote = false;  ///< its value at the barrier
  unsigned barrier_count = 0;
  // Polling.
  sim::looks looks;
  /// Number of the change of memory after which it last read the clock: it may have a time limit.
  std::uint64_t clock_read_at = ~std::uint64_t{0};
  std::int64_t allowance = 0;       ///< pct: steps that it may take at its priority
  std::uint64_t before_atomic = 0;  ///< value before its atomic
  /// The word that the thread read last.
  struct word {
    std::uintptr_t address = 0;  ///< 0: none
    unsigned bytes = 0;
  } read;
  // Race detection.
  place_id calls = 0;                        ///< the innermost call that has not returned
  place_id at = 0;                           ///< the last access to memory
  bool is_plain = false;                     ///< its last operation was one of compiled code
  std::array<received_store, 8> received{};  ///< the latest stores that it read
  unsigned next_received = 0;
  // Waiting.
  std::vector<std::uintptr_t> watched;
  bool waits = false;
  bool written = false;
  bool fresh = false;  ///< its next poll returns the newest values
  bool time_passed = false;
};

/// Values that the lanes of a warp brought to its collectives and got from them. They are in one
/// place, so that a lane that comes need not look at 31 threads.
struct warp_state {
  unsigned first_thread = 0;
  unsigned lanes = 0;  ///< bits of the lanes that the block has
  unsigned ended = 0;
  unsigned waiting = 0;    ///< in a collective
  unsigned gathering = 0;  ///< in `active_mask`, without a mask yet
  /// Turns that the lanes wait there for others, all together.
  std::uint32_t gathering_turns = 0;
  // [lane]
  std::array<device::collective, 32> kinds{};
  std::array<device::lanes, 32> who{};
  std::array<unsigned, 32> masks{};
  std::array<unsigned, 32> sources{};
  std::array<std::uint64_t, 32> values{};
  std::array<std::uint64_t, 32> results{};
};

/// Bytes after each piece of shared memory that no thread may write.
inline constexpr std::size_t shared_canary_bytes = 64;

/// A variable of a block in shared memory, with its canary after it.
struct static_object {
  void const* key;
  std::unique_ptr<std::byte[]> memory;
  std::byte* begin;
  std::size_t bytes;
  device::site where;
};

/// A block that is resident; when it has ended another one takes its place.
struct block {
  running_launch* of = nullptr;
  free_room* multiprocessor = nullptr;  ///< null: it is not resident
  unsigned rank = 0;                    ///< in the grid
  unsigned number = 0;                  ///< among the blocks of all launches of the machine
  device::index index{};
  unsigned first_thread = 0;
  unsigned threads = 0;
  unsigned at_barrier = 0;
  unsigned at_cluster_barrier = 0;
  unsigned ended = 0;
  unsigned barrier_count = 0;  ///< threads with a true value at the barrier
  unsigned barriers = 0;       ///< completed so far
  view fences;                 ///< knowledge of its fences that have one total order
  std::byte* shared = nullptr;
  std::vector<static_object> statics;
};

/// A kernel with its arguments, and the place that launches it.
struct kernel_launch {
  runtime::launch_shape shape;
  std::shared_ptr<runtime::bound_kernel const> body;
  device::site where;
};

/// Place of a send in the order of a launch.
struct send_place {
  unsigned block;
  std::uint64_t call;
  unsigned thread;
  auto operator<=>(send_place const&) const = default;
};
/// A send for the element `index` of a loop.
struct loop_send {
  std::uint64_t index;
  device::site where;
};

/// A launch that has begun.
struct running_launch {
  kernel_launch kernel;
  bool counts_sectors = false;
  bool has_plain_accesses = false;  ///< compiled code told of one, for the memory report
  knowledge_ptr known;              ///< events before the launch
  knowledge_ptr known_after;        ///< `known`, and the knowledge and events of its threads
  std::vector<block> blocks;        ///< blocks that are resident at once
  std::vector<warp_state> warps;
  std::vector<std::byte> arenas;
  std::size_t arena_stride = 0;
  unsigned first_thread = 0;  ///< number of its first thread
  unsigned first_block = 0;   ///< number of its first block
  std::uint64_t begun_blocks = 0;
  std::uint64_t alive =
      0;  ///< threads that have not ended, including those of blocks that have not begun
  /// Sends of the launch that name their index, if their log runs in order.
  std::map<device::ordered_record, std::map<send_place, loop_send>> loops;
  report result;  ///< while another launch's thread runs, and at the end
};
}  // namespace sim
WARDEN_HOST_NAMESPACE_END
