// SPDX-License-Identifier: Apache-2.0
// Comparison of each access with the last ones to the same word, by vector clocks.

#include "shadow_memory.hpp"

#include <algorithm>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

access const* shadow_memory::cell::race_with(access const& mine, thread_order const& order) const {
  if (!store.known_to(order)) return &store;
  if (mine.is_plain() && !strong_store.known_to(order)) return &strong_store;
  if (mine.is_load()) return nullptr;
  for (access const& load : loads) {
    if (!load.known_to(order)) return &load;
  }
  return mine.is_plain() && !strong_load.known_to(order) ? &strong_load : nullptr;
}

void shadow_memory::cell::record(access const& mine, thread_order const& order) {
  switch (mine.kind) {
    case access_kind::plain_store:
      // All others happened before: what races with one of them races with this one, too.
      *this = cell{};
      store = mine;
      break;
    case access_kind::plain_load:
      if (!loads[0].known_to(order)) loads[1] = loads[0];
      loads[0] = mine;
      break;
    case access_kind::relaxed_load:
      strong_load = mine;
      break;
    case access_kind::relaxed_store:
    case access_kind::atomic:
      strong_store = mine;
      break;
  }
}

template <class Visit>
void shadow_memory::for_each_cell(std::uintptr_t begin, std::size_t size, Visit visit) {
  for (std::uintptr_t at = begin; at != begin + size;) {
    line& l = lines_.at(at);
    if (l.bytes == nullptr && (at % 4 != 0 || begin + size - at < 4)) {
      l.bytes = std::make_unique<std::array<cell, line_bytes>>();
      for (std::size_t i = 0; i < line_bytes; ++i) (*l.bytes)[i] = l.words[i / 4];
    }
    cell& c = l.bytes == nullptr ? l.words[at % line_bytes / 4] : (*l.bytes)[at % line_bytes];
    if (visit(c)) return;
    at += l.bytes == nullptr ? 4 : 1;
  }
}

std::optional<data_race> shadow_memory::note(void const* address, std::size_t size,
                                             access const& mine, thread_order const& order) {
  std::optional<data_race> found;
  for_each_cell(reinterpret_cast<std::uintptr_t>(address), size, [&](cell& c) {
    if (access const* const other = c.race_with(mine, order)) {
      found = {*other, c.store};
      return true;
    }
    c.record(mine, order);
    return false;
  });
  return found;
}

void shadow_memory::forget(void const* memory, std::size_t bytes) {
  if (lines_.empty()) return;
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin / 4 * 4; at < begin + bytes; at += 4) {
    line* const l = lines_.find(at);
    if (l == nullptr) continue;
    l->words[at % line_bytes / 4] = cell{};
    if (l->bytes != nullptr) std::fill_n(&(*l->bytes)[at % line_bytes], 4, cell{});
  }
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
