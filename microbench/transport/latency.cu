// SPDX-License-Identifier: Apache-2.0
// Points that measure latency.

#include "microbench/support/clock.cuh"
#include "microbench/support/quantile.hpp"
#include "microbench/transport/channels.cuh"
#include "microbench/transport/latency.cuh"
#include "microbench/transport/points.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace transport {

namespace {

template <class Executor>
class latency_point final : public bench::point {
 public:
  /// Throws limit_error.
  explicit latency_point(unsigned servers)
      : simulated_{warden::runtime::facts(warden::runtime::current_device()).simulated},
        servers_{servers} {
    channels_type{servers}.launch(send_probes{0}, 0);
  }

  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm == idle || arm == loaded;
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{"latency/"} + Executor::name + "/" + in_band::name + "/" +
           (arm == idle ? "idle" : "loaded") + "/servers:" + std::to_string(servers_);
  }

 private:
  using channels_type = channels<in_band, Executor, latency_totals, null_section<1>, probe>;
  static constexpr char const* idle = "latency_idle";
  static constexpr char const* loaded = "latency_loaded";

  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    channels_type through{servers_};
    std::map<std::string, bench::row> rows;
    for (char const* const arm : {idle, loaded}) {
      if (std::find(s.arms.begin(), s.arms.end(), arm) == s.arms.end()) continue;
      rows[arm] = measure_arm(through, arm == idle ? 1 : simulated_ ? 8 : 1024, s);
    }
    return rows;
  }

  /// Virtual blocks other than the first load the servers.
  bench::row measure_arm(channels_type& through, unsigned grid, bench::sweep const& s) {
    std::uint32_t const most = simulated_ ? 16 : 1024;
    std::uint32_t const probes = s.operations != 0 ? std::min(s.operations, most) : most;
    warden::buffer<std::uint32_t> latencies{probes};
    bench::row r;
    r.verified = true;
    std::vector<double> nanoseconds;
    // The first repetition only warms up.
    for (unsigned k = simulated_ ? 1 : 0; k <= s.repetitions; ++k) {
      latencies.fill_bytes(0);
      auto const cost = through.launch(send_probes{probes}, grid, {{}, latencies.data(), 0});
      auto const totals = through.totals();
      r.verified = r.verified && add_up(totals) && totals.sent.messages >= probes;
      if (simulated_) bench::note_counts(r, cost, totals.sent.messages);
      for (std::uint32_t const latency : latencies.to_host()) {
        r.verified = r.verified && latency != 0;
        // Signed, because the clocks of two multiprocessors may differ by a tick.
        if (k != 0) nanoseconds.push_back(static_cast<std::int32_t>(latency - 1));
      }
    }
    r.counters.merge(through.facts());
    r.counters["operations"] = probes;
    r.counters["runs"] = s.repetitions;
    if (simulated_) return r;
    std::sort(nanoseconds.begin(), nanoseconds.end());
    r.counters["median_ns"] = bench::quantile(nanoseconds, 0.5);
    r.counters["p99_ns"] = bench::quantile(nanoseconds, 0.99);
    r.counters["tick_ns"] = bench::tick_of<bench::nanosecond_clock>();
    r.seconds = bench::quantile(nanoseconds, 0.5) * 1e-9;
    return r;
  }

  bool simulated_;
  unsigned servers_;
};

}  // namespace

std::shared_ptr<bench::point> make_latency_point(bool by_windows, unsigned servers) {
  if (by_windows) return std::make_shared<latency_point<windows_with_probes>>(servers);
  return std::make_shared<latency_point<slices_with_probes>>(servers);
}

}  // namespace transport
