// SPDX-License-Identifier: Apache-2.0
// One point of the sweep: an operation on a workload, measured by several arms, interleaved.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace contention {

/// One arm's row.
struct row {
  double seconds = 0;  ///< the median run; 0 on the simulated device
  std::uint64_t operations = 0;
  bool verified = false;  ///< every run was
  std::string settings;   ///< what lock_tuned chose
  std::map<std::string, double> counters;
};

class point {
 public:
  virtual ~point() = default;
  [[nodiscard]] virtual std::string operation() const = 0;
  [[nodiscard]] virtual std::string workload() const = 0;
  [[nodiscard]] virtual std::uint32_t keys() const = 0;
  [[nodiscard]] virtual bool has(std::string const& arm) const = 0;
  /// The arm's row. The first call measures all of `arms`: `repetitions` rounds, in each every arm
  /// once.
  virtual row measure(std::string const& arm, std::vector<std::string> const& arms,
                      std::uint32_t operations, unsigned repetitions) = 0;
};

std::vector<std::string> const& arms();

/// `file` holds the ids of a workload that is not drawn. Throws std::runtime_error.
std::shared_ptr<point> make_point(std::string const& operation, std::string const& workload,
                                  std::uint32_t keys, std::string const& file);

}  // namespace contention
