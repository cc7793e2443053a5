// SPDX-License-Identifier: Apache-2.0
// The seam's functions, each in terms of the running launch.

#include "machine.hpp"

#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim::device {

namespace {
machine& m() { return *machine::now; }
}  // namespace

unsigned thread_rank() { return m().current().rank; }
unsigned block_threads() { return m().block_threads(); }
unsigned block_rank() { return m().current().home->rank; }
unsigned block_count() { return m().blocks(); }
unsigned sm_id() { return block_rank() % static_cast<unsigned>(m().chosen().multiprocessors); }
std::byte* dynamic_shared() { return m().current().home->shared; }
std::uint64_t nanoseconds() { return m().nanoseconds(); }

void step(operation what, site const& where) { m().step(what, where); }
void yield(site const& where) { m().yield(where); }
void misuse(std::string const& what, site const& where) { m().misuse(what, where); }

void load_whole(void const* address, void* value, unsigned size, site const& where) {
  m().step(operation::load, where);
  ++m().counts().global_loads;
  m().count_sector(address, where);
  m().load(address, value, size);
}
void store_whole(void* address, void const* value, unsigned size, site const& where) {
  m().step(operation::store, where);
  ++m().counts().global_stores;
  m().count_sector(address, where);
  m().store(address, value, size);
}
std::uint64_t load(void const* address, unsigned size, site const& where) {
  std::uint64_t value = 0;
  load_whole(address, &value, size, where);
  return value;
}
void store(void* address, std::uint64_t value, unsigned size, site const& where) {
  store_whole(address, &value, size, where);
}
void store_pair(std::uint64_t* address, std::uint64_t first, std::uint64_t second,
                site const& where) {
  store(address, first, 8, where);
  m().step(operation::store, where);
  m().store(address + 1, &second, 8);
}
void load_pair(std::uint64_t const* address, std::uint64_t& first, std::uint64_t& second,
               site const& where) {
  // Slots are read where all blocks read them: what is seen there is there for everybody.
  m().make_visible(address, 16);
  first = load(address, 8, where);
  m().step(operation::load, where);
  m().load(address + 1, &second, 8);
}
void before_atomic(void* address, site const& where) {
  m().step(operation::atomic, where);
  ++m().counts().global_atomics;
  m().count_sector(address, where);
  m().make_visible(address, 1);
}
void written(void const* address) { m().written(address); }
void fence_device(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().drain_thread_and_block();
}
void fence_block(site const& where) {
  m().step(operation::fence, where);
  ++m().counts().fences;
  m().hand_stores_to_block(m().current());
}

bool sync_block(bool value, bool reduces, site const& where) {
  return m().sync_block(value, reduces, where);
}
std::uint64_t warp(collective kind, unsigned mask, std::uint64_t value, unsigned source,
                   site const& where) {
  return m().warp(kind, mask, value, source, where);
}

void begin_wait() { m().begin_wait(); }
void watch(void const* address) { m().watch(address); }
bool sleep(site const& where) {
  m().step(operation::wait, where);
  return m().sleep();
}
void end_wait() { m().end_wait(); }

void section_enter(void const* record, site const& where) { m().section_enter(record, where); }
void section_leave(void const* record, site const& where) { m().section_leave(record, where); }
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
