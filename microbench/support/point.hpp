// SPDX-License-Identifier: Apache-2.0
// One point of a sweep, at which several arms are measured together.
#pragma once

#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Row of one arm.
struct row {
  double seconds = 0;  ///< median of the repetitions; 0 on the simulated device
  /// Operations in that time; 0 if the row has no rate.
  std::uint64_t operations = 0;
  bool verified = false;  ///< true if every repetition was verified
  std::string settings;   ///< settings that lock_tuned chose
  std::map<std::string, double> counters;
};

/// Options that all points share.
struct sweep {
  std::vector<std::string> arms;
  std::uint32_t operations =
      0;  ///< operations of a repetition; 0: trial repetitions choose the number
  unsigned repetitions = 5;
};

/// Writes the counts of the simulated device to the row, divided by `operations`.
void note_counts(row& r, warden::measurement const& counted, std::uint64_t operations);

/// A point is measured for all arms or for none, because half of a point's rows would look
/// finished.
class point {
 public:
  virtual ~point() = default;
  [[nodiscard]] virtual bool has(std::string const& arm) const = 0;
  /// Name of the arm's row, without the name of the program.
  [[nodiscard]] virtual std::string name(std::string const& arm) const = 0;
  /// Returns the arm's row. The first call measures all arms of the sweep. If a repetition throws,
  /// this call and the calls for all other arms throw the same.
  row const& measure(std::string const& arm, sweep const& s);

 protected:
  /// Measures all arms of the sweep that the point has, and returns their rows.
  virtual std::map<std::string, row> measure_all(sweep const& s) = 0;

 private:
  std::map<std::string, row> rows_;
  std::string failure_;
};

}  // namespace bench
