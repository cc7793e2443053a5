// SPDX-License-Identifier: Apache-2.0
// Points that measure small runs: the time of a kernel and its run for 1,024 sections.

#include "microbench/deferred/points.hpp"
#include "microbench/deferred/sections.cuh"
#include "microbench/support/deferred_senders.cuh"
#include "microbench/support/quantile.hpp"
#include "microbench/support/workload.cuh"

#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deferred_bench {
namespace {

template <warden::placement Where>
class small_point final : public bench::point {
  using section = add_value;

 public:
  explicit small_point(std::uint32_t keys) : keys_{keys} {}
  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm == "block" || arm == "thread";
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "small/" + arm + (Where == warden::placement::on_chip ? "/on_chip" : "/in_memory") +
           "/keys:" + std::to_string(keys_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    std::map<std::string, bench::row> rows;
    for (std::string const& arm : s.arms) {
      if (arm == "block") rows[arm] = measure<bench::block_sender>(s);
      if (arm == "thread") rows[arm] = measure<bench::thread_sender>(s);
    }
    return rows;
  }

  template <template <class, class> class Sender>
  bench::row measure(bench::sweep const& s) const {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    std::uint32_t const n = s.operations != 0 ? s.operations : 1024;
    unsigned const pairs = simulated ? 1 : 200 * s.repetitions, warm_up = simulated ? 0 : 20;
    warden::buffer<record> records{keys_};
    warden::buffer<std::uint32_t> ids{n};
    bench::workload::uniform(keys_).draw(ids.data(), n, 1);
    records.fill_bytes(0);
    oracle expected{keys_};
    table<section, Where> of{records};
    deferred_log<section, Where> later{of, n};
    sender_of<Sender, section, Where> const sender{};
    // The kernel, then the run of the log.
    auto const run_async = [&] {
      sender.send_async({later.ref(), ids.data(), n});
      later.run();
    };

    bench::row r;
    warden::timer clock;
    for (unsigned i = 0; i < warm_up; ++i) run_async();
    std::vector<double> microseconds;
    for (unsigned i = 0; i < pairs; ++i) {
      clock.start();
      run_async();
      clock.stop();
      auto const cost = clock.result();
      microseconds.push_back(cost.seconds * 1e6);
      if (simulated) bench::note_counts(r, cost, n);
    }
    // The simulated device does not count the accesses that write messages.
    r.counters.erase("sectors");
    clock.start();
    for (unsigned i = 0; i < pairs; ++i) run_async();
    clock.stop();
    double const back_to_back = clock.result().seconds * 1e6 / pairs;
    of.wait();
    r.verified = expected.holds<section>(records, ids.data(), n, warm_up + 2 * pairs);
    r.counters["sections"] = n;
    r.counters["runs"] = pairs;
    if (simulated) return r;
    std::sort(microseconds.begin(), microseconds.end());
    r.counters["median_us"] = bench::quantile(microseconds, 0.5);
    r.counters["p99_us"] = bench::quantile(microseconds, 0.99);
    r.counters["back_to_back_us"] = back_to_back;
    return r;
  }

  std::uint32_t keys_;
};

}  // namespace

std::shared_ptr<bench::point> make_small_point(bool on_chip, std::uint32_t keys) {
  if (on_chip) return std::make_shared<small_point<warden::placement::on_chip>>(keys);
  return std::make_shared<small_point<warden::placement::in_memory>>(keys);
}

}  // namespace deferred_bench
