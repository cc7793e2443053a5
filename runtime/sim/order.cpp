// SPDX-License-Identifier: Apache-2.0
// Vector clocks: joins, fences and meetings.

#include "order.hpp"

#include <algorithm>
#include <cstddef>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Returns a copy that may be changed, because nothing else refers to it yet.
boost::intrusive_ptr<knowledge> copy_of(knowledge_ptr const& original, unsigned threads) {
  boost::intrusive_ptr<knowledge> made{new knowledge};
  if (original != nullptr) made->times = original->times;
  if (made->times.size() < threads) made->times.resize(threads);
  return made;
}

void add(knowledge& to, knowledge const& more) {
  if (to.times.size() < more.times.size()) to.times.resize(more.times.size());
  for (std::size_t t = 0; t < more.times.size(); ++t)
    to.times[t] = std::max(to.times[t], more.times[t]);
}
void add(knowledge& to, view const& more) {
  if (more.others != nullptr) add(to, *more.others);
  if (more.thread == no_thread) return;
  if (to.times.size() <= more.thread) to.times.resize(more.thread + 1);
  to.times[more.thread] = std::max(to.times[more.thread], more.time);
}

bool any_less(event_time const* a, event_time const* b, std::size_t n) {
  unsigned any = 0;
  for (std::size_t i = 0; i < n; ++i) any |= a[i] < b[i] ? 1u : 0u;
  return any != 0;
}

}  // namespace

bool view::covers(view const& part) const {
  if (part.thread != no_thread) return knows(part.thread, part.time);
  if (part.others == nullptr || part.others == others) return true;
  // Several threads at a time: usually all is known, or the difference comes late.
  constexpr std::size_t together = 32;
  std::vector<event_time> const& asked = part.others->times;
  for (std::size_t first = 0; first < asked.size(); first += together) {
    std::size_t const end = std::min(first + together, asked.size());
    if (others != nullptr && end <= others->times.size() &&
        !any_less(&others->times[first], &asked[first], end - first))
      continue;
    for (std::size_t t = first; t < end; ++t) {
      if (!knows(static_cast<unsigned>(t), asked[t])) return false;
    }
  }
  return true;
}

view join(view const& a, view const& b, unsigned threads) {
  if (a.covers(b)) return a;
  if (b.covers(a)) return b;
  auto const joined = copy_of(a.others, threads);
  add(*joined, view{nullptr, a.thread, a.time});
  add(*joined, b);
  return {joined, no_thread, 0};
}

void thread_order::learn(view const& more) {
  if (now().covers(more)) return;
  auto const joined = copy_of(others_, threads_);
  add(*joined, more);
  others_ = joined;
}

void thread_order::hear(view const& said, scope from) {
  if (said.empty() || now().covers(said)) return;
  std::vector<view>& heard = heard_[static_cast<int>(from)];
  for (view const& v : heard) {
    if (v.covers(said)) return;
  }
  heard.push_back(said);
}

void thread_order::fence(scope reach) {
  for (int s = 0; s <= static_cast<int>(reach); ++s) {
    for (view const& v : heard_[s]) learn(v);
    heard_[s].clear();
  }
  view const released = here();
  for (int s = 0; s <= static_cast<int>(reach); ++s) released_[s] = released;
}

knowledge_ptr thread_order::joined(knowledge_ptr const& known, std::span<thread_order* const> all) {
  auto const all_known = copy_of(known, all.front()->threads_);
  knowledge const* last = known.get();
  for (thread_order const* one : all) {
    // Most threads know what they knew after their last meeting.
    if (one->others_ != nullptr && one->others_.get() != last) add(*all_known, *one->others_);
    last = one->others_.get();
    all_known->times[one->number_] = one->time_;
  }
  return all_known;
}

void thread_order::meet(std::span<thread_order* const> all) {
  knowledge_ptr const known = joined(all.front()->others_, all);
  for (thread_order* one : all) one->others_ = known;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
