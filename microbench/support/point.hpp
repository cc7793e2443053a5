// SPDX-License-Identifier: Apache-2.0
// One point of a sweep: an operation on a workload, measured by several arms, interleaved.
#pragma once

#include <warden/timer.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// One arm's row.
struct row {
  double seconds = 0;  ///< the median run; 0 on the simulated device
  std::uint64_t operations = 0;
  bool verified = false;  ///< every run was
  std::string settings;   ///< what lock_tuned chose
  std::map<std::string, double> counters;
};

/// What one run cost, verified.
struct run_result {
  warden::measurement cost;
  bool verified = false;
};

/// What is asked of all points.
struct sweep {
  std::vector<std::string> arms;
  std::uint32_t operations = 0;  ///< a run; 0: chosen by trial runs
  unsigned repetitions = 5;
};

/// How a point is measured: warm-up, trial runs that set the number of operations, and rounds in
/// which every arm runs once.
class point {
 public:
  virtual ~point() = default;
  [[nodiscard]] virtual std::string operation() const = 0;
  [[nodiscard]] virtual std::string workload() const = 0;
  [[nodiscard]] virtual std::uint32_t keys() const = 0;
  [[nodiscard]] virtual bool has(std::string const& arm) const = 0;
  /// The arm's row. The first call measures all arms of the sweep. Throws what a run threw, then
  /// for every arm: a point is measured whole or not at all.
  row const& measure(std::string const& arm, sweep const& s);

 protected:
  static constexpr std::uint32_t least = 1u << 16, most = 1u << 26;

  /// Makes what runs of up to `operations` need.
  virtual void set_up(std::uint32_t operations) = 0;
  /// Lets lock_tuned choose its settings from up to `operations`; says what it chose.
  virtual std::string tune(std::uint32_t operations) = 0;
  /// One run on inputs drawn by `seed`.
  virtual run_result run(std::string const& arm, std::uint32_t operations, std::uint64_t seed) = 0;
  /// Gives back what `set_up` made.
  virtual void tear_down() = 0;

 private:
  void measure_all(sweep const& s);
  std::uint32_t suitable(std::string const& arm, bool& verified);

  std::map<std::string, row> rows_;
  std::string failure_;
};

}  // namespace bench
