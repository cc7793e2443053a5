// SPDX-License-Identifier: Apache-2.0
// Functions of the platform layer, each in terms of the running launch.

#include "machine.hpp"

#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim::device {

namespace {
machine& m() { return *machine::now; }

void load_word(void const* address, void* value, unsigned size, bool acquires, site const& where) {
  m().step(operation::load, where);
  m().check_access("load", address, size, where);
  ++m().counts().global_loads;
  m().count_sector(address, where);
  m().load(address, value, size, acquires);
}
void store_word(void* address, void const* value, unsigned size, storing how, site const& where) {
  m().step(operation::store, where);
  m().check_access("store", address, size, where);
  ++m().counts().global_stores;
  m().count_sector(address, where);
  m().store(address, value, size, how);
}
}  // namespace

position here{};
unsigned sm_id() {
  return m().current().home->rank % static_cast<unsigned>(m().chosen().multiprocessors);
}
std::byte* dynamic_shared() { return m().current().home->shared; }
void* static_shared(void const* key, std::size_t bytes, std::size_t alignment, site const& where) {
  return m().static_shared(key, bytes, alignment, where);
}
bool is_shared(void const* address) { return m().is_shared(address); }
std::uint64_t nanoseconds() { return m().read_clock(); }

void step(operation what, site const& where) { m().step(what, where); }
void yield(site const& where) { m().yield(where); }
void misuse(std::string const& what, site const& where) { m().misuse(what, where); }

void check_access(char const* what, void const* address, unsigned size, site const& where) {
  m().check_access(what, address, size, where);
}
void load(void const* address, void* value, unsigned size, bool acquires, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().report_access(access_effect::load, address, size, where);
  load_word(address, value, size, acquires, where);
}
void store(void* address, void const* value, unsigned size, storing how, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().report_access(access_effect::store, address, size, where);
  store_word(address, value, size, how, where);
}
void load_pair(std::uint64_t const* address, std::uint64_t (&words)[2], site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().report_access(access_effect::load, address, 16, where);
  load_word(address, &words[0], 8, false, where);
  m().step(operation::load, where);
  m().check_access("load", address + 1, 8, where);
  m().load(address + 1, &words[1], 8);
}
void store_pair(std::uint64_t* address, std::uint64_t const (&words)[2], storing how,
                site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().report_access(access_effect::store, address, 16, where);
  store_word(address, &words[0], 8, how, where);
  m().step(operation::store, where);
  m().check_access("store", address + 1, 8, where);
  m().store(address + 1, &words[1], 8, how);
}
void begin_atomic(void* address, unsigned size, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().step(operation::atomic, where);
  m().check_access("atomic", address, size, where);
  ++m().counts().global_atomics;
  m().count_sector(address, where);
  m().report_access(access_effect::atomic, address, size, where);
  m().begin_atomic(address, size);
}
void end_atomic(void* address, unsigned size, bool wrote) { m().end_atomic(address, size, wrote); }

void shared_load(void const* address, void* value, unsigned size, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().step(operation::shared, where);
  m().report_access(access_effect::load, address, size, where);
  m().load(address, value, size);
}
void shared_store(void* address, void const* value, unsigned size, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().step(operation::shared, where);
  m().report_access(access_effect::store, address, size, where);
  m().store(address, value, size, storing::relaxed);
}
void begin_shared_atomic(void* address, unsigned size, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().step(operation::shared, where);
  m().report_access(access_effect::atomic, address, size, where);
  m().begin_atomic(address, size);
}

bool has_bulk_copies() { return m().chosen().bulk_copies; }
void fence_copies(site const& where) { m().fence_copies(where); }
void init_phases(void* barrier, unsigned arrivals, site const& where) {
  m().init_phases(barrier, arrivals, where);
}
void end_phases(void* barrier, site const& where) { m().end_phases(barrier, where); }
void arrive(void* barrier, unsigned bytes, site const& where) { m().arrive(barrier, bytes, where); }
bool phase_is_complete(void const* barrier, std::uint32_t phase, site const& where) {
  return m().phase_is_complete(barrier, phase, where);
}
void start_copy(void* to, void const* from, unsigned bytes, void* barrier, site const& where) {
  m().comes_from(__builtin_return_address(0));
  m().report_uncounted("bulk copies", where);
  m().start_copy(to, from, bytes, barrier, where);
}

void fence_device(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().fence(scope::device);
}
void fence_block(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().fence(scope::block);
}

void fence_device_in_order(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().fence_in_order(scope::device);
}
void fence_block_in_order(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().fence_in_order(scope::block);
}

void wait_for_previous_kernel() { m().current().must_wait_for_previous = false; }

unsigned sync_block(barrier kind, bool value, coming from, site const& where) {
  return m().sync_block(kind, value, from, where);
}
void sync_cluster(site const& where) { m().sync_cluster(where); }
unsigned cluster_blocks() { return m().cluster_blocks(); }
void* of_cluster(void const* own, std::size_t bytes, unsigned rank, site const& where) {
  return m().of_cluster(own, bytes, rank, where);
}
std::uint64_t warp(collective kind, unsigned mask, std::uint64_t value, unsigned source, lanes who,
                   site const& where) {
  return m().warp(kind, mask, value, source, who, where);
}

unsigned active_mask(site const& where) { return m().active_mask(where); }

void begin_wait() { m().begin_wait(); }
void watch(void const* address) { m().watch(address); }
bool sleep(site const& where) {
  m().step(operation::wait, where);
  return m().sleep(where);
}
void end_wait() { m().end_wait(); }

void section_enter(void const* record, bool in_order, unsigned group,
                   std::span<std::byte const> kept, site const& where) {
  m().section_enter(record, in_order, group, kept, where);
}
void section_leave(void const* record, bool in_order, unsigned group, site const& where) {
  m().section_leave(record, in_order, group, where);
}
bool doubts() { return m().doubts(); }
void note_loop_order(ordered_record const& to, std::uint64_t index, std::uint64_t call,
                     site const& where) {
  m().note_loop_order(to, index, call, where);
}
unchecked_accesses::unchecked_accesses() : running_{std::exchange(machine::running, nullptr)} {}
unchecked_accesses::~unchecked_accesses() { machine::running = static_cast<thread*>(running_); }
void note_written(void const* object) { m().note_written(object); }
void demand_visible(void const* object, site const& where) { m().demand_visible(object, where); }
void begin_collective(void const* storage, site const& where) {
  m().begin_collective(storage, where);
}
void end_collective(void const* storage) { m().end_collective(storage); }
void note_reservation(std::uint64_t messages) {
  ++m().counts().reservations;
  m().counts().messages += messages;
}
void note_lock_retry() { ++m().counts().lock_retries; }

void outside(std::size_t index, std::size_t size, site const& where) {
  m().misuse("index " + std::to_string(index) + " outside a shared span of " + std::to_string(size),
             where);
}

}  // namespace sim::device
WARDEN_HOST_NAMESPACE_END
