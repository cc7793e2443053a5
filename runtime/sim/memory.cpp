// SPDX-License-Identifier: Apache-2.0
// The memory of the simulated device: stores that are visible late, and in an order of the seed's
// choice.
//
// A store goes from its thread's buffer to its block's (barriers, block fences) or to memory
// (device fences, and at any time by chance). Two stores to one address keep their order; others do
// not.

#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

bool overlaps(pending_store const& s, void const* address, unsigned size) {
  auto const* const a = static_cast<std::byte const*>(address);
  return s.address < a + size && a < s.address + s.size;
}

/// The newest store to an address, or nothing. `partly` is set when one overlaps it only in part.
pending_store const* find(std::vector<pending_store> const& stores, void const* address,
                          unsigned size, bool& partly) {
  for (auto s = stores.rbegin(); s != stores.rend(); ++s) {
    if (!overlaps(*s, address, size)) continue;
    if (s->address == address && s->size == size) return &*s;
    partly = true;
    return nullptr;
  }
  return nullptr;
}

}  // namespace

/// In memory, for everybody.
void machine::write(void* address, void const* value, unsigned size) {
  std::memcpy(address, value, size);
  for (unsigned at = 0; at < size; at += 8) written(static_cast<std::byte*>(address) + at);
}

void machine::drain_one(std::vector<pending_store>& stores, std::size_t which, block* behind) {
  pending_store const s = stores[which];
  // What the block holds for this address is older.
  if (behind != nullptr) {
    for (std::size_t i = 0; i < behind->stores.size();) {
      if (overlaps(behind->stores[i], s.address, s.size)) {
        drain_one(behind->stores, i, nullptr);
        i = 0;
      } else {
        ++i;
      }
    }
  }
  stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(which));
  --pending_stores_;
  write(s.address, s.value.data(), s.size);
}

void machine::drain_all(std::vector<pending_store>& stores, block* behind) {
  while (!stores.empty()) {
    // Any order but that of one address: go back to the oldest store to it.
    std::size_t which = random_.below(static_cast<std::uint32_t>(stores.size()));
    for (std::size_t i = 0; i < which; ++i) {
      if (overlaps(stores[i], stores[which].address, stores[which].size)) which = i;
    }
    drain_one(stores, which, behind);
  }
}

void machine::drain_sometimes() {
  // One attempt at each switch, at a random thread: buffers live for some thousand steps.
  thread& t = threads_[random_.below(static_cast<std::uint32_t>(threads_.size()))];
  block& b = *t.home;
  for (int tries = 0; tries < 2; ++tries) {
    std::vector<pending_store>& stores = tries == 0 ? t.stores : b.stores;
    if (stores.empty() || random_.below(2) == 0) continue;
    std::size_t which = random_.below(static_cast<std::uint32_t>(stores.size()));
    for (std::size_t i = 0; i < which; ++i) {
      if (overlaps(stores[i], stores[which].address, stores[which].size)) which = i;
    }
    drain_one(stores, which, tries == 0 ? &b : nullptr);
  }
}

bool machine::drain_everything() {
  if (pending_stores_ == 0) return false;
  for (block& b : blocks_) drain_all(b.stores, nullptr);
  for (thread& t : threads_) drain_all(t.stores, t.home);
  return true;
}

void machine::load(void const* address, void* value, unsigned size) {
  thread& t = *current_;
  if (pending_stores_ != 0) {
    bool partly = false;
    pending_store const* s = find(t.stores, address, size, partly);
    if (s == nullptr && !partly) s = find(t.home->stores, address, size, partly);
    if (s != nullptr) {
      std::memcpy(value, s->value.data(), size);
      return;
    }
    if (partly) make_visible(address, size);
  }
  std::memcpy(value, address, size);
}

void machine::store(void* address, void const* value, unsigned size) {
  if (!settings_.weak_memory) {
    write(address, value, size);
    return;
  }
  pending_store s{static_cast<std::byte*>(address), {}, size};
  std::memcpy(s.value.data(), value, size);
  current_->stores.push_back(s);
  ++pending_stores_;
}

void machine::make_visible(void const* address, unsigned size) {
  if (pending_stores_ == 0) return;
  auto const begin = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7};
  auto const* const words = reinterpret_cast<void const*>(begin);
  auto const bytes =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) + size - begin + 7) & ~7u;
  thread& t = *current_;
  for (auto [stores, behind] :
       {std::pair{&t.home->stores, static_cast<block*>(nullptr)}, {&t.stores, t.home}}) {
    for (std::size_t i = 0; i < stores->size();) {
      if (overlaps((*stores)[i], words, bytes)) {
        drain_one(*stores, i, behind);
        i = 0;
      } else {
        ++i;
      }
    }
  }
}

void machine::drain_thread_and_block() {
  thread& t = *current_;
  drain_all(t.home->stores, nullptr);
  drain_all(t.stores, t.home);
}

void machine::hand_stores_to_block(thread& t) {
  block& b = *t.home;
  b.stores.insert(b.stores.end(), t.stores.begin(), t.stores.end());
  t.stores.clear();
}

void machine::count_sector(void const* address, device::site const& where) {
  if (!settings_.count_sectors) return;
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

void machine::section_enter(void const* record, device::site const& where) {
  step(device::operation::section, where);
  auto const [place, fresh] = entered_.try_emplace(record, entered_by{current_->number, where});
  if (!fresh) {
    misuse("overlapping sections: two critical sections on one record, the first by " +
               describe(threads_[place->second.thread]),
           where);
  }
  // Others get their chance to do the same.
  for (std::uint32_t turns = random_.below(3); turns != 0; --turns) yield(where);
}

void machine::section_leave(void const* record, device::site const& where) {
  for (std::uint32_t turns = random_.below(3); turns != 0; --turns) yield(where);
  step(device::operation::section, where);
  entered_.erase(record);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
