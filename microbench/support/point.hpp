// SPDX-License-Identifier: Apache-2.0
// One point of a sweep: what several arms are measured at, together.
#pragma once

#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// One arm's row.
struct row {
  double seconds = 0;  ///< the median; 0 on the simulated device
  /// Operations in that time; 0: the row is no rate.
  std::uint64_t operations = 0;
  bool verified = false;  ///< every run was
  std::string settings;   ///< settings that lock_tuned chose
  std::map<std::string, double> counters;
};

/// Options of all points.
struct sweep {
  std::vector<std::string> arms;
  std::uint32_t operations = 0;  ///< a run; 0: chosen by trial runs
  unsigned repetitions = 5;
};

/// Puts what the simulated device counted into the row, for each of `operations`.
void note_counts(row& r, warden::measurement const& counted, std::uint64_t operations);

/// A point is measured whole or not at all: rows half filled would look finished.
class point {
 public:
  virtual ~point() = default;
  [[nodiscard]] virtual bool has(std::string const& arm) const = 0;
  /// The name of the arm's row, without the program's.
  [[nodiscard]] virtual std::string name(std::string const& arm) const = 0;
  /// The arm's row. The first call measures all arms of the sweep. Throws what a run threw, then
  /// for every arm.
  row const& measure(std::string const& arm, sweep const& s);

 protected:
  /// The rows of all arms of the sweep that the point has.
  virtual std::map<std::string, row> measure_all(sweep const& s) = 0;

 private:
  std::map<std::string, row> rows_;
  std::string failure_;
};

}  // namespace bench
