// SPDX-License-Identifier: Apache-2.0
// The text of an error of device code: threads, their places, what they wait for and their calls.

#include "call_stack.hpp"
#include "device_memory.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Most lines for threads in one message, and of these with a call stack.
constexpr std::size_t most_lines = 16, most_stacks = 6;

char const* base_name(char const* path) {
  char const* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

std::string bytes_of(std::ptrdiff_t first, std::size_t size, std::string const& object) {
  return "bytes " + std::to_string(first) + " to " +
         std::to_string(first + static_cast<std::ptrdiff_t>(size) - 1) + " of " + object;
}

/// False before the first operation of a thread.
bool has_place(thread const& t) { return t.is_plain || t.where.line() != 0; }

std::string number_of(std::size_t n, std::string const& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

}  // namespace

std::string to_string(device::site const& where) {
  return std::string{base_name(where.file_name())} + ":" + std::to_string(where.line());
}

std::string to_string(device::index const& at, dimensions const& of) {
  std::string text = std::to_string(at.x);
  if (of.y == 1 && of.z == 1) return text;
  text.insert(text.begin(), '(');
  text.append(", ").append(std::to_string(at.y));
  if (of.z != 1) text.append(", ").append(std::to_string(at.z));
  return text.append(")");
}

// ---- names

std::string machine::name_of(thread const& t) const { return name_of(t.number, t.home->number); }

/// The thread of that number when it ran block number `block`.
std::string machine::name_of(unsigned number, unsigned block) const {
  thread const& t = threads_[number];
  running_launch const& l = *t.home->of;
  runtime::launch_shape const& shape = l.kernel.shape;
  std::string const launch =
      launches_.size() == 1 ? "" : "launch at " + to_string(l.kernel.where) + ", ";
  return launch + "block " +
         to_string(index_of(block - l.first_block, shape.blocks), shape.blocks) + ", thread " +
         to_string(t.index, shape.threads);
}

std::string machine::name_of(void const* address, std::size_t size) const {
  auto const* const at = static_cast<std::byte const*>(address);
  auto const in = [&](std::byte const* begin, std::size_t bytes) {
    return !std::less<>{}(at, begin) && std::less<>{}(at, begin + bytes);
  };
  if (allocation const* const a = memory().near(address))
    return device_memory::describe(*a, address, size);
  for (running_launch const& l : launches_) {
    std::size_t const shared = l.kernel.shape.shared_bytes;
    for (block const& b : l.blocks) {
      std::string const owner = " bytes of block " + to_string(b.index, l.kernel.shape.blocks);
      if (in(b.shared, shared)) {
        return bytes_of(at - b.shared, size,
                        "the " + std::to_string(shared) + owner + " in dynamic shared memory");
      }
      for (static_object const& o : b.statics) {
        if (in(o.begin, o.bytes)) {
          return bytes_of(at - o.begin, size,
                          "the " + std::to_string(o.bytes) + owner +
                              " in shared memory (declared at " + to_string(o.where) + ")");
        }
      }
    }
  }
  std::string const variable = variable_at(address);
  return number_of(size, "byte") + " of " + (variable.empty() ? "a variable" : variable);
}

std::string machine::place_of(thread const& t) const {
  return t.is_plain ? places().line(t.at) : to_string(t.where);
}

std::string machine::describe(thread const& t) const {
  std::string text = name_of(t) + ": ";
  bool const has_begun = has_place(t);
  switch (t.state) {
    case thread_state::runnable:
      text += !has_begun ? "has not begun" : spins(t) ? "spins" : "runs";
      break;
    case thread_state::at_barrier:
      text += "at a barrier";
      break;
    case thread_state::at_cluster_barrier:
      text += "at a barrier of its cluster";
      break;
    case thread_state::in_collective:
      text += "in a warp collective";
      break;
    case thread_state::asleep:
      text += "waits";
      break;
    case thread_state::ended:
      text += "ended";
      break;
  }
  return has_begun ? text + ", " + place_of(t) : text;
}

/// The word that the thread polls, its value and the store that changed it last; empty if the
/// thread does not poll.
std::string machine::polled_word(thread const& t) {
  thread::word const word = t.read;
  if (word.address == 0 || (t.state != thread_state::asleep && !spins(t))) return "";
  auto const* const address = reinterpret_cast<void const*>(word.address);
  if (auto const found = copies_.barriers.find(address); found != copies_.barriers.end())
    return "; waits for " + found->second.missing() + " of the barrier in " +
           name_of(address, word.bytes);
  std::uint64_t value = 0;
  std::memcpy(&value, address, std::min<std::size_t>(word.bytes, sizeof(value)));
  std::string const text =
      "; finds " + std::to_string(value) + " in " + name_of(address, word.bytes);
  std::uintptr_t const place = word.address / 4 * 4;
  history const* const h = histories_.find(place);
  if (h == nullptr || h->last_change.thread == no_thread)
    return text + ", which no thread has changed";
  history::change const& last = h->last_change;
  if (std::memcmp(&last.value, reinterpret_cast<void const*>(place), sizeof(last.value)) != 0)
    return text + ", changed last by plain code";
  thread const& writer = threads_[last.thread];
  bool const has_ended = writer.state == thread_state::ended || writer.home->number != last.block;
  return text + ", changed last by " + name_of(last.thread, last.block) + " at " +
         (last.place != 0 ? places().line(last.place) : to_string(last.where)) +
         (has_ended ? ", which has ended" : "");
}

/// The calls of a suspended thread. It goes on as if nothing had happened when it is resumed.
std::vector<frame> machine::calls_of(thread& t) {
  std::vector<void const*> addresses;
  scheduler_stack_.leave(t.stack);
  t.fiber = std::move(t.fiber).resume_with([&](boost::context::fiber&& scheduler) {
    t.stack.enter(scheduler_stack_);
    addresses = return_addresses();
    t.stack.leave(scheduler_stack_);
    scheduler = std::move(scheduler).resume();
    t.stack.enter(scheduler_stack_);
    return std::move(scheduler);
  });
  scheduler_stack_.enter(t.stack);
  return frames_of(addresses);
}

/// A line for each place where threads are, with what they poll there, and their calls. Only while
/// no thread runs. `but`: a thread that the message has named.
std::string machine::where_everyone_is(thread const* but, bool with_calls) {
  struct group {
    thread* first;
    std::size_t size = 0;
  };
  std::vector<group> groups;
  std::map<std::string, std::size_t> number_of_group;
  for (thread& t : threads_) {
    bool const is_of_no_block = t.home == nullptr || (t.state == thread_state::runnable &&
                                                      t.home->multiprocessor == nullptr);
    if (&t == but || is_of_no_block) continue;
    std::string const name = name_of(t);
    // All but the thread's name.
    std::string const key = std::to_string(t.home->of->first_block) +
                            describe(t).substr(name.size()) +
                            (spins(t) ? std::to_string(t.read.address) : "");
    auto const [place, is_new] = number_of_group.try_emplace(key, groups.size());
    if (is_new) groups.push_back({&t});
    ++groups[place->second].size;
  }
  std::string text;
  std::size_t stacks_left = with_calls ? most_stacks : 0, threads_left = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto const& [first, size] = groups[i];
    if (i >= most_lines) {
      threads_left += size;
      continue;
    }
    text += "\n  " + describe(*first);
    std::vector<frame> calls;
    bool const has_calls = has_place(*first) && first->state != thread_state::ended;
    if (has_calls && stacks_left != 0) calls = calls_of(*first), --stacks_left;
    // The innermost call is at the place that the line names.
    if (!calls.empty()) text += " in " + calls.front().function;
    if (size > 1) text += " (and " + number_of(size - 1, "other thread") + ")";
    text += polled_word(*first);
    if (calls.size() > 1) text += to_string(std::span{calls}.subspan(1));
  }
  if (threads_left != 0) text += "\n  and " + number_of(threads_left, "thread") + " elsewhere";
  for (running_launch const& l : launches_) {
    std::uint64_t const blocks = l.kernel.shape.blocks.count();
    if (l.begun_blocks == blocks) continue;
    auto const resident =
        std::ranges::count_if(l.blocks, [](block const& b) { return b.multiprocessor != nullptr; });
    text += "\n  " + std::to_string(blocks - l.begun_blocks) + " of " + std::to_string(blocks) +
            " blocks of the launch at " + to_string(l.kernel.where) +
            " have not begun: the grid is larger than the " + std::to_string(resident) +
            " blocks that are resident";
  }
  return text + others.waiting;
}

// ---- errors

void machine::fail(std::string const& what, device::site const& where, listing lists) {
  if (failed_) return;
  failed_ = true;
  failure_ = what;
  failure_where_ = where;
  lists_ = lists;
}

void machine::misuse(std::string const& what, device::site const& where) {
  bool const is_here = where.line() == current_->where.line() &&
                       std::strcmp(where.file_name(), current_->where.file_name()) == 0;
  fail(what + " [" + name_of(*current_) + "]", where.line() != 0 ? where : running_->kernel.where,
       is_here || !has_place(*current_) ? listing::others : listing::all);
  // Never resumed: run() ends the launch.
  switch_out();
  std::terminate();
}

void machine::deadlock(std::string const& what) {
  fail(what, running_->kernel.where, listing::all_with_calls);
  switch_out();
  std::terminate();
}

void machine::throw_failure() {
  std::string details;
  if (lists_ != listing::none) {
    details = where_everyone_is(lists_ == listing::others ? current_ : nullptr,
                                lists_ == listing::all_with_calls);
  }
  if (std::string const damage = memory_damage(); !damage.empty()) details += "\n  " + damage;
  throw misuse_error{failure_, failure_where_, details};
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
