// SPDX-License-Identifier: Apache-2.0
// The schedule of a simulated launch: fibers, who runs next, sleep, time and errors.

#include "machine.hpp"

#include <warden/simt/arena.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t cache_line = 64;
constexpr std::byte canary{0xa5};
constexpr std::size_t canary_bytes = 64;

stack_pool& stacks() {
  static stack_pool pool;
  return pool;
}

/// Hands a pooled stack to a fiber; the pool outlives it, so giving back is nothing.
struct pooled_stack {
  boost::context::stack_context allocate() { return stacks().take(); }
  void deallocate(boost::context::stack_context&) noexcept {}
};

char const* base_name(char const* path) {
  char const* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

std::string to_string(device::site const& where) {
  return std::string{base_name(where.file_name())} + ":" + std::to_string(where.line());
}

}  // namespace

machine* machine::now = nullptr;

stack_pool::~stack_pool() {
  for (std::byte* s : stacks_) munmap(s, stack_bytes + page);
}

boost::context::stack_context stack_pool::take() {
  if (taken_ == stacks_.size()) {
    void* const memory = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc{};
    stacks_.push_back(static_cast<std::byte*>(memory));
  }
  boost::context::stack_context context;
  // The tops of stacks, where fibers mostly are, do not all fall into the same sets of a cache.
  std::size_t const left_out = taken_ % 64 * cache_line;
  context.size = stack_bytes - left_out;
  context.sp = stacks_[taken_++] + page + context.size;
  return context;
}

machine::machine(settings const& chosen, std::uint64_t seed, unsigned blocks, unsigned threads,
                 std::size_t shared_bytes, std::function<void()> body)
    : settings_{chosen},
      random_{seed},
      threads_per_block_{threads},
      shared_bytes_{shared_bytes},
      body_{std::move(body)},
      threads_(std::size_t{blocks} * threads),
      blocks_(blocks),
      watch_counts_(1u << 16) {
  auto const aligned_up = [](std::uintptr_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
  };
  arena_stride_ = aligned_up(shared_bytes + canary_bytes);
  arenas_.resize(arena_stride_ * blocks + arena_alignment);
  auto* const aligned =
      reinterpret_cast<std::byte*>(aligned_up(reinterpret_cast<std::uintptr_t>(arenas_.data())));
  for (unsigned b = 0; b < blocks; ++b) {
    block& home = blocks_[b];
    home.rank = b;
    home.first_thread = b * threads;
    home.threads = threads;
    home.shared = aligned + b * arena_stride_;
    // Garbage, never zeros: what a kernel does not initialize must not look initialized.
    for (std::size_t i = 0; i < shared_bytes; i += 8) {
      std::uint64_t const garbage = random_.next() | 0x0101010101010101ull;
      std::memcpy(home.shared + i, &garbage, std::min<std::size_t>(8, shared_bytes - i));
    }
    std::fill_n(home.shared + shared_bytes, arena_stride_ - shared_bytes, canary);
    for (unsigned t = 0; t < threads; ++t) {
      thread& one = threads_[b * threads + t];
      one.home = &home;
      one.rank = t;
      one.number = b * threads + t;
      one.order.begin(one.number, static_cast<unsigned>(threads_.size()));
      one.priority = random_.next() | lowest_priority_;
      one.fiber = boost::context::fiber{std::allocator_arg, pooled_stack{},
                                        [this, &one](boost::context::fiber&& scheduler) {
                                          scheduler_ = std::move(scheduler);
                                          thread_main(one);
                                          return std::move(scheduler_);
                                        }};
      add_runnable(one);
    }
  }
  alive_ = threads_.size();
  for (unsigned i = 0; i < settings_.pct_changes; ++i) {
    change_points_.push_back(random_.next() % std::max<std::uint64_t>(settings_.pct_horizon, 1));
  }
  std::sort(change_points_.begin(), change_points_.end(), std::greater<>{});
}

machine::~machine() {
  // A launch that failed leaves fibers in the middle of user code. They are abandoned, not unwound:
  // destructors of device code would ask a stopped machine for operations.
  for (thread& t : threads_) {
    if (t.state != thread_state::ended) new (&t.fiber) boost::context::fiber{};
  }
  stacks().free_all();
}

void machine::thread_main(thread& t) {
  try {
    body_();
  } catch (boost::context::detail::forced_unwind const&) {
    throw;
  } catch (std::exception const& e) {
    misuse(std::string{"an exception left device code: "} + e.what(), t.where);
  }
  end_thread(t);
}

void machine::run() {
  machine* const outer = now;
  if (outer != nullptr) throw misuse_error{"a launch inside a launch"};
  now = this;
  while (alive_ != 0 && !failed_) {
    if (runnable_.empty()) {
      wake_by_time();
      continue;
    }
    current_ = &choose();
    ++report_.switches;
    budget_ = draw_budget();
    current_->fiber = std::move(current_->fiber).resume();
  }
  if (!failed_) check_arena();
  now = nullptr;
  report_.trace_hash = hash_;
  report_.nanoseconds = nanoseconds();
  if (failed_) throw misuse_error{failure_, failure_where_};
}

void machine::check_arena() {
  for (block const& b : blocks_) {
    std::byte const* const begin = b.shared + shared_bytes_;
    std::byte const* const end = b.shared + arena_stride_;
    if (std::any_of(begin, end, [](std::byte v) { return v != canary; })) {
      failed_ = true;
      failure_ = "block " + std::to_string(b.rank) + " wrote past its " +
                 std::to_string(shared_bytes_) + " bytes of shared memory";
    }
  }
}

// ---- who runs next

std::int64_t machine::draw_budget() {
  if (settings_.order == schedule::pct) {
    // Whoever spins that long is demoted, see choose_by_priority.
    std::int64_t const longest = 100'000;
    if (change_points_.empty()) return longest;
    auto const left =
        static_cast<std::int64_t>(change_points_.back()) - static_cast<std::int64_t>(report_.steps);
    return std::clamp<std::int64_t>(left, 1, longest);
  }
  // Mostly short turns, where races hide; now and then a long one, so that others fall far behind.
  std::uint32_t const kind = random_.below(16);
  if (kind < 9) return 1 + random_.below(4);
  if (kind < 14) return 1 + random_.below(32);
  return 1 + random_.below(400);
}

thread& machine::choose() {
  if (settings_.order == schedule::pct) return choose_by_priority();
  auto const size = static_cast<std::uint32_t>(runnable_.size());
  // One block at a time for a while, as on a busy multiprocessor.
  if (--block_budget_ <= 0) {
    favourite_ = runnable_[random_.below(size)].home;
    block_budget_ = random_.below(4) == 0 ? 1 + random_.below(2000) : 1 + random_.below(100);
  }
  candidate const* chosen = &runnable_[random_.below(size)];
  for (int tries = 0; tries < 3 && chosen->home != favourite_; ++tries) {
    chosen = &runnable_[random_.below(size)];
  }
  return threads_[chosen->number];
}

thread& machine::choose_by_priority() {
  bool const change =
      current_ != nullptr && !change_points_.empty() && report_.steps >= change_points_.back();
  // Not so who only made way for others.
  bool const spins = budget_ <= 0 && !made_way_;
  made_way_ = false;
  if (change) change_points_.pop_back();
  if ((change || spins) && current_ != nullptr) {
    current_->priority = --lowest_priority_;
    if (current_->state == thread_state::runnable)
      runnable_[current_->runnable_place].priority = current_->priority;
  }
  auto const best = std::max_element(
      runnable_.begin(), runnable_.end(),
      [](candidate const& a, candidate const& b) { return a.priority < b.priority; });
  return threads_[best->number];
}

void machine::add_runnable(thread& t) {
  t.state = thread_state::runnable;
  t.runnable_place = static_cast<std::uint32_t>(runnable_.size());
  runnable_.push_back({t.number, t.home, t.priority});
}

void machine::make_runnable(thread& t) {
  if (t.state == thread_state::runnable) return;
  add_runnable(t);
  if (settings_.order == schedule::pct && current_ != nullptr && t.priority > current_->priority) {
    budget_ = 1;
    made_way_ = true;
  }
}

void machine::block_current(thread_state state) {
  thread& t = *current_;
  candidate const& last = runnable_.back();
  threads_[last.number].runnable_place = t.runnable_place;
  runnable_[t.runnable_place] = last;
  runnable_.pop_back();
  t.state = state;
}

void machine::switch_out() { scheduler_ = std::move(scheduler_).resume(); }

void machine::step(device::operation what, device::site const& where) {
  thread& t = *current_;
  t.where = where;
  ++report_.steps;
  hash_ = (hash_ ^ (std::uint64_t{t.number} << 24 ^ static_cast<std::uint64_t>(what) << 16 ^
                    where.line())) *
          0x100000001b3ull;
  if (what == device::operation::shared) ++report_.counts.shared_accesses;
  if (--budget_ > 0) return;
  if (report_.steps > settings_.max_steps) {
    misuse("no end after " + std::to_string(settings_.max_steps) + " steps", where);
  }
  switch_out();
}

void machine::yield(device::site const& where) {
  budget_ = 0;
  made_way_ = false;
  step(device::operation::yield, where);
}

void machine::end_thread(thread& t) {
  block& b = *t.home;
  if (b.at_barrier != 0) {
    misuse("thread ended while others of its block wait at a barrier", t.where);
  }
  block_current(thread_state::ended);
  ++b.ended;
  --alive_;
  // Whoever waits for this lane waits for ever.
  unsigned const first = b.first_thread + t.rank / 32 * 32;
  for (unsigned n = first; n < std::min(first + 32, b.first_thread + b.threads); ++n) {
    thread const& other = threads_[n];
    if (other.state == thread_state::in_collective && (other.mask >> (t.rank % 32) & 1u) != 0) {
      misuse("lane ended, but a warp collective names it in its mask", other.where);
    }
  }
}

// ---- errors

std::string machine::describe(thread const& t) {
  char const* state = "";
  switch (t.state) {
    case thread_state::runnable:
      state = "runs";
      break;
    case thread_state::at_barrier:
      state = "at a barrier";
      break;
    case thread_state::in_collective:
      state = "in a warp collective";
      break;
    case thread_state::asleep:
      state = "waits";
      break;
    case thread_state::ended:
      state = "ended";
      break;
  }
  return "block " + std::to_string(t.home->rank) + ", thread " + std::to_string(t.rank) + ": " +
         state + ", " + to_string(t.where);
}

std::string machine::where_everyone_is() const {
  // Neighbours at one place are one line.
  std::string text;
  for (std::size_t i = 0; i < threads_.size();) {
    std::size_t j = i + 1;
    auto const same = [&](thread const& a, thread const& b) {
      return a.home == b.home && a.state == b.state && a.where.line() == b.where.line() &&
             std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
    };
    while (j < threads_.size() && same(threads_[i], threads_[j])) ++j;
    text += "\n  " + describe(threads_[i]);
    if (j - i > 1) text += " (and " + std::to_string(j - i - 1) + " threads after it)";
    i = j;
  }
  return text;
}

void machine::misuse(std::string const& what, device::site const& where) {
  if (!failed_) {
    failed_ = true;
    failure_ = what + " [" + describe(*current_) + "]" + where_everyone_is();
    failure_where_ = where;
  }
  // Never resumed: run() ends the launch.
  switch_out();
  std::terminate();
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
