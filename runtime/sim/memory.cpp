// SPDX-License-Identifier: Apache-2.0
// The memory of the simulated device: loads that return older values, wherever the memory model
// allows it.
//
// Memory itself always holds the newest value, so plain C++ sees that. Each cell of 8 bytes that
// the platform layer has stored to also has a history. A load may return the newest version that
// happened before it, or a later one; the seed chooses which. Atomics read and replace the newest
// version.

#include "machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned most_bytes = 16;  ///< bytes of the largest access
/// Words that such an access touches.
constexpr unsigned most_parts = 5;
/// Room for stores that come before others.
constexpr std::uint64_t numbers_per_store = 1024;

/// The part of an access that lies in one word.
struct part {
  std::uintptr_t word;
  unsigned offset, size;
};

/// Calls `f(part, place in the value)` for each word that an access of at most 16 bytes touches.
template <class F>
void for_each_part(void const* address, unsigned size, F f) {
  auto const begin = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned done = 0; done < size;) {
    auto const offset = static_cast<unsigned>((begin + done) % word_bytes);
    unsigned const here = std::min(word_bytes - offset, size - done);
    f(part{begin + done - offset, offset, here}, done);
    done += here;
  }
}

std::uint32_t value_of(std::uintptr_t word) {
  std::uint32_t value;
  std::memcpy(&value, reinterpret_cast<void const*>(word), sizeof(value));
  return value;
}

std::uint64_t first_bytes(void const* address, unsigned size) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, address, std::min<std::size_t>(size, sizeof(bytes)));
  return bytes;
}

}  // namespace

/// Returns the history of a word; null if memory holds the only value, which all know.
history* machine::history_of(std::uintptr_t word) {
  history* const found = histories_.find(word);
  if (found == nullptr || found->empty()) return nullptr;
  // Plain C++ has written there since. That is no store of the platform layer: all threads see it
  // at once.
  if (found->newest().value != value_of(word)) {
    found->end();
    return nullptr;
  }
  return found;
}
/// Returns the history of a word, and begins one if there is none.
history& machine::begun_history_of(std::uintptr_t word) {
  if (history* const h = history_of(word)) return *h;
  history& begun = histories_.at(word);
  begun.begin(value_of(word));
  return begun;
}

/// Forgets the history of memory that belongs to another object from now on.
void machine::forget(void const* memory, std::size_t bytes) {
  if (shadow_ != nullptr) shadow_->forget(memory, bytes);
  if (histories_.empty()) return;
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin / word_bytes * word_bytes; at < begin + bytes; at += word_bytes) {
    if (history* const old = histories_.find(at)) *old = {};
  }
}

void machine::written_by_host(void const* memory, std::size_t bytes) {
  forget(memory, bytes);
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin / 8 * 8; at < begin + bytes; at += 8)
    written(reinterpret_cast<void const*>(at));
  changed();
}

version machine::made_by(thread& t, std::uint32_t value, std::uint64_t number) const {
  return {.value = value,
          .number = number,
          .writer = t.number,
          .time = t.order.event(),
          .block = t.home->number,
          .place = t.at};
}

/// Returns true if a load that may return an older value does so.
bool machine::wants_older(thread& t) {
  if (t.fresh || settings_.stale_loads == 0) return false;
  // Some threads see old values only, for a while.
  if (random_.below(64) == 0) t.lags = !t.lags;
  return t.lags ? random_.below(16) != 0 : random_.below(settings_.stale_loads) == 0;
}

/// Notes that the thread has read this version.
void machine::receive(version& seen, bool acquires) {
  thread& t = *current_;
  if (seen.writer == no_thread) return;
  if (!seen.known_to(t.order)) seen.seen_by.emplace_back(t.number, t.order.event());
  bool const same_block = seen.block == t.home->number;
  view const& released = same_block ? seen.to_block : seen.to_device;
  if (shadow_ != nullptr && seen.writer != t.number)
    note_received(seen, released, same_block ? scope::block : scope::device);
  if (acquires) {
    t.order.learn(released);
  } else {
    t.order.hear(released, same_block ? scope::block : scope::device);
  }
}

void machine::load(void const* address, void* value, unsigned size, bool acquires) {
  note_access(access_kind::relaxed_load, address, size);
  load_newest_or_older(address, value, size, acquires);
  polled(address, size, first_bytes(value, size));
}

void machine::load_newest_or_older(void const* address, void* value, unsigned size, bool acquires) {
  if (!settings_.weak_memory || histories_.empty()) {
    std::memcpy(value, address, size);
    return;
  }
  thread& t = *current_;
  // One number for all cells: an access loads all of what one access stored, or nothing of it.
  std::uint64_t least = 0, newest = 0;
  std::array<history*, most_parts> found;
  unsigned parts = 0;
  for_each_part(address, size, [&](part const& p, unsigned) {
    history* const h = found[parts++] = history_of(p.word);
    if (h == nullptr) return;
    least = std::max(least, h->oldest_for(t.order).number);
    newest = std::max(newest, h->newest().number);
  });
  std::uint64_t up_to = newest;
  if (least < newest && wants_older(t)) {
    up_to = t.lags ? least : least + random_.next() % (newest - least);
  }
  parts = 0;
  for_each_part(address, size, [&](part const& p, unsigned place) {
    history* const h = found[parts++];
    std::uint32_t word;
    if (h == nullptr) {
      word = value_of(p.word);
    } else {
      version& seen = h->newest_up_to(up_to);
      receive(seen, acquires);
      word = seen.value;
    }
    std::memcpy(static_cast<std::byte*>(value) + place,
                reinterpret_cast<std::byte const*>(&word) + p.offset, p.size);
  });
}

/// Returns a number at which a store precedes stores that its thread does not know, although it is
/// made later; 0 if there is none.
std::uint64_t machine::earlier_number(thread& t, void const* address, unsigned size) {
  std::uint64_t before = ~0ull, after = 0;
  for_each_part(address, size, [&](part const& p, unsigned) {
    history& h = begun_history_of(p.word);
    after = std::max(after, h.oldest_for(t.order).number);
    before = std::min(before, h.newest().number);
  });
  if (after >= before || !wants_older(t)) return 0;
  std::uint64_t const number = after + (before - after) / 2;
  bool fits = number != after;
  for_each_part(address, size, [&](part const& p, unsigned) {
    fits = fits && history_of(p.word)->has_place(number);
  });
  return fits ? number : 0;
}

void machine::store(void* address, void const* value, unsigned size, device::storing how) {
  note_access(access_kind::relaxed_store, address, size);
  thread& t = *current_;
  std::array<std::byte, most_bytes> before;
  std::memcpy(before.data(), address, size);
  if (settings_.weak_memory) {
    bool const releases = how == device::storing::releases;
    view const all = releases ? t.order.here() : view{};
    stores_ += numbers_per_store;
    std::uint64_t const earlier =
        how == device::storing::marked ? 0 : earlier_number(t, address, size);
    for_each_part(address, size, [&](part const& p, unsigned place) {
      history& h = begun_history_of(p.word);
      std::uint32_t word = value_of(p.word);
      std::memcpy(reinterpret_cast<std::byte*>(&word) + p.offset,
                  static_cast<std::byte const*>(value) + place, p.size);
      version v = made_by(t, word, earlier != 0 ? earlier : stores_);
      v.to_block = releases ? all : t.order.released(scope::block);
      v.to_device = releases ? all : t.order.released(scope::device);
      h.add(std::move(v));
      std::memcpy(reinterpret_cast<void*>(p.word), &h.newest().value, sizeof(word));
    });
  } else {
    std::memcpy(address, value, size);
  }
  if (std::memcmp(before.data(), address, size) != 0) {
    note_change(address, size);
  } else {
    add_look(t, reinterpret_cast<std::uintptr_t>(address), first_bytes(value, size));
    end_turn_if_spinning();
  }
  for (unsigned at = 0; at < size; at += 8) written(static_cast<std::byte*>(address) + at);
  end_of_store();
}

void machine::begin_atomic(void* address, unsigned size) {
  // The caller's reads and writes from here on are the atomic itself, not plain accesses.
  running = nullptr;
  current_->before_atomic = first_bytes(address, size);
  if (!settings_.weak_memory) return;
  for_each_part(address, size, [&](part const& p, unsigned) {
    receive(begun_history_of(p.word).newest(), false);
  });
}

void machine::end_atomic(void* address, unsigned size, bool wrote) {
  if (shadow_ != nullptr) running = current_;
  note_access(wrote ? access_kind::atomic : access_kind::relaxed_load, address, size);
  if (first_bytes(address, size) == current_->before_atomic) {
    polled(address, size, current_->before_atomic);
  } else {
    note_change(address, size);
  }
  if (!wrote) return;
  if (settings_.weak_memory) {
    thread& t = *current_;
    auto const threads = static_cast<unsigned>(threads_.size());
    stores_ += numbers_per_store;
    for_each_part(address, size, [&](part const& p, unsigned) {
      history& h = histories_.at(p.word);
      version const& read = h.newest();
      version v = made_by(t, value_of(p.word), stores_);
      v.is_atomic = true;
      // A thread that reads the result of atomics on a released value learns what that value
      // released.
      v.to_block = join(t.order.released(scope::block),
                        read.block == v.block ? read.to_block : read.to_device, threads);
      v.to_device = join(t.order.released(scope::device), read.to_device, threads);
      h.add(std::move(v));
    });
  }
  written(address);
  end_of_store();
}

/// Notes that the current thread has given these bytes new values.
void machine::note_change(void const* address, unsigned size) {
  changed();
  thread const& t = *current_;
  for_each_part(address, size, [&](part const& p, unsigned) {
    histories_.at(p.word).last_change = {t.number, t.home->number, t.where, t.is_plain ? t.at : 0,
                                         value_of(p.word)};
  });
}

/// Other threads may go on before the plain C++ that follows, which is no scheduling point.
void machine::end_of_store() {
  if (--budget_ <= 0) switch_out();
}

void machine::fence(scope reach) {
  if (!settings_.weak_memory) return;
  current_->order.fence(reach);
  for (received_store& r : current_->received) r.fenced = r.fenced || r.from <= reach;
}

void machine::fence_in_order(scope reach) {
  if (!settings_.weak_memory) return;
  thread& t = *current_;
  t.order.learn(t.home->fences);
  if (reach == scope::device) t.order.learn(fences_);
  fence(reach);
  t.home->fences = t.order.here();
  if (reach == scope::device) fences_ = t.home->fences;
}

void machine::count_sector(void const* address, device::site const& where) {
  if (!running_->counts_sectors) return;
  // Lanes of a warp at one call site, on the same n-th visit, are one access of the warp.
  thread const& t = *current_;
  std::uint64_t key = t.number / 32;
  key = key * 0x9e3779b97f4a7c15ull ^ where.line();
  key = key * 0x9e3779b97f4a7c15ull ^ where.column();
  key = key * 0x9e3779b97f4a7c15ull ^ std::hash<std::string_view>{}(where.file_name());
  std::uint32_t const n = visits_[key].lane_visits[t.rank % 32]++;
  std::uint64_t const access = (key ^ n) * 0x9e3779b97f4a7c15ull;
  if (sectors_seen_.insert(access ^ reinterpret_cast<std::uintptr_t>(address) >> 5).second) {
    ++report_.counts.sectors;
  }
}

// ---- sections

void machine::section_enter(void const* record, bool in_order, unsigned group,
                            std::span<std::byte const> kept, device::site const& where) {
  step(device::operation::section, where);
  changed();
  thread& t = *current_;
  auto const [place, fresh] = entered_.try_emplace(record, entered_by{t.number, where, group});
  entered_by& now = place->second;
  unsigned const me = 1u << t.rank % 32;
  bool const joins = !fresh && group != 0 && now.group == group &&
                     threads_[now.thread].warp == t.warp && (now.came & me) == 0;
  if (!fresh && !joins) {
    misuse("overlapping sections: two critical sections on one record, the first by " +
               describe(threads_[now.thread]),
           where);
  }
  now.came |= me;
  if (fresh) now.kept = kept, now.kept_as.assign(kept.begin(), kept.end());
  auto const complain_unless_known = [&](left_by const& before) {
    if (t.order.knows(before.thread, before.time)) return;
    misuse(
        "unordered sections: what the section before on this record wrote need not be visible, "
        "by " +
            describe(threads_[before.thread]),
        where);
  };
  auto const before = left_.find(record);
  if (in_order && before != left_.end()) {
    complain_unless_known(before->second.last);
    for (left_by const& other : before->second.others) complain_unless_known(other);
  }
  // Others get their chance to do the same.
  for (std::uint32_t turns = random_.below(3); turns != 0; --turns) yield_in_section(where);
}

void machine::section_leave(void const* record, bool in_order, unsigned group,
                            device::site const& where) {
  for (std::uint32_t turns = random_.below(3); turns != 0; --turns) yield_in_section(where);
  step(device::operation::section, where);
  bool const is_known = settings_.weak_memory && in_order;
  left_by const mine{current_->number, is_known ? current_->order.event() : event_time{}};
  auto const place = entered_.find(record);
  if (group != 0) {
    entered_by& now = place->second;
    now.gone |= 1u << current_->rank % 32;
    if (now.gone != group) {
      if (is_known) now.left.push_back(mine);
      return;
    }
  }
  if (!std::ranges::equal(place->second.kept, place->second.kept_as))
    misuse("a section whose is_noop returned true has changed its record", where);
  if (is_known) left_[record] = {mine, std::move(place->second.left)};
  entered_.erase(place);
}

// ---- objects that are filled by plain stores

void machine::note_written(void const* object) {
  if (settings_.weak_memory) written_[object] = {current_->number, current_->order.event()};
}

void machine::demand_visible(void const* object, device::site const& where) {
  auto const last = written_.find(object);
  if (last == written_.end()) return;
  if (current_->order.knows(last->second.thread, last->second.time)) return;
  misuse("unordered load: what another thread wrote here need not be visible, by " +
             describe(threads_[last->second.thread]),
         where);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
