// SPDX-License-Identifier: Apache-2.0
// A benchmark program: prints the rows of its points, and writes them to the file of Google
// Benchmark.
#pragma once

#include "microbench/support/point.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A benchmark program. Its rows are named `<name>/<point::name(arm)>`.
class program {
 public:
  /// Removes the options of Google Benchmark from the arguments.
  program(std::string name, std::string const& description, int& argc, char** argv);

  /// Access for options that only this program has.
  [[nodiscard]] CLI::App& options() { return app_; }
  /// Adds an option that takes numbers from 1 to `most`, separated by commas.
  void add_numbers(std::string const& name, std::vector<std::uint32_t>& numbers, std::uint32_t most,
                   std::string const& what);
  /// Adds an option that takes some of `names`, separated by commas.
  void add_names(std::string const& name, std::vector<std::string>& chosen,
                 std::vector<std::string> const& names, std::string const& what);
  /// Adds an option that takes a file to read.
  void add_file(std::string const& name, std::string& path, std::string const& what);
  /// Sets the default of `--repetitions`, which is 5 without this call.
  void set_repetitions(unsigned repetitions) { sweep_.repetitions = repetitions; }
  [[nodiscard]] bool simulated() const { return simulated_; }
  [[nodiscard]] std::vector<std::string> const& arms() const { return sweep_.arms; }
  /// Operations of a repetition, from `--ops`; 0 without that option.
  [[nodiscard]] std::uint32_t operations() const { return sweep_.operations; }

  /// Adds the options of all programs and parses. Returns false if the program must end with
  /// `exit_code`.
  bool parse(std::vector<std::string> const& arms, int argc, char** argv,
             std::vector<std::string> const& on_demand = {});
  [[nodiscard]] int exit_code() const { return exit_code_; }

  /// Points to measure, in this order.
  using points = std::vector<std::shared_ptr<point>>;
  /// Measures the points that `make` adds. Prints each finished row, unless `--quiet`, and writes
  /// it to the file. An interrupt keeps the finished points. Returns the exit code of the program:
  /// 1 if a point failed, 2 if `make` threw (the message is printed) or if there is nothing to
  /// measure, 130 after an interrupt.
  int run(std::function<void(points&)> const& make);

 private:
  int run(points const& all);
  void add_context() const;

  std::string name_, command_, out_;  // out_: file of --benchmark_out
  CLI::App app_;
  sweep sweep_;
  bool simulated_ = false, quiet_ = false;
  int exit_code_ = 0;
};

}  // namespace bench
