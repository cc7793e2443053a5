// SPDX-License-Identifier: Apache-2.0
// The last accesses to each word of a launch, and which of them nothing orders: data races.
#pragma once

#include "call_places.hpp"
#include "line_table.hpp"
#include "order.hpp"

#include <warden/simt/host_abi.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// Code of the program was compiled to call hooks at its accesses.
void note_hooks();
/// True if there is such code, unless the environment variable WARDEN_RACES is 0.
bool detects_races();

/// Ways to access memory. All but the plain ones are strong: they do not race with each other.
enum class access_kind : unsigned char {
  plain_load,
  plain_store,
  relaxed_load,
  relaxed_store,
  atomic,
};

/// An access of a thread.
struct access {
  unsigned thread = no_thread;  ///< `no_thread`: there was none
  event_time time = 0;          ///< event of the thread
  unsigned block = 0;           ///< number of the thread's block among those of all launches
  place_id place : 28 = 0;
  access_kind kind : 4 = access_kind::plain_load;

  [[nodiscard]] bool is_plain() const { return kind <= access_kind::plain_store; }
  [[nodiscard]] bool is_load() const {
    return kind == access_kind::plain_load || kind == access_kind::relaxed_load;
  }
  /// True if it happened before what the thread of `order` does now, or never.
  [[nodiscard]] bool known_to(thread_order const& order) const {
    return thread == no_thread || order.knows(thread, time);
  }
};

/// Two accesses that nothing orders, of which one is plain and one writes.
struct data_race {
  access earlier;
  access last_store;  ///< the last plain store before it
};

/// The accesses of one launch. A word has room for the last plain store, for two plain loads after
/// it by threads that know nothing of each other, and for the last strong load and store. So of
/// many unordered loads before a store two are compared with it, and others in other schedules.
class shadow_memory {
 public:
  /// Records the access of `size` bytes. Returns an earlier one that it races with.
  std::optional<data_race> note(void const* address, std::size_t size, access const& mine,
                                thread_order const& order);
  /// Other threads use the memory from now on.
  void forget(void const* memory, std::size_t bytes);

 private:
  /// The last accesses to one word or byte.
  struct cell {
    access store, strong_store, strong_load;
    std::array<access, 2> loads;

    /// The first recorded access that races with `mine`, or null.
    [[nodiscard]] access const* race_with(access const& mine, thread_order const& order) const;
    void record(access const& mine, thread_order const& order);
  };
  /// Words are split into bytes when one of the line is accessed in part.
  struct line {
    std::array<cell, line_bytes / 4> words;
    std::unique_ptr<std::array<cell, line_bytes>> bytes;
  };
  /// Calls `visit(cell)` for each word or byte until that returns true.
  template <class Visit>
  void for_each_cell(std::uintptr_t begin, std::size_t size, Visit visit);

  line_table<line> lines_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
