// SPDX-License-Identifier: Apache-2.0
// Streams of the simulated device: what runs next, events, and graphs.

#include "streams.hpp"

#include "device_memory.hpp"

#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {
namespace {

// A cudaError_t, and CUDA's text for it.
constexpr int invalid_handle = 400;
constexpr int illegal_state = 401;
constexpr int capture_unsupported = 900;
constexpr int capture_invalidated = 901;
constexpr int capture_wrong_thread = 908;

[[noreturn]] void refuse(std::string const& what, int code, std::source_location where) {
  char const* const why =
      code == illegal_state         ? "the operation cannot be performed in the present state"
      : code == capture_unsupported ? "operation not permitted when stream is capturing"
      : code == capture_wrong_thread
          ? "attempt to terminate a thread-local capture sequence from another thread"
          : "operation failed due to a previous error during capture";
  throw cuda_error{code, what + ": " + why, where};
}

}  // namespace

streams& all_streams() {
  // Never destroyed: static objects of the program free device memory when it ends.
  static streams& s = *new streams;
  return s;
}

std::unique_lock<std::recursive_mutex> lock_device() {
  static std::recursive_mutex mutex;
  return std::unique_lock{mutex};
}

// The first one is the default stream.
streams::streams() { create(); }

void streams::configure(std::uint64_t seed, bool late) {
  finish_all();
  choices_ = random_numbers{seed};
  late_ = late;
  calls_ = 0;
}

void streams::count_call(std::source_location where) {
  std::uint64_t const most = current_settings().max_host_calls;
  if (++calls_ <= most) return;
  calls_ = 0;
  throw misuse_error{"no end after " + std::to_string(most) +
                         " calls of streams and events since sim::configure (if the program is "
                         "only long: settings::max_host_calls, or WARDEN_MAX_HOST_CALLS)",
                     where};
}

queue* streams::create() {
  queues_.push_back(std::make_unique<queue>());
  return queues_.back().get();
}

void streams::destroy(queue* q) noexcept {
  q->destroyed = true;
  q->captures = false;
  drop_destroyed();
}

queue& streams::queue_of(stream_ref s, std::source_location where) const {
  if (s.handle() == nullptr) return *queues_.front();
  for (auto const& q : queues_) {
    if (q.get() == reinterpret_cast<queue*>(s.handle()) && !q->destroyed) return *q;
  }
  throw cuda_error{invalid_handle, "using a stream that was destroyed: invalid resource handle",
                   where};
}

void streams::enqueue(stream_ref s, work w, std::source_location where) {
  count_call(where);
  queue& q = queue_of(s, where);
  if (!q.captures) return push(q, {std::move(w)});
  if (q.capture_failed) refuse("enqueueing work", capture_invalidated, where);
  q.captured.push_back(std::move(w));
}

void streams::push(queue& q, queue::item i) {
  q.items.push_back(std::move(i));
  if (!late_) run_until([&] { return q.items.empty(); }, &q);
}

std::shared_ptr<mark const> streams::record(stream_ref s, std::source_location where) {
  count_call(where);
  queue& q = queue_of(s, where);
  if (q.captures) refuse("recording an event", capture_unsupported, where);
  auto const m = std::make_shared<mark>();
  push(q, {std::function<void()>{[] {}}, nullptr, m});
  return m;
}

void streams::wait(stream_ref s, std::shared_ptr<mark const> m, std::source_location where) {
  count_call(where);
  queue& q = queue_of(s, where);
  if (q.captures) refuse("waiting for an event", capture_unsupported, where);
  push(q, {std::function<void()>{[] {}}, std::move(m)});
}

void streams::synchronize(stream_ref s, std::source_location where) {
  count_call(where);
  throw_kept_error();
  queue& q = queue_of(s, where);
  if (q.captures) {
    q.capture_failed = true;
    refuse("waiting for a stream", capture_unsupported, where);
  }
  run_until([&] { return q.items.empty(); }, &q);
}

void streams::synchronize(mark const& m, std::source_location where) {
  count_call(where);
  throw_kept_error();
  run_until([&] { return m.reached; }, nullptr);
}

void streams::finish_all() {
  throw_kept_error();
  run_until(
      [&] {
        return std::all_of(queues_.begin(), queues_.end(),
                           [](auto const& q) { return q->items.empty(); });
      },
      nullptr);
  if (std::string const damage = memory().damage(); !damage.empty())
    throw misuse_error{"the host wrote " + damage};
}

void streams::finish_all_quietly() noexcept {
  try {
    finish_all();
  } catch (...) {
    kept_error_ = std::current_exception();
  }
}

void streams::throw_kept_error() {
  if (kept_error_) std::rethrow_exception(std::exchange(kept_error_, nullptr));
}

template <class Done>
void streams::run_until(Done done, queue const* wanted) {
  if (machine::now != nullptr) throw misuse_error{"device code waits for a stream"};
  // Now nothing of other streams in between, now as much as there is.
  std::uint32_t const others_turns = choices_.below(4);
  while (!done()) run_front(choose(wanted, others_turns));
  drop_destroyed();
}

queue& streams::choose(queue const* wanted, std::uint32_t others_turns) {
  if (wanted != nullptr && wanted->is_ready() && choices_.below(3) >= others_turns)
    return const_cast<queue&>(*wanted);
  std::vector<queue*> ready;
  for (auto const& q : queues_) {
    if (q->is_ready()) ready.push_back(q.get());
  }
  // There is one: what a front waits for was recorded before, so of all fronts the oldest is ready.
  return *ready[choices_.below(static_cast<std::uint32_t>(ready.size()))];
}

void streams::run_front(queue& q) {
  queue::item const front = std::move(q.items.front());
  q.items.pop_front();
  learn(&q, front.waits_for.get());
  try {
    if (auto const* const kernel = std::get_if<kernel_launch>(&front.run)) {
      machine_ == nullptr ? run_launches(q, *kernel) : begin(q, *kernel);
    } else {
      std::get<std::function<void()>>(front.run)();
    }
  } catch (...) {
    drop_everything();
    throw;
  }
  if (!front.reaches) return;
  front.reaches->reached = true;
  learn(front.reaches.get(), &q);
}

void streams::drop_everything() {
  for (auto const& q : queues_) {
    for (queue::item const& i : q->items) {
      if (i.reaches) i.reaches->reached = true;
    }
    q->items.clear();
    q->running = nullptr;
  }
}

void streams::drop_destroyed() {
  std::erase_if(queues_, [](auto const& q) { return q->destroyed && q->items.empty(); });
}

void streams::begin_capture(stream_ref s, std::source_location where) {
  queue& q = queue_of(s, where);
  if (s.handle() == nullptr) refuse("capturing a stream", capture_unsupported, where);
  if (q.captures) refuse("capturing a stream", illegal_state, where);
  q.captures = true;
  q.capturing_thread = std::this_thread::get_id();
}

captured_work streams::end_capture(stream_ref s, std::source_location where) {
  queue& q = queue_of(s, where);
  if (!q.captures) refuse("ending a capture", illegal_state, where);
  if (q.capturing_thread != std::this_thread::get_id())
    refuse("ending a capture", capture_wrong_thread, where);
  q.captures = false;
  captured_work all = std::exchange(q.captured, {});
  if (std::exchange(q.capture_failed, false))
    refuse("ending a capture", capture_invalidated, where);
  return all;
}

bool streams::forbidden_by_capture() {
  bool any = false;
  for (auto const& q : queues_) {
    if (!q->captures || q->capturing_thread != std::this_thread::get_id()) continue;
    q->capture_failed = true;
    any = true;
  }
  return any;
}

}  // namespace sim

// ---- streams

namespace {
sim::queue* queue_at(CUstream_st* handle) { return reinterpret_cast<sim::queue*>(handle); }
}  // namespace

stream::stream(stream_priority, std::source_location) {
  auto const lock = sim::lock_device();
  handle_ = reinterpret_cast<CUstream_st*>(sim::all_streams().create());
}
stream::~stream() {
  if (handle_ == nullptr) return;
  auto const lock = sim::lock_device();
  sim::all_streams().destroy(queue_at(handle_));
}
stream::stream(stream&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
stream& stream::operator=(stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

// ---- events: each holds its last record

namespace {
using recorded = std::shared_ptr<sim::mark const>;
recorded& place_of(CUevent_st* handle) { return *reinterpret_cast<recorded*>(handle); }
}  // namespace

event::event(std::source_location) : handle_{reinterpret_cast<CUevent_st*>(new recorded)} {}
event::~event() {
  if (handle_ != nullptr) delete &place_of(handle_);
}
event::event(event&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
event& event::operator=(event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void event::record(stream_ref s, std::source_location where) {
  auto const lock = sim::lock_device();
  place_of(handle_) = sim::all_streams().record(s, where);
}
void event::synchronize(std::source_location where) const {
  auto const lock = sim::lock_device();
  if (recorded const place = place_of(handle_)) sim::all_streams().synchronize(*place, where);
}
void stream_ref::wait_for(event const& e, std::source_location where) const {
  auto const lock = sim::lock_device();
  if (recorded const place = place_of(e.handle())) sim::all_streams().wait(*this, place, where);
}

// ---- graphs

struct graph::content {
  sim::captured_work all;
};

graph::graph(graph&& other) noexcept = default;
graph& graph::operator=(graph&& other) noexcept = default;
graph::~graph() = default;
graph::graph(std::unique_ptr<content> captured) : content_{std::move(captured)} {}

void graph::begin_capture(stream_ref s, std::source_location where) {
  auto const lock = sim::lock_device();
  sim::all_streams().begin_capture(s, where);
}
graph graph::end_capture(stream_ref s, std::source_location where) {
  auto const lock = sim::lock_device();
  return graph{std::make_unique<content>(content{sim::all_streams().end_capture(s, where)})};
}
void graph::abandon_capture(stream_ref s) noexcept {
  auto const lock = sim::lock_device();
  try {
    static_cast<void>(sim::all_streams().end_capture(s, std::source_location::current()));
  } catch (cuda_error const&) {  // the error that ends it is on its way already
  }
}
void graph::launch(stream_ref s, std::source_location where) const {
  auto const lock = sim::lock_device();
  for (sim::work const& w : content_->all) sim::all_streams().enqueue(s, w, where);
}

WARDEN_HOST_NAMESPACE_END
