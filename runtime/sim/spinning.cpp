// SPDX-License-Identifier: Apache-2.0
// Threads that poll words which nobody changes any more: a deadlock of spinning threads.

#include "machine.hpp"

#include <algorithm>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// The thread has looked at a word and changed nothing.
void machine::polled(std::uintptr_t address, std::uint64_t value) {
  thread& t = *current_;
  std::uint64_t const look = (address * 0x9e3779b97f4a7c15ull ^ value) * 0xbf58476d1ce4e5b9ull;
  if (std::find(t.looks.begin(), t.looks.end(), look) == t.looks.end()) {
    t.looks[t.next_look++ % t.looks.size()] = look;
    t.polls = 0;
    return;
  }
  if (++t.polls >= settings_.max_polls) check_spinning();
}

/// The thread has changed something, or met others.
void machine::got_on() {
  current_->polls = 0;
  somebody_got_on_ = true;
}

void machine::check_spinning() {
  // Who sleeps in wait_until has a time limit of its own.
  if (!waiting_.empty()) return;
  bool const all = std::all_of(runnable_.begin(), runnable_.end(), [&](candidate const& c) {
    return threads_[c.number].polls >= settings_.max_polls;
  });
  if (all && somebody_got_on_) {
    // Perhaps they have looked so often since before that: what they wait for may be there now.
    somebody_got_on_ = false;
    for (candidate const& c : runnable_) threads_[c.number].polls = 0;
  } else if (all) {
    misuse("deadlock: every thread that is not at a barrier or in a warp collective has looked " +
               std::to_string(settings_.max_polls) + " times at what nobody changes",
           current_->where);
  }
  // Its turn ends, so that the others come to this, too.
  budget_ = 0;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
