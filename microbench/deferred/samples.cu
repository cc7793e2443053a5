// SPDX-License-Identifier: Apache-2.0
// Points that measure the cost and gain of combining if partials are wider than sections: the
// kernel and its run together.

#include "microbench/deferred/points.hpp"
#include "microbench/deferred/samples.cuh"
#include "microbench/support/deferred_senders.cuh"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace deferred_bench {
namespace {

/// Sends the samples of an arm to the records of the point.
class sample_arm {
 public:
  virtual ~sample_arm() = default;
  /// Makes a log with room for exactly n sections.
  virtual void prepare(std::uint32_t n) = 0;
  /// Enqueues the kernel, then the run of the log.
  virtual void run_async(std::uint32_t const* ids, std::uint32_t n) = 0;
  virtual void wait() = 0;
};
template <class Section>
class arm_of final : public sample_arm {
  using guarded = sampled<Section>;

 public:
  explicit arm_of(warden::buffer<summary>& records) : on_{records} {}
  void prepare(std::uint32_t n) override {
    if (log_ && log_->capacity() == n) return;
    log_.reset();
    log_.emplace(on_, n);
  }
  void run_async(std::uint32_t const* ids, std::uint32_t n) override {
    sender_.send_async({log_->ref(), ids, n});
    log_->run();
  }
  void wait() override { on_.wait(); }

 private:
  guarded on_;
  std::optional<sample_log<Section>> log_;
  bench::block_sender<typename guarded::deferred_ref, make<Section>> sender_;
};
std::unique_ptr<sample_arm> make_arm(std::string const& name, warden::buffer<summary>& records) {
  if (name == "uncombined") return std::make_unique<arm_of<single_sample>>(records);
  if (name == "combined_as_wide") return std::make_unique<arm_of<samples>>(records);
  if (name == "combined_wider") return std::make_unique<arm_of<sample>>(records);
  throw std::logic_error{"no arm " + name};
}

class sample_point final : public bench::timed_point {
 public:
  explicit sample_point(bench::workload w) : workload_{std::move(w)} {}
  [[nodiscard]] bool has(std::string const& arm) const override {
    return std::find(sample_arms.begin(), sample_arms.end(), arm) != sample_arms.end();
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "samples/" + workload_.name() + "/" + arm + "/keys:" + std::to_string(workload_.keys());
  }

 private:
  struct memory {
    memory(std::uint32_t operations, std::uint32_t keys)
        : ids{operations}, records{keys}, expected{keys} {}
    warden::buffer<std::uint32_t> ids;
    warden::buffer<summary> records;
    sample_oracle expected;
    std::map<std::string, std::unique_ptr<sample_arm>> arms;
  };

  void set_up(std::uint32_t operations) override { memory_.emplace(operations, workload_.keys()); }
  bench::run_result run(std::string const& name, std::uint32_t n, std::uint64_t seed) override {
    auto& arm = memory_->arms[name];
    if (!arm) arm = make_arm(name, memory_->records);
    arm->prepare(n);
    workload_.draw(memory_->ids.data(), n, seed);
    memory_->records.fill_bytes(0);
    warden::timer clock;
    clock.start();
    arm->run_async(memory_->ids.data(), n);
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    arm->wait();
    result.verified = memory_->expected.holds(memory_->records, memory_->ids.data(), n);
    return result;
  }
  // The simulated device does not count the accesses that write messages.
  void finish(std::string const&, bench::row& r) override { r.counters.erase("sectors"); }
  void tear_down() override { memory_.reset(); }

  bench::workload workload_;
  std::optional<memory> memory_;
};

}  // namespace

std::shared_ptr<bench::point> make_sample_point(bool uniform, std::uint32_t keys) {
  return std::make_shared<sample_point>(uniform ? bench::workload::uniform(keys)
                                                : bench::workload::zipf(keys));
}

}  // namespace deferred_bench
