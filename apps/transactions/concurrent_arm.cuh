// SPDX-License-Identifier: Apache-2.0
/// @file
/// The arm that runs a transaction on each thread, and measures its settings.
#pragma once

#include "apps/transactions/arm.cuh"
#include "apps/transactions/concurrent.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace transactions {

/// An arm that runs a transaction on each thread by `Protocol`.
template <class Protocol, class Arguments>
class concurrent_arm final : public arm {
 public:
  /// `arguments` are those of the kernel, without a concurrent_run, for `size` transactions.
  /// `open_async` enqueues the first values of all rows.
  concurrent_arm(Arguments const& arguments, std::uint32_t size, std::function<void()> open_async,
                 arm_options const& o)
      : arguments_{arguments},
        size_{size},
        open_async_{std::move(open_async)},
        counts_{1},
        waits_{1, o.limit_seconds} {
    auto const facts = warden::runtime::facts(warden::runtime::current_device());
    is_simulated_ = facts.simulated;
    // Simulated threads are slow, and a few show the contention of many.
    threads_ = is_simulated_ ? 32 : 128;
    resident_ = warden::baseline::full_occupancy(kernel, threads_);
    if (is_simulated_) resident_ = std::min(resident_, 3u);
    how_.blocks = resident_;
    how_.variant = o.variant && Protocol::variant != nullptr;
  }

  std::string tune() override {
    concurrent_settings best = how_;
    double least = std::numeric_limits<double>::max();
    unsigned part = 1;
    while (part <= resident_ / 4) part *= 4;
    // Fewer threads meet less often. If more threads cost 1.5x as much, the search ends: even
    // more threads would cost more, and take long to measure.
    for (; part != 0; part /= 4) {
      double least_of_part = std::numeric_limits<double>::max();
      for (bool const sleeps : {false, true}) {
        for (bool const variant : {false, true}) {
          if (variant && Protocol::variant == nullptr) continue;
          // Simulated threads that poll without pauses are slow.
          if (!sleeps && is_simulated_) continue;
          how_ = {resident_ / part, sleeps, variant};
          double const cost = cost_of_one();
          least_of_part = std::min(least_of_part, cost);
          if (cost >= least) continue;
          least = cost;
          best = how_;
        }
      }
      if (least_of_part > 1.5 * least) break;
    }
    how_ = best;
    return std::to_string(how_.blocks) + "x" + std::to_string(threads_) +
           (how_.sleeps ? ", back-off" : "") +
           (how_.variant ? std::string{", "} + Protocol::variant : "");
  }
  void run_async() override { run_async(size_); }
  void wait() override { waits_.wait(); }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    run_counts const c = counts_.to_host()[0];
    return {{"retries", c.retries}, {"restarts", c.restarts}};
  }

 private:
  static constexpr auto kernel = &run_concurrently<Protocol, Arguments>;

  void run_async(std::uint32_t n) {
    counts_.fill_bytes(0);
    static_cast<concurrent_run&>(arguments_) = {n, counts_.data(), waits_.ref(), how_};
    simt::launch(kernel, how_.blocks, threads_, 0, arguments_, {});
  }
  /// Returns the time of a transaction with the settings `how_`; on the simulated device, which has
  /// no time, its number of atomics.
  double cost_of_one() {
    // Several for each thread: the first ones begin together.
    constexpr std::uint32_t each = 4;
    std::uint32_t const n = std::min(size_, is_simulated_ ? 64u : each * how_.blocks * threads_);
    double least = std::numeric_limits<double>::max();
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
      open_async_();
      warden::timer clock;
      clock.start();
      run_async(n);
      clock.stop();
      warden::measurement const m = clock.result();
      try {
        waits_.wait();
      } catch (warden::timeout_error const&) {
        // The transactions got into each other's way for ever.
        return std::numeric_limits<double>::max();
      }
      double const cost = m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics);
      least = std::min(least, cost / n);
    }
    return least;
  }

  Arguments arguments_;
  std::uint32_t size_;
  std::function<void()> open_async_;
  warden::buffer<run_counts> counts_;
  warden::baseline::lock_array waits_;
  bool is_simulated_;
  unsigned threads_, resident_;
  concurrent_settings how_;
};

}  // namespace transactions
