// SPDX-License-Identifier: Apache-2.0
// The values that a word of memory had in a simulated launch, newest last.
#pragma once

#include "call_places.hpp"
#include "line_table.hpp"
#include "order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// Value that one store left in a word of 4 bytes.
struct version {
  std::uint32_t value = 0;
  std::uint64_t number = 0;     ///< position among all stores of the launch
  unsigned writer = no_thread;  ///< `no_thread`: the value from before the launch, which all know
  event_time time = 0;          ///< event of the writer
  unsigned block = no_thread;   ///< block of the writer
  place_id place = 0;           ///< place of the store; 0 unless races are looked for
  bool is_atomic = false;       ///< it replaced the version before it
  view to_block = {},
       to_device = {};  ///< knowledge released with it, for the block's threads and for others
  /// Threads that learned of it by reading it.
  std::vector<std::pair<unsigned, event_time>> seen_by = {};

  /// True if the store, or a read of it by another thread, happened before the next step of `t`.
  [[nodiscard]] bool known_to(thread_order const& t) const {
    if (writer == no_thread || t.knows(writer, time)) return true;
    for (auto const& [thread, event] : seen_by) {
      if (t.knows(thread, event)) return true;
    }
    return false;
  }
};

/// The latest versions of a word. Older ones are forgotten, as if all knew the oldest one kept.
class history {
 public:
  /// The store or atomic that changed the word last; `thread` is `no_thread` if there was none.
  struct change {
    unsigned thread = no_thread;
    unsigned block = no_thread;
    std::source_location where{};
    place_id place = 0;  ///< place in compiled code; otherwise 0
    std::uint32_t value = 0;
  } last_change;

  /// True if memory holds the only version, which all threads know.
  [[nodiscard]] bool empty() const { return versions_.empty(); }
  /// Begins with the value from before the launch's first store.
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
  /// True if a version of that number would not separate an atomic from the value that it read.
  [[nodiscard]] bool has_place(std::uint64_t number) const {
    std::size_t at = versions_.size();
    while (at != 0 && versions_[at - 1].number > number) --at;
    return at != 0 && versions_[at - 1].number != number &&
           (at == versions_.size() || !versions_[at].is_atomic);
  }
  [[nodiscard]] version& newest() { return versions_.back(); }
  /// Returns the oldest version that a load may return: coherence and the thread's knowledge forbid
  /// earlier ones.
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

/// The histories of words by their addresses; those of neighbouring words lie together.
class history_table {
 public:
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// The place of a word's history, or null if none of its neighbours has ever had one.
  [[nodiscard]] history* find(std::uintptr_t word) {
    line* const found = lines_.find(word);
    return found == nullptr ? nullptr : &(*found)[word % line_bytes / word_bytes];
  }
  /// Returns the place of a word's history, and makes one if there is none.
  history& at(std::uintptr_t word) { return lines_.at(word)[word % line_bytes / word_bytes]; }

 private:
  static constexpr std::size_t word_bytes = 4;
  using line = std::array<history, line_bytes / word_bytes>;
  line_table<line> lines_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
