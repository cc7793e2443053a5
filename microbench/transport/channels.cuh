// SPDX-License-Identifier: Apache-2.0
// The guarded array whose channels are measured, and one repetition of messages through them.
#pragma once

#include "microbench/support/timed_point.hpp"
#include "microbench/transport/null_executors.cuh"
#include "microbench/transport/readiness.cuh"
#include "microbench/transport/senders.cuh"

#include <warden/fused.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace transport {

/// Policy with the library's default threads, outbox and channel. The context points to `Totals`,
/// which is or derives from run_totals. Threads that copy messages of several flits need more
/// registers than 3 blocks leave.
template <class Readiness, class Executor, class Totals, int Flits>
using policy = warden::policy<
    warden::options{.tuning = {.minimum_blocks_per_multiprocessor = Flits == 1 ? 3 : 2}},
    warden::context<Totals*>, Executor, typename Readiness::readiness, typename Readiness::sender>;

/// A guarded array, its records and its totals.
template <class Readiness, class Executor, class Totals, class... Sections>
class channels {
 public:
  using guarded_type = warden::basic_guarded<
      policy<Readiness, Executor, Totals, warden::detail::message_format<Sections...>::flits>,
      std::uint32_t, Sections...>;
  static constexpr unsigned threads = guarded_type::policy::block_threads;

  /// Throws limit_error.
  explicit channels(unsigned servers)
      : records_{std::size_t{1} << records_log2},
        totals_{1},
        guarded_{records_, totals_.data(), {.servers = servers}} {
    warden::prepare_fused(guarded_);
  }

  /// Runs the kernel on `grid` virtual blocks and returns its cost. `before` are the totals at the
  /// start.
  template <class Kernel>
  warden::measurement launch(Kernel const& kernel, unsigned grid, Totals const& before = {}) {
    warden::copy(totals_.data(), &before, 1);
    warden::timer clock;
    clock.start();
    warden::launch_fused(kernel, grid, threads, {}, guarded_);
    clock.stop();
    warden::measurement const cost = clock.result();
    guarded_.wait();
    return cost;
  }
  [[nodiscard]] Totals totals() const { return totals_.to_host()[0]; }

  /// Counters of the channels for a row.
  [[nodiscard]] std::map<std::string, double> facts() const {
    auto const device = warden::runtime::facts(guarded_.device());
    return {{"threads", threads},
            {"blocks_per_multiprocessor",
             static_cast<double>(totals().blocks) / device.multiprocessors},
            {"outbox_bytes", static_cast<double>(guarded_.outbox_bytes())},
            {"capacity", guarded_.capacity()},
            {"memory_bytes", static_cast<double>(guarded_.memory_bytes())}};
  }

 private:
  warden::buffer<std::uint32_t> records_;
  warden::buffer<Totals> totals_;
  guarded_type guarded_;
};

/// Runs one repetition of the sender, and verifies it.
template <class Sender, class Channels>
bench::run_result run(Channels& through, std::uint32_t messages) {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  // Each virtual block sends many batches; a long repetition has many more virtual blocks than
  // client blocks.
  work const all{messages, simulated ? 256u : 1u << 15};
  bench::run_result result;
  result.cost = through.launch(Sender{all}, all.grid());
  auto const totals = through.totals();
  result.verified = add_up(totals) && totals.sent.messages == messages;
  return result;
}

}  // namespace transport
