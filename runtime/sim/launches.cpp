// SPDX-License-Identifier: Apache-2.0
// The begin and the end of a launch on the simulated device, of its blocks and of its threads.

#include "machine.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

device::index index_of(unsigned rank, dimensions const& of) {
  return {rank % of.x, rank / of.x % of.y, rank / of.x / of.y};
}

/// True if the blocks of the launch begin together.
bool begins_at_once(runtime::launch_shape const& shape) {
  return shape.cooperative || shape.cluster != 1;
}

bool machine::fits(runtime::launch_shape const& shape) const {
  return blocks_that_fit(room_, shape) >= (begins_at_once(shape) ? shape.blocks.count() : 1);
}

running_launch& machine::begin(kernel_launch const& kernel, knowledge_ptr known,
                               bool counts_sectors) {
  running_launch& l = launches_.emplace_back();
  l.kernel = kernel;
  l.known = l.known_after = std::move(known);
  l.counts_sectors = counts_sectors;
  runtime::launch_shape const& shape = kernel.shape;
  std::uint64_t const blocks = shape.blocks.count();
  device_room const empty(room_.size(), free_room{settings_});
  // A launch with clusters does not have many blocks.
  l.blocks.resize(begins_at_once(shape)
                      ? blocks
                      : std::min<std::uint64_t>(blocks, blocks_that_fit(empty, shape)));
  l.first_block = blocks_;
  blocks_ += static_cast<unsigned>(blocks);
  l.alive = blocks * shape.threads.count();
  place_blocks(l);
  begin_blocks(l);
  for (unsigned i = 0; i < settings_.pct_changes; ++i) {
    change_points_.push_back(steps() +
                             random_.next() % std::max<std::uint64_t>(settings_.pct_horizon, 1));
  }
  std::sort(change_points_.begin(), change_points_.end(), std::greater<>{});
  return l;
}

/// Gives the blocks of a launch their threads and their shared memory.
void machine::place_blocks(running_launch& l) {
  runtime::launch_shape const& shape = l.kernel.shape;
  auto const threads = static_cast<unsigned>(shape.threads.count());
  unsigned const warps = (threads + 31) / 32;
  l.first_thread = static_cast<unsigned>(threads_.size());
  threads_.resize(threads_.size() + l.blocks.size() * threads);
  l.warps.resize(l.blocks.size() * warps);
  place_arenas(l);
  for (unsigned b = 0; b < l.blocks.size(); ++b) {
    block& home = l.blocks[b];
    home.of = &l;
    home.first_thread = l.first_thread + b * threads;
    home.threads = threads;
    for (unsigned w = 0; w < warps; ++w) {
      warp_state& warp = l.warps[b * warps + w];
      warp.first_thread = home.first_thread + w * 32;
      warp.lanes = ~0u >> (32 - std::min(threads - w * 32, 32u));
    }
    for (unsigned t = 0; t < threads; ++t) {
      thread& one = threads_[home.first_thread + t];
      one.home = &home;
      one.warp = &l.warps[b * warps + t / 32];
      one.rank = t;
      one.index = index_of(t, shape.threads);
      one.number = home.first_thread + t;
      one.order.begin(one.number, static_cast<unsigned>(threads_.size()));
    }
  }
}

/// Begins as many further blocks of a launch as fit.
void machine::begin_blocks(running_launch& l) {
  runtime::launch_shape const& shape = l.kernel.shape;
  for (block& b : l.blocks) {
    if (l.begun_blocks == shape.blocks.count()) return;
    if (b.multiprocessor != nullptr) continue;
    free_room& most =
        *std::max_element(room_.begin(), room_.end(), [&](free_room const& x, free_room const& y) {
          return x.blocks_of(shape) < y.blocks_of(shape);
        });
    // A launch that begins at once has been found to fit, or is alone.
    if (most.blocks_of(shape) == 0 && !begins_at_once(shape)) return;
    most.take(shape);
    b.multiprocessor = &most;
    begin_block(b);
  }
}

/// The next block of the grid takes the place of `b`.
void machine::begin_block(block& b) {
  running_launch& l = *b.of;
  b.ended = 0;
  b.fences = {};
  // A use of a collective's storage by the block before is not one of this block.
  ++b.barriers;
  b.rank = static_cast<unsigned>(l.begun_blocks++);
  b.number = l.first_block + b.rank;
  b.index = index_of(b.rank, l.kernel.shape.blocks);
  fill_arena(b);
  changed();
  for (unsigned n = b.first_thread; n < b.first_thread + b.threads; ++n) {
    threads_[n].where = {};
    threads_[n].is_plain = false;
    threads_[n].must_wait_for_previous = l.kernel.shape.early;
    threads_[n].order.begin_again(l.known);
    begin_thread(threads_[n]);
  }
}

void machine::begin_thread(thread& t) {
  t.read = {};
  t.calls = t.at = 0;
  t.received = {};
  t.allowance = longest_turn;
  t.warp->ended &= ~(1u << t.rank % 32);
  t.priority = random_.next() | std::uint64_t{1} << 63;
  t.fiber = boost::context::fiber{std::allocator_arg, pooled_stack{t.stack},
                                  [this, &t](boost::context::fiber&& scheduler) {
                                    t.stack.enter(scheduler_stack_);
                                    scheduler_ = std::move(scheduler);
                                    thread_main(t);
                                    t.stack.leave(scheduler_stack_, true);
                                    return std::move(scheduler_);
                                  }};
  add_runnable(t);
}

/// All its threads have ended: the next block of the grid takes its place.
void machine::end_block(block& b) {
  check_copies(b);
  check_shared(b);
  if (failed_) return;
  if (warp_accesses_ != nullptr) report_end(b);
  running_launch& l = *b.of;
  if (l.alive == 0) end_launch(l);
  if (l.begun_blocks != l.kernel.shape.blocks.count()) {
    if (launches_.size() > 1) add_known(l, b.first_thread, b.threads);
    return begin_block(b);
  }
  b.multiprocessor->give_back(l.kernel.shape);
  b.multiprocessor = nullptr;
  if (launches_.size() > 1) {
    for (running_launch& other : launches_) begin_blocks(other);
  }
  if (!others.waiting.empty()) others.pause_at = 0;  // one of them may fit now
}

/// All that these threads of a launch did and knew is known to the work after the launch.
void machine::add_known(running_launch& l, unsigned first_thread, std::size_t threads) {
  meeting_orders_.clear();
  for (std::size_t n = first_thread; n < first_thread + threads; ++n)
    meeting_orders_.push_back(&threads_[n].order);
  l.known_after = thread_order::joined(l.known_after, meeting_orders_);
}

void machine::end_launch(running_launch& l) {
  check_memory();
  report_.trace_hash = hash_;
  report_.nanoseconds = nanoseconds();
  l.result = report_;
  ended_ = &l;
  // Otherwise all launches end here, and later work knows everything.
  if (launches_.size() > 1)
    add_known(l, l.first_thread, l.blocks.size() * l.kernel.shape.threads.count());
}

/// The current thread is one of this launch.
void machine::turn_to(running_launch& l) {
  if (running_ == &l) return;
  if (running_ != nullptr) running_->result = std::move(report_);
  steps_of_others_ =
      (running_ == nullptr ? 0 : steps_of_others_ + running_->result.steps) - l.result.steps;
  report_ = std::move(l.result);
  running_ = &l;
  device::here.threads = l.kernel.shape.threads;
  device::here.blocks = l.kernel.shape.blocks;
}

void machine::thread_main(thread& t) {
  try {
    (*t.home->of->kernel.body)();
  } catch (boost::context::detail::forced_unwind const&) {
    throw;
  } catch (std::exception const& e) {
    misuse(std::string{"an exception left device code: "} + e.what(), t.where);
  }
  end_thread(t);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
