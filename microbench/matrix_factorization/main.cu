// SPDX-License-Identifier: Apache-2.0
// The benchmark of matrix factorization: epochs of gradient descent under locks, without any
// exclusion and in Warden's rounds, until the same root of the mean square error.

#include "apps/matrix_factorization/descent.cuh"
#include "apps/matrix_factorization/planted.hpp"
#include "apps/matrix_factorization/sequential.hpp"
#include "apps/support/number_option.hpp"
#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using factorization::descent;
using factorization::model;

/// Ratings to learn from, and the error to reach.
struct input {
  factorization::planted_shape shape;
  unsigned epochs;  ///< largest number of epochs
  /// Target error on the test ratings: the error of one thread after `epochs` epochs, from
  /// results/sequential_descent.json, plus 1 %. 0 if there is no target.
  double rmse;
};
std::vector<std::pair<std::string, input>> const inputs{
    {"netflix", {factorization::planted_named("netflix"), 10, 0.4708}},
    {"movielens-10m", {factorization::planted_named("movielens-10m"), 10, 0.4844}},
    {"small", {{80, 30, 700, 60}, 1, 0}}};
constexpr factorization::schedule rates{0.04f, 0.05f, 0.03f};
constexpr std::uint64_t seed = 1;
constexpr double test_share = 0.01;
char const* const sequential = "sequential";

/// Point of one input at one rank of the factors. The time is that of the epochs on the device
/// until the target error is reached. Preparation before the first epoch is a counter. An operation
/// is a step.
class descent_point final : public bench::point {
 public:
  descent_point(std::string name, input const& in, unsigned rank)
      : name_{std::move(name)}, in_{in}, rank_{rank} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "descend/" + name_ + "/" + arm + "/keys:" + std::to_string(rank_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    auto const [train, test] =
        factorization::split(factorization::planted_ratings(in_.shape, seed), test_share, seed);
    model const first = factorization::first_model(train, rank_, seed);
    std::map<std::string, std::unique_ptr<descent>> descents;
    std::map<std::string, bench::row> found;
    for (std::string const& arm : s.arms) {
      if (arm == sequential) continue;
      bench::row& r = found[arm];
      auto const begin = std::chrono::steady_clock::now();
      auto& d = descents[arm] = std::make_unique<descent>(first, train, test, arm);
      r.settings = d->tune();
      std::chrono::duration<double> const made = std::chrono::steady_clock::now() - begin;
      r.counters["preparing_seconds"] = made.count();
      std::uint64_t const lost = d->lost();
      r.counters["lost_elements"] = static_cast<double>(lost);
      r.verified = lost == 0 || !d->isolates();
      if (!r.verified)
        std::fprintf(stderr, "%s: %llu elements are wrong where each step adds 1\n",
                     name(arm).c_str(), static_cast<unsigned long long>(lost));
    }
    bench::measure_interleaved(found, s.repetitions, [&](std::string const& arm) {
      bench::row& r = found[arm];
      bench::run_result all;
      double rmse = 0;
      unsigned epochs = 0;
      descents[arm]->reset(first);
      do {
        warden::measurement const one = descents[arm]->run(rates.of(epochs));
        all.cost.seconds += one.seconds;
        all.cost.global_atomics += one.global_atomics;
        all.cost.lock_retries += one.lock_retries;
        all.cost.sectors += one.sectors;
        all.cost.messages += one.messages;
        rmse = descents[arm]->rmse();
        ++epochs;
        r.counters["rmse_" + std::to_string(epochs)] = rmse;
      } while (epochs < in_.epochs && !(rmse <= in_.rmse));
      r.operations = epochs * train.size();
      r.counters["epochs"] = epochs;
      r.counters["rmse"] = rmse;
      all.verified = in_.rmse == 0 || rmse <= in_.rmse;
      if (!all.verified) {
        std::fprintf(stderr, "%s: after %u epochs the error is %.4f, and not %.4f\n",
                     name(arm).c_str(), epochs, rmse, in_.rmse);
      }
      return all;
    });
    for (std::string const& arm : s.arms)
      if (arm == sequential) found[arm] = run_once(train, test, first);
    return found;
  }
  /// Runs the sequential arm, on one core of the host.
  [[nodiscard]] bench::row run_once(factorization::rating_list const& train,
                                    factorization::rating_list const& test, model m) const {
    bench::row r;
    factorization::sequential_descent const order{train, seed};
    for (unsigned epoch = 0; epoch < in_.epochs; ++epoch) {
      auto const begin = std::chrono::steady_clock::now();
      order.run(m, rates.of(epoch));
      std::chrono::duration<double> const one = std::chrono::steady_clock::now() - begin;
      r.seconds += one.count();
      r.counters["rmse_" + std::to_string(epoch + 1)] = factorization::rmse_of(m, test);
    }
    r.operations = in_.epochs * train.size();
    r.counters["epochs"] = in_.epochs;
    r.counters["rmse"] = factorization::rmse_of(m, test);
    r.counters["runs"] = 1;
    r.verified = true;
    return r;
  }

  std::string name_;
  input in_;
  unsigned rank_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::program program{"matrix_factorization",
                         "Matrix factorization: under locks, without exclusion and on Warden.",
                         argc, argv};
  std::vector<std::string> chosen, names;
  for (auto const& [name, in] : inputs) names.push_back(name);
  unsigned rank = 0;
  program.add_names("--input", chosen, names,
                    "ratings; by default small on the simulated device, movielens-10m on a GPU");
  program.options()
      .add_option("--rank", rank, "rank of the factors; by default 16 or 128")
      ->transform(apps::whole())
      ->check(CLI::IsMember({16, 32, 64, 128}));
  if (!program.parse(factorization::arm_names(), argc, argv, {sequential}))
    return program.exit_code();
  if (chosen.empty()) chosen = {program.simulated() ? "small" : "movielens-10m"};
  if (rank == 0) rank = program.simulated() ? 16 : 128;
  return program.run([&](bench::program::points& points) {
    for (auto const& [name, in] : inputs) {
      for (std::string const& one : chosen)
        if (one == name) points.push_back(std::make_shared<descent_point>(name, in, rank));
    }
  });
}
