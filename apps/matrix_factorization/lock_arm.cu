// SPDX-License-Identifier: Apache-2.0
// Arm under locks: a warp processes ratings in random order, each under the locks of its two rows.

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/step.cuh"
#include "apps/support/group_locks.cuh"

#include <warden/baseline.cuh>
#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace factorization {

namespace {

using warden::baseline::lock_array_ref;

template <class Step>
struct lock_arguments {
  float *users, *items;
  std::uint32_t user_count;
  plain_rating const* ratings;
  std::uint32_t n;
  lock_array_ref locks;  ///< locks of the users, then of the items
  Step step;
};

/// Waits for a lock. Called by one lane. Returns false if the launch is poisoned.
template <bool BackOff>
WARDEN_DEVICE bool take(lock_array_ref const& locks, std::uint32_t lock, std::uint32_t name) {
  auto wait = locks.wait(lock);
  for (unsigned failed = 0;; ++failed) {
    std::uint32_t const holder = locks.try_lock(lock, name);
    if (holder == 0) return true;
    if (!wait.hopeful(holder)) return false;
    if constexpr (BackOff) simt::back_off(failed);
  }
}

/// Users' locks come before items' locks in the lock order, so no cycle of waiting threads can
/// form. Items' locks are the hot ones. A warp that holds an item's lock waits for nothing else: it
/// loads the user's row before.
template <unsigned Rank, bool BackOff, class Step>
WARDEN_KERNEL void step_under_locks(WARDEN_GRID_CONSTANT lock_arguments<Step> const a) {
  simt::assume_one_dimension();
  row_lanes<Rank> const lanes;
  constexpr unsigned size = row_lanes<Rank>::lanes;
  std::uint32_t const step = warden::baseline::operation_step() / size;
  std::uint32_t const first = warden::baseline::first_operation() / size;
  std::uint32_t acquisition = 0;
  warden::baseline::for_each_from(first, step, a.n, [&](std::uint32_t i) {
    plain_rating const rating = a.ratings[i];
    std::uint32_t const item_lock = a.user_count + rating.item;
    std::uint32_t const name = lock_array_ref::name(acquisition++);
    auto* const user = share_of<Rank>(a.users, rating.user, lanes.lane());
    auto* const item = share_of<Rank>(a.items, rating.item, lanes.lane());
    // Acquire and release: the first lane fences after it takes the locks and before it releases
    // them. The group's barriers pass the writes of earlier holders on to the other lanes, and the
    // writes of these lanes to the first lane.
    bool alive = true;
    if (lanes.lane() == 0) alive = take<BackOff>(a.locks, rating.user, name);
    if (lanes.any(!alive)) return false;
    lanes.sync();
    simt::group_enter(lanes.mask(), a.users + std::size_t{rating.user} * Rank);
    row_share<Rank> p = *user;
    if (lanes.lane() == 0) alive = take<BackOff>(a.locks, item_lock, name);
    if (lanes.any(!alive)) return false;
    lanes.sync();
    simt::group_enter(lanes.mask(), a.items + std::size_t{rating.item} * Rank);
    row_share<Rank> q = *item;
    a.step.once(lanes, p, q, rating.value);
    *user = p;
    *item = q;
    simt::group_leave(lanes.mask(), a.items + std::size_t{rating.item} * Rank);
    simt::group_leave(lanes.mask(), a.users + std::size_t{rating.user} * Rank);
    lanes.sync();
    if (lanes.lane() == 0) a.locks.unlock(item_lock, rating.user);
    return true;
  });
}

template <unsigned Rank>
class lock_arm final : public arm {
 public:
  explicit lock_arm(task const& t)
      : task_{t},
        ratings_{scattered(*t.train, t.mean)},
        locks_{std::size_t{t.train->users} + t.train->items} {}

  std::string tune() override {
    auto const n = static_cast<std::uint32_t>(ratings_.size());
    choice_ = apps::fastest_group_locks(n, [&](auto const& choice, std::uint32_t part) {
      warden::timer clock;
      clock.start();
      // Steps with rate 0.
      run(choice, descending{{0, 0}}, part);
      clock.stop();
      warden::measurement const m = clock.result();
      locks_.wait();
      return m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics);
    });
    return to_string(choice_);
  }
  void descend_async(step_size const& size) override { run_all(descending{size}); }
  void count_async() override { run_all(counting{}); }
  void wait() override { locks_.wait(); }

 private:
  template <class Step>
  void run_all(Step const& step) {
    run(choice_, step, static_cast<std::uint32_t>(ratings_.size()));
  }
  template <class Step>
  void run(apps::group_lock_choice const& choice, Step const& step, std::uint32_t n) {
    auto const kernel = choice.back_off ? &step_under_locks<Rank, true, Step>
                                        : &step_under_locks<Rank, false, Step>;
    unsigned const blocks = choice.blocks != 0
                                ? choice.blocks
                                : static_cast<unsigned>(warden::runtime::resident_blocks(
                                      simt::make_kernel(kernel), choice.threads, 0));
    simt::launch(
        kernel, blocks, choice.threads, 0,
        {task_.users, task_.items, task_.train->users, ratings_.data(), n, locks_.ref(), step}, {});
  }

  task task_;
  warden::buffer<plain_rating> ratings_;
  warden::baseline::lock_array locks_;
  apps::group_lock_choice choice_{false, 8, 32};
};

}  // namespace

std::unique_ptr<arm> make_lock_arm(task const& t) { return make_by_rank<lock_arm>(t); }

}  // namespace factorization
