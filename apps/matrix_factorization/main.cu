// SPDX-License-Identifier: Apache-2.0
// matrix_factorization train FILE; recommend MODEL USER; generate: factors of ratings.

#include "apps/matrix_factorization/descent.cuh"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/sequential.hpp"
#include "apps/matrix_factorization/source.hpp"
#include "apps/matrix_factorization/write.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress_line.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using factorization::model;
using factorization::rating_list;
using number = unsigned long long;  // for printf

char const* const sequential = "sequential";

struct training {
  factorization::source from;
  std::string arm = "warden_rounds_on_chip", out;
  unsigned rank = 64, epochs = 20, patience = 0;
  double test_share = 0.1, target = 0;
  factorization::schedule rates{0.04f, 0.05f, 0.03f};
  bool checks = false;
};

/// Epochs by an arm of the device, or by one thread of the host.
class learner {
 public:
  learner(training const& t, model& m, rating_list const& train, rating_list const& test)
      : model_{m}, test_{test} {
    if (t.arm == sequential) {
      host_.emplace(train, t.from.seed);
    } else {
      device_.emplace(m, train, test, t.arm);
      settings_ = device_->tune();
      if (t.checks) {
        lost_ = device_->lost();
        device_->reset(m);
      }
    }
  }
  /// Returns the seconds of the epoch; 0 if it was not measured.
  double run(factorization::step_size const& size) {
    if (device_) return device_->run(size).seconds;
    auto const begin = std::chrono::steady_clock::now();
    host_->run(model_, size);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  double rmse() { return device_ ? device_->rmse() : factorization::rmse_of(model_, test_); }
  /// Copies the rows to the model.
  void finish() {
    if (device_) device_->copy_to(model_);
  }
  [[nodiscard]] std::string const& settings() const { return settings_; }
  /// Number of row elements with missing additions after an epoch in which each step adds 1.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] bool isolates() const { return !device_ || device_->isolates(); }

 private:
  model& model_;
  rating_list const& test_;
  std::optional<factorization::descent> device_;
  std::optional<factorization::sequential_descent> host_;
  std::string settings_;
  std::uint64_t lost_ = 0;
};

int train(training const& t) {
  std::optional<apps::output_file> out;
  if (!t.out.empty()) out.emplace(t.out);
  // Check the first epoch's rate, the highest, before ratings are read or made, which is slow.
  factorization::refuse_reversal(t.rates.of(0));
  auto const [train, test] = factorization::split(t.from.ratings(), t.test_share, t.from.seed);
  if (train.size() == 0)
    throw std::runtime_error{t.from.name() + ": no ratings left to learn from"};
  bool const tries = test.size() != 0;
  if (!tries && (t.target > 0 || t.patience != 0)) {
    throw std::runtime_error{t.from.name() +
                             ": no ratings to try on, which --target and --patience need; choose a "
                             "larger share by --test"};
  }
  std::printf("%s: %u users, %u items, %zu ratings, and %zu to try on\n", t.from.name().c_str(),
              train.users, train.items, train.size(), test.size());
  model m = factorization::first_model(train, t.rank, t.from.seed);
  learner all{t, m, train, test};
  if (t.checks && all.lost() != 0) {
    std::fprintf(stderr, "matrix_factorization: %llu elements of rows lost steps%s\n",
                 static_cast<number>(all.lost()), all.isolates() ? "" : ", as may be");
    if (all.isolates()) return 1;
  }
  double seconds = 0, best = HUGE_VAL;
  unsigned epoch = 0, since_best = 0;
  model best_model;
  apps::progress_line line;
  char const* why = "all epochs";
  auto const refuse_growth = [&](bool is_finite, std::string const& when) {
    if (is_finite) return;
    throw std::runtime_error{"the factors grew beyond all limits" + when +
                             "; a lower --rate than " + std::to_string(t.rates.rate) + " helps"};
  };
  for (; epoch < t.epochs; ++epoch) {
    seconds += all.run(t.rates.of(epoch));
    std::string const now = "epoch " + std::to_string(epoch + 1);
    std::string const of_all = now + " of " + std::to_string(t.epochs);
    if (!tries) {
      line.show([&] { return of_all; });
      continue;
    }
    double const rmse = all.rmse();
    refuse_growth(std::isfinite(rmse), " in " + now);
    line.show([&] { return of_all + ": RMSE " + std::to_string(rmse); });
    std::printf("epoch %3u  RMSE %.4f\n", epoch + 1, rmse);
    since_best = rmse < best ? 0 : since_best + 1;
    if (rmse < best) {
      best = rmse;
      if (t.patience != 0) {
        all.finish();
        best_model = m;
      }
    }
    if (rmse <= t.target) {
      why = "the target is reached";
    } else if (t.patience != 0 && since_best == t.patience) {
      why = "it gets no better";
    } else {
      continue;
    }
    ++epoch;
    break;
  }
  all.finish();
  if (!tries) {
    // A row that is not finite makes each row that it meets not finite.
    refuse_growth(std::all_of(m.item_rows.begin(), m.item_rows.end(),
                              [](float x) { return std::isfinite(x); }),
                  "");
  }
  if (t.patience != 0 && epoch != 0) m = best_model;
  std::printf("%s: %u epochs at rank %u by %s%s%s", why, epoch, t.rank, t.arm.c_str(),
              all.settings().empty() ? "" : ", ", all.settings().c_str());
  if (seconds > 0) {
    std::printf(", %.3f ms, %.2f M ratings/s", 1e3 * seconds,
                1e-6 * epoch * static_cast<double>(train.size()) / seconds);
  }
  std::printf("\n");
  if (t.checks && all.lost() == 0)
    std::printf("checked: no step is lost where each adds 1 to both of its rows\n");
  if (out) factorization::save(m, *out);
  return 0;
}

struct recommending {
  std::string model, but;
  std::uint32_t user = 0;
  unsigned top = 10;
};

/// Returns the index of `name` in `names`, or `name` if there are no names.
std::optional<std::uint32_t> number_of(std::uint32_t name, std::vector<std::uint32_t> const& names,
                                       std::uint32_t count) {
  if (names.empty()) return name < count ? std::optional{name} : std::nullopt;
  auto const at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() || *at != name) return std::nullopt;
  return static_cast<std::uint32_t>(at - names.begin());
}

int recommend(recommending const& r) {
  model const m = factorization::load_model(r.model);
  auto const user = number_of(r.user, m.user_names, m.users);
  if (!user) {
    throw std::runtime_error{r.model + ": knows no user " + std::to_string(r.user) + "; it has " +
                             std::to_string(m.users) + " of them"};
  }
  std::vector<std::uint32_t> but;
  if (!r.but.empty()) {
    rating_list const known = factorization::read_ratings(r.but);
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known.user_name(known.user[k]) != r.user) continue;
      if (auto const item = number_of(known.item_name(known.item[k]), m.item_names, m.items))
        but.push_back(*item);
    }
  }
  for (auto const& [item, rating] : factorization::recommended(m, *user, r.top, but))
    std::printf("%u\t%.3f\n", m.item_names.empty() ? item : m.item_names[item], double{rating});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Factors of ratings: predicts what users would rate.", "matrix_factorization"};
  app.require_subcommand(1);

  training t;
  auto* const training_command = app.add_subcommand("train", "learns factors of ratings");
  t.from.add_to(*training_command, true);
  auto arms = factorization::arm_names();
  arms.emplace_back(sequential);
  training_command->add_option("--arm", t.arm, "arm that updates the rows")
      ->check(CLI::IsMember(arms))
      ->capture_default_str();
  training_command->add_option("--rank", t.rank, "elements of a row")
      ->transform(apps::whole())
      ->check(CLI::IsMember(
          std::vector<unsigned>(std::begin(factorization::ranks), std::end(factorization::ranks))))
      ->capture_default_str();
  training_command->add_option("--epochs", t.epochs, "most epochs")
      ->transform(apps::whole(1, 100'000))
      ->capture_default_str();
  training_command->add_option("--rate", t.rates.rate, "learning rate of the first epoch")
      ->transform(apps::real(1e-6, 1e6))
      ->capture_default_str();
  training_command->add_option("--decay", t.rates.decay, "divides the rate by 1 + this * epoch^1.5")
      ->transform(apps::real(0, 1e6))
      ->capture_default_str();
  training_command->add_option("--penalty", t.rates.penalty, "penalty of large factors")
      ->transform(apps::real(0, 1e6))
      ->capture_default_str();
  training_command
      ->add_option("--test", t.test_share, "share of the ratings that only measures the error")
      ->transform(apps::real(0, 0.9))
      ->capture_default_str();
  training_command->add_option("--target", t.target, "ends when the RMSE is at most this")
      ->transform(apps::real(0, 1e9));
  training_command
      ->add_option("--patience", t.patience,
                   "ends after this many epochs without a better one, and keeps the best")
      ->transform(apps::whole(0, 100'000));
  training_command->add_flag("--check", t.checks, "first checks that no step is lost");
  training_command->add_option("--out", t.out, "writes the factors to this file")
      ->check(apps::file_name());

  recommending r;
  auto* const recommending_command = app.add_subcommand("recommend", "what a user would like most");
  recommending_command->add_option("MODEL", r.model, "file of factors that train wrote")
      ->required()
      ->check(CLI::ExistingFile);
  recommending_command->add_option("USER", r.user, "user, by its name in the file of ratings")
      ->required()
      ->transform(apps::whole(0, std::numeric_limits<std::uint32_t>::max()));
  recommending_command->add_option("--top", r.top, "number of items to print")
      ->transform(apps::whole(0, 1'000'000))
      ->capture_default_str();
  recommending_command
      ->add_option("--but", r.but, "leaves out what the user rated in this file of ratings")
      ->check(CLI::ExistingFile);

  factorization::source planted;
  std::string out;
  auto* const generating_command = app.add_subcommand("generate", "writes planted ratings");
  planted.add_to(*generating_command, false);
  generating_command->add_option("--out", out, "file to write")
      ->required()
      ->check(apps::file_name());

  auto const action = [&] {
    if (*recommending_command) return recommend(r);
    if (*generating_command) {
      apps::output_file file{out};
      factorization::write_ratings(planted.ratings(), file);
      return 0;
    }
    return train(t);
  };
  // Only arms of the device need a device.
  return apps::run_host_command(app, argc, argv, [&] {
    if (*training_command && t.arm != sequential && warden::runtime::device_count() == 0) {
      std::fprintf(stderr, "matrix_factorization: no CUDA GPU\n");
      return 77;
    }
    return action();
  });
}
