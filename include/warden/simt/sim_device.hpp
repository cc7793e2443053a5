// SPDX-License-Identifier: Apache-2.0
// Operations of the simulated device that the platform layer uses: a scheduling point for each
// operation, loads that may return older values, sleep and wake-up, and rendezvous of warps and
// blocks. Implemented in runtime/sim/.
#pragma once

#include <warden/simt/dimensions.hpp>
#include <warden/simt/host_abi.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim::device {

using site = std::source_location;

enum class operation : unsigned char {
  load,
  store,
  atomic,
  shared,
  fence,
  sync_block,
  collective,
  wait,
  section,
  yield
};

// ---- identity
/// The place of a thread in its block, or of a block in its grid.
struct index {
  unsigned x, y, z;
};
/// Returns the number of the place in a block or grid of these dimensions. x counts first.
inline unsigned rank_of(index const& at, dimensions const& of) {
  return (at.z * of.y + at.y) * of.x + at.x;
}
/// Position in its grid of the thread that runs.
struct position {
  index thread, block;
  dimensions threads, blocks;
};
/// Returns the position of the thread that runs. Only the launch writes it.
extern position here;
unsigned sm_id();
std::byte* dynamic_shared();
/// Returns the block's object of the name `key`, uninitialized at the first call.
void* static_shared(void const* key, std::size_t bytes, std::size_t alignment, site const& where);
/// True if the address is in shared memory of the block.
bool is_shared(void const* address);
std::uint64_t nanoseconds();

/// A scheduling point: another thread may run before this returns.
void step(operation what, site const& where);
/// A scheduling point after which another thread will run if one can.
void yield(site const& where);
/// Stops the launch with an error.
[[noreturn]] void misuse(std::string const& what, site const& where);

// ---- global memory: accesses of at most 16 bytes, within one allocation; otherwise `misuse`
/// Checks a plain access. `what` is "load" or "store".
void check_access(char const* what, void const* address, unsigned size, site const& where);
/// `acquires`: the writes released with the value are visible at once, not only after the next
/// fence.
void load(void const* address, void* value, unsigned size, bool acquires, site const& where);
enum class storing : unsigned char {
  relaxed,
  releases,  ///< with all writes that this thread knows
  marked,    ///< a message with sequence tags: ordered after everything stored there before
};
void store(void* address, void const* value, unsigned size, storing how, site const& where);
/// Accesses two words, at one scheduling point each. Counted as one access.
void load_pair(std::uint64_t const* address, std::uint64_t (&words)[2], site const& where);
void store_pair(std::uint64_t* address, std::uint64_t const (&words)[2], storing how,
                site const& where);
/// Begins an atomic with a scheduling point. Memory then holds the value that the atomic reads. The
/// caller reads and writes it there before `end_atomic`.
void begin_atomic(void* address, unsigned size, site const& where);
void end_atomic(void* address, unsigned size, bool wrote);

// ---- shared memory, as above; end_atomic serves both
void shared_load(void const* address, void* value, unsigned size, site const& where);
void shared_store(void* address, void const* value, unsigned size, site const& where);
void begin_shared_atomic(void* address, unsigned size, site const& where);

// ---- bulk copies, and the barriers in shared memory that count their bytes: see bulk_copy.cuh
/// True if the profile has them.
bool has_bulk_copies();
/// Makes the caller's barriers known to copies.
void fence_copies(site const& where);
void init_phases(void* barrier, unsigned arrivals, site const& where);
void end_phases(void* barrier, site const& where);
/// Arrives, and lets the phase wait for `bytes` more bytes.
void arrive(void* barrier, unsigned bytes, site const& where);
/// A scheduling point. May return false for a phase that has just ended.
bool phase_is_complete(void const* barrier, std::uint32_t phase, site const& where);
/// Starts a copy, whose pieces of 16 bytes come in any order, each when the seed chooses.
void start_copy(void* to, void const* from, unsigned bytes, void* barrier, site const& where);

// ---- fences: see thread_order in runtime/sim/order.hpp
void fence_device(site const& where);
void fence_block(site const& where);
/// A fence that also has one order with all such fences: a later one knows all that earlier ones
/// knew.
void fence_device_in_order(site const& where);
void fence_block_in_order(site const& where);

// ---- rendezvous
enum class barrier : unsigned char { plain, any, all, count };
/// Places of the source from which the threads of a block may reach a barrier.
enum class coming : unsigned char { from_anywhere, from_one_place };
/// Barrier of a block: every thread comes with the same kind. Returns the number of threads whose
/// `value` was true.
unsigned sync_block(barrier kind, bool value, coming from, site const& where);
/// Barrier of all threads of the cluster's blocks.
void sync_cluster(site const& where);
unsigned cluster_blocks();
/// Returns the place in block `rank` of the cluster that corresponds to `own`, of `bytes` bytes, in
/// the caller's block. Dynamic shared memory only.
void* of_cluster(void const* own, std::size_t bytes, unsigned rank, site const& where);
enum class collective : unsigned char { sync, ballot, shuffle, shift, match };
/// Lanes of a mask that must come.
enum class lanes : unsigned char {
  all,        ///< every lane; a lane that has ended, or never existed, is an error
  not_ended,  ///< lanes that exist and have not ended
  together,   ///< every lane, from one place of the source: lanes that run a section together
};
/// Rendezvous of the lanes of `mask`, each with the same mask and kind. Returns the ballot, the
/// shuffled value (meaningless by `shift` from a lane that does not come), or the lanes of equal
/// value.
std::uint64_t warp(collective kind, unsigned mask, std::uint64_t value, unsigned source, lanes who,
                   site const& where);
/// Returns a mask of the caller and, as the seed chooses, of lanes of its warp that are at the same
/// place of the source. All of these lanes get the same mask.
unsigned active_mask(site const& where);

/// Notes that the thread waits for the kernel before its own, which the simulated device has ended.
void wait_for_previous_kernel();

// ---- waiting: begin_wait; watch each word; then sleep until one is written
void begin_wait();
void watch(void const* address);
/// Sleeps until a watched word is written; then returns false. Returns true if time passes because
/// all threads sleep. Returns at once if a watched word was written since the last call.
bool sleep(site const& where);
void end_wait();

// ---- sections
/// Notes that a lane enters a section. `group` is the mask of the caller's warp's lanes that run
/// the section together; all of them call it. It is 0 if one thread runs the section alone. The
/// record belongs to one group from the first lane that enters to the last that leaves. `kept` of
/// the first lane are bytes that the section will not change.
void section_enter(void const* record, bool in_order, unsigned group,
                   std::span<std::byte const> kept, site const& where);
void section_leave(void const* record, bool in_order, unsigned group, site const& where);
/// True if a section is to run although it is a no-op.
bool doubts();

/// A record, as the target of sections that are sent in order. Sections of two refs of a log have
/// the order of the refs' numbers.
struct ordered_record {
  void const* log;
  std::uint32_t ref;
  std::uint64_t record;
  auto operator<=>(ordered_record const&) const = default;
};
/// Notes that the current thread sends a section for the element `index` of a loop. Sections run in
/// the order of blocks, then of `call`, then of threads. Stops the launch if two indexes of one
/// record have another order.
void note_loop_order(ordered_record const& to, std::uint64_t index, std::uint64_t call,
                     site const& where);

// ---- checks of the simulated device in code that is compiled for its race detector
/// While an object lives, no plain access of the thread is checked for races, because no GPU makes
/// these accesses.
class unchecked_accesses {
 public:
  unchecked_accesses();
  ~unchecked_accesses();
  unchecked_accesses(unchecked_accesses const&) = delete;
  unchecked_accesses& operator=(unchecked_accesses const&) = delete;

 private:
  void* running_;
};

// ---- plain memory that a thread fills and others read, without a section
void note_written(void const* object);
/// Stops the launch unless the caller knows of the object's last `note_written`.
void demand_visible(void const* object, site const& where);

// ---- storage of a block's collectives: a barrier between two that use it
void begin_collective(void const* storage, site const& where);
void end_collective(void const* storage);

// ---- further counts
void note_reservation(std::uint64_t messages);
void note_lock_retry();

/// An index outside a shared_span.
[[noreturn]] void outside(std::size_t index, std::size_t size, site const& where);

}  // namespace sim::device
WARDEN_HOST_NAMESPACE_END
