// SPDX-License-Identifier: Apache-2.0
// A benchmark program: points become rows of Google Benchmark, on the console and in its file.
#pragma once

#include "microbench/support/point.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A program of the name `name`; its rows are `<name>/<the point's name of the arm>`.
class program {
 public:
  /// Takes Google Benchmark's options out of the arguments.
  program(std::string name, std::string const& description, int& argc, char** argv);

  /// For options of the program's own.
  [[nodiscard]] CLI::App& options() { return app_; }
  /// An option that takes numbers from 1 to `most`, separated by commas.
  void add_numbers(std::string const& name, std::vector<std::uint32_t>& numbers, std::uint32_t most,
                   std::string const& what);
  /// An option that takes some of these names, separated by commas.
  void add_names(std::string const& name, std::vector<std::string>& chosen,
                 std::vector<std::string> const& names, std::string const& what);
  /// An option that takes a file to read.
  void add_file(std::string const& name, std::string& path, std::string const& what);
  /// Sets how often each arm runs unless `--repetitions` says otherwise; 5 times by default.
  void set_repetitions(unsigned repetitions) { sweep_.repetitions = repetitions; }
  [[nodiscard]] bool simulated() const { return simulated_; }
  [[nodiscard]] std::vector<std::string> const& arms() const { return sweep_.arms; }
  /// Operations of a repetition, by `--ops`; 0 without it.
  [[nodiscard]] std::uint32_t operations() const { return sweep_.operations; }

  /// Adds the options of all programs and parses. False if the program ends here, with `exit_code`.
  bool parse(std::vector<std::string> const& arms, int argc, char** argv,
             std::vector<std::string> const& on_demand = {});
  [[nodiscard]] int exit_code() const { return exit_code_; }

  /// The points to measure, in this order.
  using points = std::vector<std::shared_ptr<point>>;
  /// Measures the points that `make` adds, prints each row as it is finished (but not with --quiet)
  /// and writes it to the file. An interrupt keeps the finished points. Returns the program's exit
  /// code: 1 when a point failed, 2 when `make` threw, which is told, or there is nothing to
  /// measure, 130 when interrupted.
  int run(std::function<void(points&)> const& make);

 private:
  int run(points const& all);
  void add_context() const;

  std::string name_, command_, out_;  // the last is what --benchmark_out says
  CLI::App app_;
  sweep sweep_;
  bool simulated_ = false, quiet_ = false;
  int exit_code_ = 0;
};

}  // namespace bench
