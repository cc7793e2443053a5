// SPDX-License-Identifier: Apache-2.0
// Launches of several guarded arrays that fail on demand, and their results.
#pragma once

#include "tests/support/support.cuh"

#include <warden/stream.hpp>

#include <optional>
#include <vector>

namespace test {

using shared_record = record_in<2>;
using shared = warden::basic_guarded<small_policy, tally, shared_record>;

/// The task of a launch, read from a word in device memory when it runs.
enum class task : unsigned char {
  send,    ///< 64 sections to the records of each guarded array
  forget,  ///< takes a slot of the last guarded array's channel and never fills it
  stop,    ///< stops the launch at once
};

/// Virtual blocks count themselves, then do their task.
struct do_task {
  task const* what;
  std::uint32_t* ran;

  template <class First, class... Rest>
  __device__ void operator()(warden::virtual_block const& at, First const& first,
                             Rest const&... rest) const {
    if (at.thread_rank() == 0) warden::simt::fetch_add(ran, 1u);
    switch (*what) {
      case task::send:
        send(at, first);
        (send(at, rest), ...);
        break;
      case task::forget:
        forget(at, first, rest...);
        break;
      case task::stop:
        if (at.global_rank() == 0) first.launch.poison(warden::wait_kind::lock, 0, 0, 0);
        break;
    }
  }

 private:
  template <class Ref>
  __device__ static void send(warden::virtual_block const& at, Ref const& ref) {
    warden::thread_client<Ref>{ref, at}.send(at.thread_rank() % 4, shared_record::of(1));
  }
  template <class Ref>
  __device__ static void forget(warden::virtual_block const& at, Ref const& ref) {
    if (at.global_rank() == 0) ref.channel_of(0).reserve(1);
  }
  template <class Ref, class Next, class... Rest>
  __device__ static void forget(warden::virtual_block const& at, Ref const&, Next const& next,
                                Rest const&... rest) {
    forget(at, next, rest...);
  }
};

/// A guarded array of four records whose waits are short.
struct shared_records : guarded_records<shared> {
  explicit shared_records(unsigned servers = 1) : guarded_records{4, options(servers)} {
    warden::prepare_fused(guarded);  // some launches are captured
  }

  static warden::guarded_options options(unsigned servers) {
    warden::guarded_options o{.servers = servers, .capacity = 64, .time_limit_seconds = 0.2};
    o.minimum_polls = 64;
    return o;
  }
  /// Sections that have run.
  std::uint64_t count(warden::stream_ref s = {}) const {
    std::uint64_t sum = 0;
    for (tally const& t : records.to_host(s)) sum += t.count;
    return sum;
  }
  /// Returns the failure that `wait` throws.
  std::optional<warden::diagnosis> failure(warden::stream_ref s = {}) {
    try {
      guarded.wait(s);
    } catch (warden::timeout_error const& e) {
      return e.dump();
    }
    return std::nullopt;
  }
};

/// The word that tells launches what to do, and how many virtual blocks have run.
class tasks {
 public:
  tasks() {
    ran_.fill_bytes(0);
    warden::stream_ref{}.synchronize();
  }
  /// A launch that does now what `what` says.
  template <class... Records>
  void launch(task what, warden::stream_ref s, Records&... records) {
    set(what, s);
    launch_as_told(s, records...);
  }
  /// A launch, optionally captured into a graph, that reads its task when it runs.
  template <class... Records>
  void launch_as_told(warden::stream_ref s, Records&... records) {
    warden::launch_fused(do_task{word_.data(), ran_.data()}, 1, 64, s, records.guarded...);
  }
  /// For what runs in `s` from here on.
  void set(task what, warden::stream_ref s) {
    word_.fill_bytes(static_cast<unsigned char>(what), s);
  }
  /// Virtual blocks that have run since it was asked last; waits for the stream.
  std::uint32_t ran(warden::stream_ref s) {
    std::uint32_t const n = ran_.to_host(s)[0];
    ran_.fill_bytes(0, s);
    s.synchronize();
    return n;
  }

 private:
  warden::buffer<task> word_{1};
  warden::buffer<std::uint32_t> ran_{1};
};

}  // namespace test
