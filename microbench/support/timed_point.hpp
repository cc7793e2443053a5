// SPDX-License-Identifier: Apache-2.0
// A point whose arms are timed runs of many operations.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace bench {

/// Cost of one repetition, and whether its result was right.
struct run_result {
  warden::measurement cost;
  bool verified = false;
};

/// How such a point is measured: warm-up, trial runs that set the number of operations unless the
/// point or the sweep fixes it, and rounds in which every arm runs once.
class timed_point : public point {
 protected:
  static constexpr std::uint32_t least = 1u << 16;
  /// Operations of a run, at most; below 2^31.
  [[nodiscard]] virtual std::uint32_t most() const { return 1u << 26; }
  /// Operations of each run, if the point fixes them; 0 if not.
  [[nodiscard]] virtual std::uint32_t operations() const { return 0; }

  /// Makes what runs of up to `operations` need.
  virtual void set_up(std::uint32_t operations) = 0;
  /// Before an arm's first run: chooses its settings from up to `operations`, and notes them.
  virtual void prepare(std::string const&, std::uint32_t, row&) {}
  /// One run on inputs drawn by `seed`.
  virtual run_result run(std::string const& arm, std::uint32_t operations, std::uint64_t seed) = 0;
  /// After an arm's last run, with its time and operations in the row: notes what else is known.
  virtual void finish(std::string const&, row&) {}
  /// Gives back what `set_up` made.
  virtual void tear_down() = 0;

 private:
  std::map<std::string, row> measure_all(sweep const& s) final;
  std::map<std::string, row> measure_rows(sweep const& s);
  std::uint32_t suitable(std::string const& arm, bool& verified);
};

}  // namespace bench
