// SPDX-License-Identifier: Apache-2.0
// Arms by name, and those that run a transaction on each thread.

#include "apps/transactions/arms.cuh"

#include "apps/transactions/locks.cuh"
#include "apps/transactions/optimistic.cuh"
#include "apps/transactions/tictoc.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <limits>

namespace transactions {

namespace {

template <class Protocol, class Row>
class concurrent_arm final : public arm {
 public:
  concurrent_arm(ycsb& on, arm_options const& o) : on_{on}, counts_{1}, waits_{1, o.limit_seconds} {
    auto const facts = warden::runtime::facts(warden::runtime::current_device());
    is_simulated_ = facts.simulated;
    // Simulated threads are slow, and a few show the contention of many.
    threads_ = is_simulated_ ? 32 : 128;
    resident_ = warden::baseline::full_occupancy(kernel, threads_);
    if (is_simulated_) resident_ = std::min(resident_, 3u);
    how_.blocks = resident_;
    how_.yields = o.yields && Protocol::can_yield;
  }

  std::string tune() override {
    std::uint32_t const n = std::min(on_.size(), is_simulated_ ? 64u : 1u << 16);
    concurrent_settings best = how_;
    double least = std::numeric_limits<double>::max();
    // Fewer threads meet less often.
    for (unsigned part = 1; part <= resident_; part *= 4) {
      for (bool const sleeps : {false, true}) {
        for (bool const yields : {false, true}) {
          if (yields && !Protocol::can_yield) continue;
          // Simulated threads that poll without pauses are slow.
          if (!sleeps && is_simulated_) continue;
          how_ = {resident_ / part, sleeps, yields};
          double const cost = std::min(cost_of(n), cost_of(n));
          if (cost >= least) continue;
          least = cost;
          best = how_;
        }
      }
    }
    how_ = best;
    return std::to_string(how_.blocks) + "x" + std::to_string(threads_) +
           (how_.sleeps ? ", back-off" : "") + (how_.yields ? ", yields" : "");
  }
  void run_async() override { run_async(on_.size()); }
  void wait() override { waits_.wait(); }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    run_counts const c = counts_.to_host()[0];
    return {{"retries", c.retries}, {"aborts", c.aborts}};
  }

 private:
  static constexpr auto kernel = &run_concurrently<Protocol, Row>;

  void run_async(std::uint32_t n) {
    counts_.fill_bytes(0);
    simt::launch(kernel, how_.blocks, threads_, 0,
                 {on_.all(), n, on_.rows<Row>(), on_.words(), on_.times(), on_.sums(), on_.serial(),
                  counts_.data(), waits_.ref(), how_},
                 {});
  }
  /// Returns seconds; on the simulated device, which has no time, the number of atomics.
  double cost_of(std::uint32_t n) {
    warden::timer clock;
    clock.start();
    run_async(n);
    clock.stop();
    warden::measurement const m = clock.result();
    waits_.wait();
    return m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics);
  }

  ycsb& on_;
  warden::buffer<run_counts> counts_;
  warden::baseline::lock_array waits_;
  bool is_simulated_;
  unsigned threads_, resident_;
  concurrent_settings how_;
};

template <class Protocol>
std::unique_ptr<arm> make(ycsb& on, arm_options const& o) {
  if (on.options().row_bytes == sizeof(small_row))
    return std::make_unique<concurrent_arm<Protocol, small_row>>(on, o);
  return std::make_unique<concurrent_arm<Protocol, wide_row>>(on, o);
}

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"locks", "optimistic", "tictoc", "warden"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, ycsb& on, arm_options const& o) {
  if (name == "locks") return make<two_phase_locking>(on, o);
  if (name == "optimistic") return make<optimistic>(on, o);
  if (name == "tictoc") return make<tictoc>(on, o);
  if (name == "warden") return make_warden_arm(on, o);
  throw warden::limit_error{"transactions: no arm '" + name + "'"};
}

}  // namespace transactions
