// SPDX-License-Identifier: Apache-2.0
// Accesses of compiled code to device memory, and the check of all accesses for data races.

#include "call_stack.hpp"
#include "device_memory.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

thread_local thread* machine::running = nullptr;

namespace {

bool has_hooks = false;

char const* name_of(access_kind kind) {
  switch (kind) {
    case access_kind::plain_load:
      return "plain load";
    case access_kind::plain_store:
      return "plain store";
    case access_kind::relaxed_load:
      return "relaxed load";
    case access_kind::relaxed_store:
      return "relaxed store";
    case access_kind::atomic:
      return "atomic";
  }
  return "";
}
std::string with_article(access_kind kind) {
  return std::string{kind == access_kind::atomic ? "an " : "a "} + name_of(kind);
}

access_effect effect_of(bool stores) { return stores ? access_effect::store : access_effect::load; }

}  // namespace

void note_hooks() { has_hooks = true; }

bool detects_races() {
  static bool const is_off = [] {
    char const* const text = std::getenv("WARDEN_RACES");
    return text != nullptr && std::string_view{text} == "0";
  }();
  return has_hooks && !is_off;
}

void machine::comes_from(void const* return_address) {
  if (shadow_ == nullptr) return;
  if (pending_.size != 0) end_pending_access();
  current_->at = places().within(current_->calls, return_address);
}

void machine::plain_access(void* address, std::size_t size, bool stores,
                           void const* return_address) {
  thread& t = *current_;
  if (t.stack.holds(address)) return;
  // To copy an object, compiled code tells of the store first, then of the load, and then copies.
  bool const copies = !stores && std::exchange(pending_.may_copy, false) &&
                      std::memcmp(before_pending_.data(), pending_.address, pending_.size) == 0;
  if (!copies) comes_from(return_address);
  if (!is_device_memory(stores ? "plain store" : "plain load", address, size)) return;
  // No other thread runs between the load and the store of a copy.
  if (!copies) step(stores ? device::operation::store : device::operation::load, t.where);
  if (warp_accesses_ != nullptr) report_access({t.at, {}, false, effect_of(stores)}, address, size);
  auto* const begin = static_cast<std::byte*>(address);
  if (stores) {
    pending_ = {address, size, true, false, true};
    before_pending_.assign(begin, begin + size);
    return;
  }
  note_access(access_kind::plain_load, address, size);
  if (copies) return;
  // The first bytes of larger objects show whether the thread polls.
  std::uint64_t value = 0;
  auto const part = static_cast<unsigned>(std::min(size, sizeof(value)));
  std::memcpy(&value, address, part);
  polled(address, part, value);
}

void machine::volatile_access(void* address, unsigned size, bool stores,
                              void const* return_address) {
  thread& t = *current_;
  if (t.stack.holds(address)) return;
  comes_from(return_address);
  if (!is_device_memory(stores ? "volatile store" : "volatile load", address, size)) return;
  step(stores ? device::operation::store : device::operation::load, t.where);
  if (warp_accesses_ != nullptr) report_access({t.at, {}, false, effect_of(stores)}, address, size);
  auto* const begin = static_cast<std::byte*>(address);
  if (stores) {
    before_pending_.assign(begin, begin + size);
  } else {
    // Compiled code reads memory itself: the value chosen for it stays there until the code returns
    // to the runtime, and no other thread runs before.
    std::array<std::byte, 16> value;
    load(address, value.data(), size);
    before_pending_.assign(begin, begin + size);
    std::memcpy(address, value.data(), size);
  }
  pending_ = {address, size, stores, true};
}

bool machine::begins_atomic(void* address, unsigned size, void const* return_address) {
  thread& t = *current_;
  if (t.stack.holds(address)) return false;
  comes_from(return_address);
  if (!is_device_memory("atomic", address, size)) return false;
  step(device::operation::atomic, t.where);
  if (warp_accesses_ != nullptr)
    report_access({t.at, {}, false, access_effect::atomic}, address, size);
  return true;
}

/// Compiled code comes back to the runtime after an access.
void machine::end_pending_access() {
  pending_access const p = std::exchange(pending_, {});
  if (p.is_volatile) {
    std::array<std::byte, 16> value;
    std::memcpy(value.data(), p.address, p.size);
    std::memcpy(p.address, before_pending_.data(), p.size);
    if (!p.stores) return;
    return store(p.address, value.data(), static_cast<unsigned>(p.size), device::storing::relaxed);
  }
  // No thread can see a store that changes nothing.
  if (std::memcmp(before_pending_.data(), p.address, p.size) == 0)
    return add_look(*current_, reinterpret_cast<std::uintptr_t>(p.address), 0);
  note_access(access_kind::plain_store, p.address, p.size);
  changed();
  for (std::size_t at = 0; at < p.size; at += 8) written(static_cast<std::byte*>(p.address) + at);
}

/// Adds an access of the current thread to the memory report.
void machine::report_access(access_origin from, void const* address, std::size_t size) {
  thread const& t = *current_;
  if (from.place != 0) t.home->of->has_plain_accesses = true;
  bool const is_word = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
  if (!is_word) return note_uncounted(from, "objects that a GPU accesses in parts");
  from.is_shared = is_shared(address, size);
  warp_accesses_->note(t, from, reinterpret_cast<std::uintptr_t>(address),
                       static_cast<unsigned>(size));
}

/// Adds the accesses of a block that has ended, and names its launch if nothing told of its plain
/// accesses.
void machine::report_end(block const& b) {
  warp_accesses_->end_block(b);
  if (b.of->alive != 0 || b.of->has_plain_accesses) return;
  note_uncounted({0, b.of->kernel.where},
                 "launch without plain accesses, or compiled without the race detector's hooks");
}

/// The current thread has read a value of another thread's.
void machine::note_received(version const& seen, view const& released, scope from) {
  thread& t = *current_;
  for (received_store& r : t.received) {
    if (r.writer == seen.writer && r.time == seen.time) return;
  }
  t.received[t.next_received++ % t.received.size()] = {seen.writer, seen.time, released, seen.place,
                                                       t.at,        from,      false};
}

/// The current thread accesses memory at its place `at`.
void machine::note_access(access_kind kind, void const* address, std::size_t size) {
  if (shadow_ == nullptr) return;
  thread& t = *current_;
  access const mine{t.number, t.order.event(), t.home->number, t.at, kind};
  if (auto const race = shadow_->note(address, size, mine, t.order))
    misuse(race_text(mine, *race, address, size), current_->where);
}

// ---- reports

std::string machine::name_of(access const& a) const {
  std::string const kind = std::string{sim::name_of(a.kind)} + " by ";
  if (a.thread == copies_.number) return kind + "a bulk copy, which was started";
  return kind + name_of(a.thread, a.block);
}

/// The change to the program that would order the two, as far as the clocks tell.
std::string machine::remedy(access const& mine, access const& other) const {
  if (mine.thread == copies_.number || other.thread == copies_.number)
    return "wait for the copy's phase before the access, or access it and reach a barrier before "
           "the "
           "copy starts";
  thread const& t = threads_[mine.thread];
  thread const& before = threads_[other.thread];
  for (received_store const& r : t.received) {
    if (r.writer == no_thread) continue;
    bool const released = r.released.knows(other.thread, other.time);
    // A store of the other thread after its access says that the access is done.
    if (!released && (r.writer != other.thread || r.time < other.time)) continue;
    std::string text;
    if (!released) {
      text = "publish with a release: __threadfence() before the store at " +
             places().line(r.stored_at);
      if (r.fenced) return text;
      text += "; ";
    }
    return text + "take with an acquire: __threadfence() after the load at " +
           places().line(r.loaded_at);
  }
  std::string const text = "nothing orders the two: use an atomic or a lock";
  if (mine.block != other.block) return text;
  return text + (before.warp == t.warp
                     ? ", or __syncwarp() or __syncthreads() between them: both are of one warp"
                     : ", or __syncthreads() between them: both are of one block");
}

std::string machine::race_text(access const& mine, data_race const& race, void const* address,
                               std::size_t size) const {
  access const& other = race.earlier;
  std::string text = "data race: " + with_article(mine.kind) + " after " +
                     with_article(other.kind) + " of " + name_of(address, size) + "; " +
                     remedy(mine, other) + "\n  the " + name_of(mine) + places().text(mine.place) +
                     "\n  the " + name_of(other) + places().text(other.place);
  if (other.is_load() && race.last_store.thread != no_thread) {
    text +=
        "\n  before both, the " + name_of(race.last_store) + places().text(race.last_store.place);
  }
  return text;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
