// SPDX-License-Identifier: Apache-2.0
// The benchmark of transfers: the same transfers under two locks, by atomics and on Warden.

#include "apps/bank_transfer/arms.cuh"
#include "apps/support/number_option.hpp"
#include "microbench/bank_transfer/workload.cuh"
#include "microbench/support/report.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using bank_transfer::bank;
using bank_transfer::colocation;

/// Point of one workload on one number of accounts. A repetition has `sections` transfers; 0 lets
/// trial repetitions choose the number.
class bank_point final : public bench::timed_point {
 public:
  bank_point(std::string const& workload, std::uint32_t accounts, std::uint32_t sections,
             colocation const& chosen)
      : workload_{workload, accounts}, sections_{sections}, colocation_{chosen} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return why_not(arm).empty(); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "transfer/" + workload_.name() + "/" + arm +
           "/keys:" + std::to_string(workload_.accounts()) +
           (sections_ == 0 ? "" : "/sections:" + std::to_string(sections_));
  }
  /// Reason why the point has no such arm; empty if it has the arm.
  [[nodiscard]] std::string const& why_not(std::string const& arm) const {
    auto const [found, is_new] = refusals_.try_emplace(arm);
    // Arms with locks and atomics need only memory, so they fit always.
    if (!is_new || !arm.starts_with("warden_")) return found->second;
    try {
      bank b{{workload_.accounts()}};
      static_cast<void>(make_arm(arm, b, colocation_));
    } catch (warden::limit_error const& e) {
      found->second = e.what();
    }
    return found->second;
  }

 private:
  [[nodiscard]] std::uint32_t operations() const override { return sections_; }
  void set_up(std::uint32_t operations) override {
    workload_.reserve(operations);
    bank_.emplace(bank_transfer::bank_options{workload_.accounts()});
  }
  void prepare(std::string const& arm, std::uint32_t operations, bench::row& r) override {
    r.settings = arm_of(arm).tune(workload_.draw(operations, 1));
  }
  bench::run_result run(std::string const& name, std::uint32_t n, std::uint64_t seed) override {
    auto& arm = arm_of(name);
    auto const all = workload_.draw(n, seed);
    arm.reserve(n);
    bank_->open_async();
    warden::timer clock;
    clock.start();
    arm.run_async(all);
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    arm.wait();
    auto const found = bank_->audit(all, arm.promises());
    std::string const error_text = bank_->error_text(found, all, arm.promises());
    if (!error_text.empty())
      std::fprintf(stderr, "%s: the audit failed: %s\n", name.c_str(), error_text.c_str());
    result.verified = error_text.empty();
    last_[name] = found;
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override {
    // Refused transfers, audits, and audits that saw half of a transfer, in the last repetition.
    auto const& f = last_[arm];
    r.counters["refused"] = static_cast<double>(f.refused);
    r.counters["audits"] = static_cast<double>(f.audits);
    r.counters["broken_audits"] = static_cast<double>(f.broken_audits);
    r.counters.merge(arm_of(arm).counters());
  }
  void tear_down() override {
    arms_.clear();
    bank_.reset();
    workload_.reserve(0);
  }

  bank_transfer::arm& arm_of(std::string const& name) {
    auto& made = arms_[name];
    if (!made) made = make_arm(name, *bank_, colocation_);
    return *made;
  }

  bank_bench::transfer_workload workload_;
  std::uint32_t sections_;
  colocation colocation_;
  std::optional<bank> bank_;
  std::map<std::string, std::unique_ptr<bank_transfer::arm>> arms_;
  std::map<std::string, bank_transfer::findings> last_;
  mutable std::map<std::string, std::string> refusals_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"bank_transfer",
                         "Transfers between accounts under two locks, by atomics and on Warden.",
                         argc, argv};
  std::vector<std::uint32_t> keys, sections;
  std::vector<std::string> workloads;
  colocation chosen;
  CLI::App& options = program.options();
  program.add_numbers("--keys", keys, 1u << 26, "numbers of accounts");
  program.add_numbers(
      "--sections", sections, 1u << 26,
      "numbers of transfers of a repetition, each a row of its own; not with --ops");
  program.add_names("--workload", workloads, {"uniform", "zipf099", "hot_side"}, "workloads");
  options.add_option("--colocated-threads", chosen.threads, "threads of warden_colocated's blocks")
      ->transform(apps::whole(256, 640))
      ->check(CLI::IsMember({256u, 640u}));
  options.add_option("--colocated-clients", chosen.client_blocks, "its client blocks")
      ->transform(apps::whole(1, 65536));
  using bank_transfer::where;
  std::map<std::string, where> const places{{"fitting", where::on_chip_if_they_fit},
                                            {"on_chip", where::on_chip},
                                            {"in_memory", where::in_memory}};
  std::string place = "fitting";
  options
      .add_option(
          "--colocated-accounts", place,
          "where its accounts are in a run: on chip where they fit, there or not at all, in "
          "memory")
      ->check(CLI::IsMember({"fitting", "on_chip", "in_memory"}));
  std::vector<std::string> arms = bank_transfer::arm_names();
  std::vector<std::string> named{"warden_nested_on_chip", "warden_several"};
  for (std::string const& arm : named) std::erase(arms, arm);
  named.push_back(bank_transfer::timed_arm);
  if (!program.parse(arms, argc, argv, named)) return program.exit_code();
  chosen.accounts = places.at(place);
  if (!sections.empty() && program.operations() != 0) {
    std::fprintf(stderr, "bank_transfer: --ops %u and --sections; give one of them\n",
                 program.operations());
    return 2;
  }
  if (sections.empty()) sections = {0};
  if (keys.empty()) {
    keys = program.simulated() ? std::vector<std::uint32_t>{256}
                               : std::vector<std::uint32_t>{256, 1024, 32768, 131072, 1048576};
  }
  if (workloads.empty()) {
    workloads = {"uniform"};
    // Threads that spin for a hot lock are slow on the simulated device.
    if (!program.simulated()) workloads.insert(workloads.end(), {"zipf099", "hot_side"});
  }
  return program.run([&](bench::program::points& points) {
    for (std::string const& workload : workloads) {
      for (std::uint32_t k : keys) {
        for (std::uint32_t n : sections) {
          auto const point = std::make_shared<bank_point>(workload, k, n, chosen);
          for (std::string const& arm : program.arms()) {
            if (point->has(arm)) continue;
            std::fprintf(stderr, "bank_transfer/%s is left out: %s\n", point->name(arm).c_str(),
                         point->why_not(arm).c_str());
          }
          points.push_back(point);
        }
      }
    }
  });
}
