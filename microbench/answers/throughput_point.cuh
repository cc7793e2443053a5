// SPDX-License-Identifier: Apache-2.0
// Point that measures calls per second, by the kernel of the client threads.
#pragma once

#include "microbench/answers/call_fixture.cuh"
#include "microbench/answers/points.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace answers {

template <class Kernel>
class throughput_point final : public bench::timed_point {
 public:
  explicit throughput_point(std::uint32_t keys) : keys_{keys} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return has_executor(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{"throughput/"} + Kernel::name + "/" + arm + "/keys:" + std::to_string(keys_);
  }

 private:
  void set_up(std::uint32_t operations) override {
    std::apply([&](auto&... of_executor) { (of_executor.emplace(keys_, operations), ...); },
               fixtures_);
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    return on(arm, [&](auto& through) {
      return through.template run<Kernel>(n, seed, simulated ? 8 : 2048);
    });
  }
  void finish(std::string const& arm, bench::row& r) override {
    on(arm, [&](auto& through) { through.describe(r); });
  }
  void tear_down() override {
    std::apply([](auto&... of_executor) { (of_executor.reset(), ...); }, fixtures_);
  }

  template <class F>
  auto on(std::string const& arm, F f) {
    return with_executor_of(arm, [&]<class Executor>() {
      return f(*std::get<std::optional<call_fixture<Executor>>>(fixtures_));
    });
  }

  std::uint32_t keys_;
  std::tuple<std::optional<call_fixture<warden::executor::locks<>>>,
             std::optional<call_fixture<warden::executor::sorted<>>>>
      fixtures_;
};

}  // namespace answers
