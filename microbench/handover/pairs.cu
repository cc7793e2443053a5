// SPDX-License-Identifier: Apache-2.0
// Points of sections on two records.

#include "microbench/handover/gap_log.cuh"
#include "microbench/handover/pair_arms.cuh"
#include "microbench/handover/pair_check.cuh"
#include "microbench/handover/points.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/error.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace handover {

namespace {

/// Memory that the repetitions of all arms use in turn.
struct pair_memory {
  pair_memory(std::uint32_t operations, std::uint32_t keys)
      : records{keys}, firsts{operations}, seconds{operations}, asked{2 * std::size_t{keys}} {}

  warden::buffer<pair_record> records;
  warden::buffer<std::uint32_t> firsts, seconds;
  warden::buffer<std::uint64_t> asked;
  warden::buffer<std::uint64_t> times{2};  ///< clock before and after a repetition
};

class pairs_point final : public bench::timed_point {
 public:
  explicit pairs_point(bench::workload w) : workload_{std::move(w)} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    if (std::find(pair_arms.begin(), pair_arms.end(), arm) == pair_arms.end()) return false;
    // Arms with locks need only memory, so they fit always.
    auto const [found, is_new] = has_.try_emplace(arm, true);
    if (!is_new || arm.starts_with("lock_")) return found->second;
    try {
      warden::buffer<pair_record> const records{workload_.keys()};
      static_cast<void>(make_pair_arm(arm, records.data(), workload_.keys()));
    } catch (warden::limit_error const&) {
      found->second = false;
    }
    return found->second;
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "pairs/" + workload_.name() + "/" + arm + "/keys:" + std::to_string(workload_.keys());
  }

 private:
  void set_up(std::uint32_t operations) override { memory_.emplace(operations, workload_.keys()); }
  void prepare(std::string const& arm, std::uint32_t operations, bench::row& r) override {
    section_pairs const sample = draw(operations, 1);
    r.settings = arm_of(arm).tune(sample);
  }
  bench::run_result run(std::string const& name, std::uint32_t n, std::uint64_t seed) override {
    pair_arm& arm = arm_of(name);
    section_pairs const all = draw(n, seed);
    simt::launch(&bench::note<pair_clock>, 1, 1, 0, &memory_->times.data()[0], {});
    warden::timer clock;
    clock.start();
    arm.run_async(all);
    clock.stop();
    simt::launch(&bench::note<pair_clock>, 1, 1, 0, &memory_->times.data()[1], {});
    bench::run_result result;
    result.cost = clock.result();
    arm.wait();
    auto const records = memory_->records.to_host();
    result.verified = verify(all, records);
    log_.add(name, records);
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override { log_.finish(arm, r); }
  void tear_down() override {
    arms_.clear();
    memory_.reset();
    log_.clear();
  }

  /// Draws the two records of each section from the same distribution; they may be one and the
  /// same. Clears the records.
  section_pairs draw(std::uint32_t n, std::uint64_t seed) {
    // Far from the seeds of other draws.
    std::uint64_t const own = seed * 1'000'003;
    workload_.draw(memory_->firsts.data(), n, own);
    workload_.draw(memory_->seconds.data(), n, own + 5);
    memory_->records.fill_bytes(0);
    return {memory_->firsts.data(), memory_->seconds.data(), n};
  }
  bool verify(section_pairs const& ran, std::vector<pair_record> const& records) {
    memory_->asked.fill_bytes(0);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&find_asked<make_section>, blocks, threads, 0, {ran, memory_->asked.data()}, {});
    return wrong_records(records, memory_->asked.to_host(), span(records)) == 0;
  }
  /// Time of the last repetition, from its first section to its last.
  std::uint64_t span(std::vector<pair_record> const& records) {
    if (warden::runtime::facts(warden::runtime::current_device()).simulated) {
      // The clock of the simulated device begins at 0 in each launch.
      std::uint32_t last = 0;
      for (pair_record const& r : records) last = std::max(last, r.end);
      return last;
    }
    auto const times = memory_->times.to_host();
    return times[1] - times[0];
  }
  pair_arm& arm_of(std::string const& name) {
    auto& made = arms_[name];
    if (!made) made = make_pair_arm(name, memory_->records.data(), workload_.keys());
    return *made;
  }

  bench::workload workload_;
  std::optional<pair_memory> memory_;
  std::map<std::string, std::unique_ptr<pair_arm>> arms_;
  gap_log<pair_clock, pair_record> log_;
  mutable std::map<std::string, bool> has_;
};

}  // namespace

std::shared_ptr<bench::point> make_pairs_point(std::string const& workload, std::uint32_t keys) {
  return std::make_shared<pairs_point>(bench::workload::named(workload, keys, ""));
}

}  // namespace handover
