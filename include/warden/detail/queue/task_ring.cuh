// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ring of tasks in global memory: first in, first out, for any threads.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/queue/queue_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A task as words of global or shared memory.
template <class Task>
struct task_words {
  static_assert(std::is_trivially_copyable_v<Task> && std::is_default_constructible_v<Task>,
                "warden: a task is trivially copyable and default-constructible");
  /// Type of a word.
  using word = std::conditional_t<sizeof(Task) % 8 == 0, std::uint64_t, std::uint32_t>;
  /// Words of a task.
  static constexpr unsigned count = (sizeof(Task) + sizeof(word) - 1) / sizeof(word);

  /// Constructs uninitialized words.
  task_words() = default;
  /// Copies a task.
  WARDEN_DEVICE explicit task_words(Task const& task) : words{} {
    memcpy(words, &task, sizeof(Task));
  }
  /// Returns the task.
  [[nodiscard]] WARDEN_DEVICE Task task() const {
    Task result;
    memcpy(&result, words, sizeof(Task));
    return result;
  }

  word words[count];  ///< the task's bytes, then zeros
};

/// A ring of slots. A push claims room, takes positions, puts a task at each, and announces them. A
/// pop claims announced tasks, takes positions, gets the task at each, and releases the room. One
/// thread claims, takes, announces and releases for a warp or a block; the threads put and get.
///
/// Invariants:
/// - A pop takes a position only if a push took it before: claims of tasks never exceed the
///   announced tasks, which never exceed the positions taken by pushes. So a `get` waits only for a
///   `put` that is under way.
/// - A push takes position p only after a pop took position p - slots: claims of room never exceed
///   the capacity and the released room. So a `put` waits only for a `get` under way, of a lower
///   position. No wait closes a circle, because positions fall along it.
/// - The tag of slot p % slots is 2 * (p / slots) while it is free for position p, and one more
///   while it holds the task of p. It tells a task from the one `slots` positions before.
template <class Task>
class task_ring {
 public:
  /// A slot's task.
  using words = task_words<Task>;

  task_ring() = default;
  /// Constructs the first of several rings, in one array after another. Each has `2^log2_slots`
  /// slots, of which at most `capacity` are in use. `queued` counts the available tasks of all
  /// rings: if there is one, its own.
  task_ring(words* tasks, std::uint32_t* tags, ring_control* own, unsigned log2_slots,
            std::uint64_t capacity, std::int64_t* queued, queue_control* control, time_limit limit)
      : tasks_{tasks},
        tags_{tags},
        own_{own},
        log2_slots_{log2_slots},
        capacity_{capacity},
        queued_{queued},
        control_{control},
        limit_{limit} {}
  /// Returns the ring `number` places after this one.
  [[nodiscard]] WARDEN_DEVICE task_ring after(unsigned number) const {
    task_ring other = *this;
    other.tasks_ += std::uint64_t{number} << log2_slots_;
    other.tags_ += std::uint64_t{number} << log2_slots_;
    other.own_ += number;
    return other;
  }

  /// Returns the number of free slots of a moment ago.
  [[nodiscard]] WARDEN_DEVICE std::int64_t room() const {
    return simt::load_relaxed(&own_->room) + static_cast<std::int64_t>(capacity_);
  }
  /// Returns the number of available tasks of a moment ago.
  [[nodiscard]] WARDEN_DEVICE std::int64_t available() const {
    return simt::load_relaxed(&own_->available);
  }

  /// Returns how many of `n` tasks may be pushed. The ring had room for `seen` of them.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t claim_room(std::uint32_t n, std::int64_t seen) const {
    return claim(&own_->room, static_cast<std::int64_t>(capacity_), n, seen);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t claim_room(std::uint32_t n) const {
    return claim_room(n, room());
  }
  /// Returns the first of `n` positions for tasks with room. They are to be put soon.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t take_push(std::uint32_t n) const {
    return simt::fetch_add(&own_->tail, std::uint64_t{n});
  }
  /// Puts a task at a position that a push took. Releases what the caller wrote, and what it saw,
  /// to the thread that gets the task. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool put(std::uint64_t position, words const& task) const {
    std::uint32_t* const tag = &tags_[slot_of(position)];
    std::uint32_t const free = free_tag(position);
    if (simt::load_acquire(tag) != free && !wait_for(tag, free, position)) return false;
    typename words::word* const to = tasks_[slot_of(position)].words;
    WARDEN_UNROLL
    for (unsigned i = 0; i < words::count; ++i) simt::store_relaxed(&to[i], task.words[i]);
    simt::store_release(tag, free + 1);  // mutation: task-release
    return true;
  }
  /// Lets pops claim `n` tasks, which have been put or will be soon.
  WARDEN_DEVICE void announce(std::uint32_t n) const {
    simt::add(&own_->available, std::int64_t{n});
    if (has_others()) simt::add(queued_, std::int64_t{n});
  }

  /// Returns how many of `n` tasks the caller may pop. The ring had `seen` of them.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t claim_tasks(std::uint32_t n, std::int64_t seen) const {
    std::uint32_t const count = claim(&own_->available, 0, n, seen);  // mutation: task-claim
    if (count != 0 && has_others()) simt::add(queued_, -std::int64_t{count});
    return count;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t claim_tasks(std::uint32_t n) const {
    return claim_tasks(n, available());
  }
  /// Returns the first of `n` positions for claimed tasks.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t take_pop(std::uint32_t n) const {
    return simt::fetch_add(&own_->head, std::uint64_t{n});
  }
  /// Gets the task at a position that a pop took. Acquires what the thread that put it wrote.
  /// Returns false if the launch is poisoned.
  WARDEN_DEVICE bool get(std::uint64_t position, words& task) const {
    std::uint32_t* const tag = &tags_[slot_of(position)];
    std::uint32_t const full = free_tag(position) + 1;
    if (simt::load_acquire(tag) != full && !wait_for(tag, full, position)) return false;
    typename words::word const* const from = tasks_[slot_of(position)].words;
    WARDEN_UNROLL
    for (unsigned i = 0; i < words::count; ++i) task.words[i] = simt::load_relaxed(&from[i]);
    simt::store_release(tag, full + 1);  // mutation: task-got
    return true;
  }
  /// Returns the room of `n` tasks, which have been got or will be soon.
  WARDEN_DEVICE void release(std::uint32_t n) const { simt::add(&own_->room, std::int64_t{n}); }

  // By the calling thread alone. Threads that happen to be converged share each atomic, but not
  // those on `unfinished`, which each thread orders before its release of the task.

  /// Pushes a task. Returns false if the ring is full.
  WARDEN_DEVICE bool push(words const& task) const {
    if (!claim_one(&own_->room, static_cast<std::int64_t>(capacity_))) return false;
    control_->count_tasks(1);  // mutation: task-count-one
    bool const is_put = put(simt::fetch_add_together(&own_->tail, 1), task);
    simt::add_together(&own_->available, 1);
    if (has_others()) simt::add_together(queued_, 1);
    return is_put;
  }
  /// Claims a task. Returns false if there is none.
  [[nodiscard]] WARDEN_DEVICE bool claim_task() const {
    bool const is_claimed = claim_one(&own_->available, 0);
    if (is_claimed && has_others()) simt::add_together(queued_, -1);
    return is_claimed;
  }
  /// Gets the claimed task. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool get_claimed(words& task) const {
    bool const is_got = get(simt::fetch_add_together(&own_->head, 1), task);
    simt::add_together(&own_->room, 1);
    return is_got;
  }

  /// Waits until `is_over()` is true, with the queue's time limit. Returns false once the launch is
  /// poisoned. `watch(f)` is as in simt::wait_until.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait(wait_kind kind, std::uint64_t index, Predicate is_over,
                          Watch watch) const {
    watchdog patience{&control_->health, limit_};
    return simt::wait_until(
        is_over,
        [&] {
          return patience.hopeful([&] { return simt::load_relaxed(&control_->unfinished); },
                                  [&] { control_->give_up(kind, index, queued()); });
        },
        watch);
  }
  /// Waits until there may be a task, or none is left and none is running. Returns false once the
  /// launch is poisoned. Called by one thread of a group that pops together.
  WARDEN_DEVICE bool wait_for_tasks() const {
    simt::add(&control_->hungry, 1u);
    bool const hopeful = wait(
        wait_kind::task, 0,
        [&] {
          return queued() > 0 ||
                 queue_control::tasks_in(simt::load_relaxed(&control_->unfinished)) == 0;
        },
        [&](auto watch) {
          watch(queued_);
          watch(&control_->unfinished);
        });
    simt::add(&control_->hungry, ~0u);
    return hopeful;
  }
  /// Returns the state of this ring.
  [[nodiscard]] WARDEN_DEVICE ring_control& own() const { return *own_; }
  /// Returns the result of a `pop` that has claimed nothing.
  [[nodiscard]] WARDEN_DEVICE pop_result nothing() const {
    bool const is_over = control_->has_finished() || is_poisoned(&control_->health);
    return is_over ? pop_result::finished : pop_result::empty;
  }
  /// Returns the state of the queue.
  [[nodiscard]] WARDEN_HOST_DEVICE queue_control& control() const { return *control_; }

 private:
  /// Returns how many of `n` pieces the caller gets of `*stock + bias`, and takes them. It asks for
  /// at most `seen`, because pieces that it takes in excess are missing for others until it gives
  /// them back.
  WARDEN_DEVICE static std::uint32_t claim(std::int64_t* stock, std::int64_t bias, std::uint32_t n,
                                           std::int64_t seen) {
    if (n == 0 || seen <= 0) return 0;
    std::int64_t const wanted = seen < n ? seen : n;
    std::int64_t const before = simt::fetch_add(stock, -wanted) + bias;
    std::int64_t const got = before <= 0 ? 0 : before < wanted ? before : wanted;
    if (got < wanted) simt::add(stock, wanted - got);  // mutation: task-claim-back
    return static_cast<std::uint32_t>(got);
  }
  /// Takes one piece of `*stock + bias`, if there is one.
  WARDEN_DEVICE static bool claim_one(std::int64_t* stock, std::int64_t bias) {
    if (simt::load_relaxed(stock) + bias <= 0) return false;
    std::uint64_t const before =
        simt::fetch_add_together(reinterpret_cast<std::uint64_t*>(stock), ~std::uint64_t{0});
    bool const is_taken = static_cast<std::int64_t>(before) + bias > 0;
    if (!is_taken) simt::add_together(stock, 1);
    return is_taken;
  }
  [[nodiscard]] WARDEN_DEVICE bool has_others() const { return queued_ != &own_->available; }
  [[nodiscard]] WARDEN_DEVICE std::int64_t queued() const { return simt::load_relaxed(queued_); }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t slot_of(std::uint64_t position) const {
    return position & ((std::uint64_t{1} << log2_slots_) - 1);
  }
  /// Returns the tag of a slot that is free for `position`.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t free_tag(std::uint64_t position) const {
    return 2 * static_cast<std::uint32_t>(position >> log2_slots_);  // mutation: task-tag
  }
  WARDEN_DEVICE bool wait_for(std::uint32_t const* tag, std::uint32_t wanted,
                              std::uint64_t position) const {
    return wait(
        wait_kind::task_slot, position, [&] { return simt::load_acquire(tag) == wanted; },
        [&](auto watch) { watch(tag); });
  }

  words* tasks_ = nullptr;
  std::uint32_t* tags_ = nullptr;
  ring_control* own_ = nullptr;
  unsigned log2_slots_ = 0;
  std::uint64_t capacity_ = 0;
  std::int64_t* queued_ = nullptr;
  queue_control* control_ = nullptr;
  time_limit limit_{};
};

}  // namespace detail
WARDEN_NAMESPACE_END
