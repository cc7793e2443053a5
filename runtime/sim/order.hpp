// SPDX-License-Identifier: Apache-2.0
// Happens-before in a simulated launch: a vector clock for each thread, advanced by barriers,
// fences and reads.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// A thread's events, numbered from 1 on: stores, first looks at what others stored, releases.
using event_time = std::uint32_t;

inline constexpr unsigned no_thread = ~0u;

/// The last event of each thread that is known. Shared, so never changed.
struct knowledge : boost::intrusive_ref_counter<knowledge, boost::thread_unsafe_counter> {
  /// [thread number] Threads of launches that begin later have numbers beyond the size.
  std::vector<event_time> times;

  [[nodiscard]] event_time of(unsigned number) const {
    return number < times.size() ? times[number] : 0;
  }
};
using knowledge_ptr = boost::intrusive_ptr<knowledge const>;

/// Knowledge at one event, including the event itself.
struct view {
  knowledge_ptr others;         ///< null: nothing
  unsigned thread = no_thread;  ///< thread of the event; `no_thread`: `others` is all
  event_time time = 0;
  event_time begun = 0;  ///< those up to it are of another thread, which had the number before

  [[nodiscard]] bool empty() const { return others == nullptr && thread == no_thread; }
  /// True if that event of thread `number` is part of it.
  [[nodiscard]] bool knows(unsigned number, event_time event) const {
    if (number == thread && event <= time && event > begun) return true;
    return others != nullptr && others->of(number) >= event;
  }
  /// True if all of `part` is. Knowing an event means knowing all that was known at it.
  [[nodiscard]] bool covers(view const& part) const;
};

/// Everything that `a` or `b` knows, of `threads` threads.
view join(view const& a, view const& b, unsigned threads);

/// How far a fence reaches.
enum class scope : unsigned char { block, device };

/// Knowledge of one thread. As in the memory model of PTX: a store before a fence is known to
/// threads that fence after they have read a store made after that fence.
class thread_order {
 public:
  void begin(unsigned number, unsigned threads) {
    number_ = number;
    threads_ = threads;
  }
  /// Begins a thread that knows `known` alone. A thread that had the same number before is another
  /// one: its events are not known, and the new thread's events follow them.
  void begin_again(knowledge_ptr known) {
    begun_ = time_;
    others_ = std::move(known);
    for (view& v : released_) v = {};
    for (std::vector<view>& h : heard_) h.clear();
  }

  /// Begins one more event, which other threads may learn of from now on.
  event_time event() { return ++time_; }
  /// This thread's own events are known to it.
  [[nodiscard]] bool knows(unsigned thread, event_time event) const {
    return (thread == number_ && event > begun_) ||
           (others_ != nullptr && others_->of(thread) >= event);
  }
  /// Returns all that the thread knows now, as an event.
  view here() { return {others_, number_, event(), begun_}; }
  /// All of `more` is known from now on.
  void learn(view const& more);
  /// Notes that the thread has read a value released with `said`, by a thread of its own block or
  /// not. It is known from the next fence on that reaches that far.
  void hear(view const& said, scope from);
  void fence(scope reach);
  /// Returns the knowledge that its stores carry, for threads of its block or for all others.
  [[nodiscard]] view const& released(scope to) const { return released_[static_cast<int>(to)]; }

  /// Lets these threads meet: each then knows what any of them knows.
  static void meet(std::span<thread_order* const> all);
  /// Everything that `known` and these threads know, and their own events.
  static knowledge_ptr joined(knowledge_ptr const& known, std::span<thread_order* const> all);

 private:
  [[nodiscard]] view now() const { return {others_, number_, time_, begun_}; }

  unsigned number_ = 0;
  unsigned threads_ = 0;
  event_time time_ = 0;
  event_time begun_ = 0;  ///< those up to it are another thread's
  knowledge_ptr others_;
  view released_[2];
  std::vector<view> heard_[2];  ///< [scope]
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
