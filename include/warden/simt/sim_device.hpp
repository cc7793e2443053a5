// SPDX-License-Identifier: Apache-2.0
// What the platform layer asks of the simulated device: a scheduling point for each operation,
// loads that may return older values, sleep and wake-up, and rendezvous of warps and blocks.
// Implemented under runtime/sim/.
#pragma once

#include <warden/simt/dimensions.hpp>
#include <warden/simt/host_abi.hpp>

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

// ---- who and where
/// The place of a thread in its block, or of a block in its grid.
struct index {
  unsigned x, y, z;
};
/// Number of the place in a block or grid of these dimensions. x counts first.
inline unsigned rank_of(index const& at, dimensions const& of) {
  return (at.z * of.y + at.y) * of.x + at.x;
}
/// Where in its grid the thread that runs is.
struct position {
  index thread, block;
  dimensions threads, blocks;
};
/// The position of the thread that runs, kept up to date by the launch; only it writes there.
extern position here;
unsigned sm_id();
std::byte* dynamic_shared();
/// The block's object that `key` names, garbage when it is first asked for.
void* static_shared(void const* key, std::size_t bytes, std::size_t alignment, site const& where);
/// True if it lies in shared memory of the block.
bool is_shared(void const* address);
std::uint64_t nanoseconds();

/// A scheduling point: another thread may run before this returns.
void step(operation what, site const& where);
/// A scheduling point after which another thread will run if one can.
void yield(site const& where);
/// Stops the launch with an error.
[[noreturn]] void misuse(std::string const& what, site const& where);

// ---- global memory; at most 16 bytes as one access, in an allocation, else `misuse`
/// The check alone, for a plain access; `what` is "load" or "store".
void check_access(char const* what, void const* address, unsigned size, site const& where);
/// `acquires`: what the value was released with is known at once, not only from the next fence on.
void load(void const* address, void* value, unsigned size, bool acquires, site const& where);
enum class storing : unsigned char {
  relaxed,
  releases,  ///< with all that this thread knows
  marked,    ///< a message that proves itself: comes after all that was stored there before
};
void store(void* address, void const* value, unsigned size, storing how, site const& where);
/// Two words, at one scheduling point each; counted as one access.
void load_pair(std::uint64_t const* address, std::uint64_t (&words)[2], site const& where);
void store_pair(std::uint64_t* address, std::uint64_t const (&words)[2], storing how,
                site const& where);
/// A scheduling point; then memory holds what an atomic reads. The caller reads and writes it there
/// before `end_atomic`.
void begin_atomic(void* address, unsigned size, site const& where);
void end_atomic(void* address, unsigned size, bool wrote);

// ---- shared memory, the same; end_atomic for both
void shared_load(void const* address, void* value, unsigned size, site const& where);
void shared_store(void* address, void const* value, unsigned size, site const& where);
void begin_shared_atomic(void* address, unsigned size, site const& where);

// ---- fences: see thread_order in runtime/sim/order.hpp
void fence_device(site const& where);
void fence_block(site const& where);
/// Also in one order with all such fences: a later one knows what the earlier ones knew.
void fence_device_in_order(site const& where);
void fence_block_in_order(site const& where);

// ---- rendezvous
enum class barrier : unsigned char { plain, any, all, count };
/// Where the threads of a block may come to a barrier from, in the source.
enum class coming : unsigned char { from_anywhere, from_one_place };
/// Every thread of the block comes with the same kind. Returns in how many `value` was true.
unsigned sync_block(barrier kind, bool value, coming from, site const& where);
/// Every thread of the cluster's blocks.
void sync_cluster(site const& where);
unsigned cluster_blocks();
/// The place in shared memory of block `rank` of the cluster that `own`, of `bytes` bytes, is in
/// that of the caller's: of dynamic shared memory alone.
void* of_cluster(void const* own, std::size_t bytes, unsigned rank, site const& where);
enum class collective : unsigned char { sync, ballot, shuffle, shift, match };
/// Which lanes of a mask must come.
enum class lanes : unsigned char {
  all,        ///< every one; that one has ended or never was is an error
  not_ended,  ///< those that are there and have not ended
  together,   ///< every one, from one place of the source: those that run a section together
};
/// Every lane of `mask` comes with the same mask and kind. Returns the ballot, the shuffled value
/// (by `shift` garbage from a lane that does not come), or the lanes of equal value.
std::uint64_t warp(collective kind, unsigned mask, std::uint64_t value, unsigned source, lanes who,
                   site const& where);
/// The caller and, as the seed chooses, lanes of its warp that are at the same place of the source.
/// All of them get the same mask.
unsigned active_mask(site const& where);

// ---- waiting: begin_wait; watch each word; then sleep until one is written
void begin_wait();
void watch(void const* address);
/// Sleeps until a watched word is written, or until time passes because all threads sleep: then
/// returns true. Returns at once if a watched word was written since the last call.
bool sleep(site const& where);
void end_wait();

// ---- sections
/// Called by every lane of `group`, the mask of the caller's warp's lanes that run the section
/// together, or by one thread alone, for which it is 0. The record belongs to one group from the
/// first lane that enters to the last that leaves. `kept` of the first lane are bytes that the
/// section will not change.
void section_enter(void const* record, bool in_order, unsigned group,
                   std::span<std::byte const> kept, site const& where);
void section_leave(void const* record, bool in_order, unsigned group, site const& where);
/// True if a section is to run although it is a no-op.
bool doubts();

// ---- checks of the simulated device in code that is compiled for its race detector
/// While it lives, no plain access of the thread is checked for races: no GPU makes them.
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
/// An error unless the caller knows of the object's last `note_written`.
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
