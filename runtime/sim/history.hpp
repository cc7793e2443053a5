// SPDX-License-Identifier: Apache-2.0
// The values that a word of memory had in a simulated launch, newest last.
#pragma once

#include "order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// What one store left in a word of four bytes.
struct version {
  std::uint32_t value = 0;
  std::uint64_t number = 0;  ///< among all stores of the launch
  unsigned writer = nobody;  ///< nobody: it was there before, and all know it
  event_time time = 0;       ///< of the writer
  unsigned block = nobody;   ///< of the writer
  bool is_atomic = false;    ///< it replaced the version before it
  view to_block = {},
       to_device = {};  ///< what it was released with, for threads of the block and for others
  /// The threads that have read it without knowing of it otherwise.
  std::vector<std::pair<unsigned, event_time>> seen_by = {};

  /// Whether it, or that somebody has read it, happened before what `t` does now.
  [[nodiscard]] bool known_to(thread_order const& t) const {
    if (writer == nobody || t.knows(writer, time)) return true;
    for (auto const& [thread, event] : seen_by) {
      if (t.knows(thread, event)) return true;
    }
    return false;
  }
};

/// The latest versions of a word. Older ones are forgotten, as if all knew the oldest one kept.
class history {
 public:
  /// None: memory is all, and all know what it holds.
  [[nodiscard]] bool empty() const { return versions_.empty(); }
  /// Begins with what was there before the launch's first store.
  void begin(std::uint32_t value) { versions_.push_back({.value = value}); }
  void end() { versions_.clear(); }

  /// Adds a version at the place that its number gives it.
  void add(version&& one) {
    auto const later = std::upper_bound(
        versions_.begin(), versions_.end(), one.number,
        [](std::uint64_t number, version const& other) { return number < other.number; });
    versions_.insert(later, std::move(one));
    if (versions_.size() > most) versions_.erase(versions_.begin());
  }
  /// Whether a version of that number would not part an atomic from what it has read.
  [[nodiscard]] bool has_place(std::uint64_t number) const {
    std::size_t at = versions_.size();
    while (at != 0 && versions_[at - 1].number > number) --at;
    return at != 0 && versions_[at - 1].number != number &&
           (at == versions_.size() || !versions_[at].is_atomic);
  }
  [[nodiscard]] version& newest() { return versions_.back(); }
  /// The oldest version that a load may return: coherence and what the thread knows forbid the ones
  /// before.
  [[nodiscard]] version const& oldest_for(thread_order const& t) const {
    std::size_t at = versions_.size() - 1;
    while (at != 0 && !versions_[at].known_to(t)) --at;
    return versions_[at];
  }
  /// The newest version with a number up to `number`, or the oldest one.
  [[nodiscard]] version& newest_up_to(std::uint64_t number) {
    std::size_t at = versions_.size() - 1;
    while (at != 0 && versions_[at].number > number) --at;
    return versions_[at];
  }

 private:
  static constexpr std::size_t most = 6;
  std::vector<version> versions_;
};

/// The histories of words by their addresses. Each access of the launch looks here: those of
/// neighbouring words lie together, and stay where they are.
class history_table {
 public:
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// The place of a word's history, or null if none of its neighbours has ever had one.
  [[nodiscard]] history* find(std::uintptr_t word) {
    slot const& s = slots_[place_of(word / line_bytes)];
    return s.words == nullptr ? nullptr : &(*s.words)[word % line_bytes / word_bytes];
  }
  /// The same; there is one from now on.
  history& at(std::uintptr_t word) {
    if (history* const found = find(word)) return *found;
    if (2 * lines_.size() >= slots_.size()) grow();
    lines_.emplace_back();
    slots_[place_of(word / line_bytes)] = {word / line_bytes, &lines_.back()};
    return *find(word);
  }

 private:
  static constexpr std::size_t word_bytes = 4, line_bytes = 64;
  using line = std::array<history, line_bytes / word_bytes>;
  struct slot {
    std::uintptr_t number = 0;  ///< address / line_bytes
    line* words = nullptr;      ///< null: free
  };

  /// The place of the line, or the free one where it belongs.
  [[nodiscard]] std::size_t place_of(std::uintptr_t number) const {
    std::size_t place = number * 0x9e3779b97f4a7c15ull >> 32;
    for (;; ++place) {
      slot const& s = slots_[place &= slots_.size() - 1];
      if (s.words == nullptr || s.number == number) return place;
    }
  }
  void grow() {
    std::vector<slot> old(2 * slots_.size());
    old.swap(slots_);
    for (slot const& s : old) {
      if (s.words != nullptr) slots_[place_of(s.number)] = s;
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(256);  ///< at most half of them taken
  std::deque<line> lines_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
