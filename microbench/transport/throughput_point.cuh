// SPDX-License-Identifier: Apache-2.0
// A point that measures messages per second. Its arms are senders through the same channels.
#pragma once

#include "microbench/transport/channels.cuh"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace transport {

/// `Executor` is the receive level; `Senders` are the arms.
template <class Readiness, class Executor, int Flits, class... Senders>
class throughput_point final : public bench::timed_point {
 public:
  /// Throws limit_error.
  explicit throughput_point(unsigned servers) : servers_{servers} {
    // Only a launch of each kernel shows if its servers fit.
    channels_type trial{servers};
    (transport::run<Senders>(trial, 0), ...);
  }

  [[nodiscard]] bool has(std::string const& arm) const override {
    return ((arm == Senders::name) || ...);
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return arm + "/" + Executor::name + "/" + Readiness::name + "/bytes:" + std::to_string(bytes) +
           "/servers:" + std::to_string(servers_);
  }

 private:
  using channels_type = channels<Readiness, Executor, run_totals, null_section<Flits>>;
  static constexpr int bytes = 16 * Flits;

  /// No message needs memory of its own, so repetitions can be long.
  [[nodiscard]] std::uint32_t most() const override { return 1u << 30; }
  void set_up(std::uint32_t) override { channels_.emplace(servers_); }
  bench::run_result run(std::string const& arm, std::uint32_t messages, std::uint64_t) override {
    bench::run_result result;
    ((arm == Senders::name ? void(result = transport::run<Senders>(*channels_, messages)) : void()),
     ...);
    facts_[arm] = channels_->facts();
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override {
    r.counters.merge(facts_[arm]);
    if (r.seconds > 0) {
      r.counters["bytes_per_second"] =
          static_cast<double>(bytes) * static_cast<double>(r.operations) / r.seconds;
    }
  }
  void tear_down() override { channels_.reset(); }

  unsigned servers_;
  std::optional<channels_type> channels_;
  std::map<std::string, std::map<std::string, double>> facts_;
};

}  // namespace transport
