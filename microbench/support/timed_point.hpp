// SPDX-License-Identifier: Apache-2.0
// A point whose arms are timed repetitions of many operations.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace bench {

/// Cost of one repetition, and the result of its check.
struct run_result {
  warden::measurement cost;
  bool verified = false;
};

/// Measures an arm by a warm-up, by trial repetitions that choose the number of operations unless
/// the point or the sweep fixes it, and by timed repetitions. The timed repetitions of all arms are
/// interleaved. An arm that takes longer than 1 s has one of them.
class timed_point : public point {
 protected:
  static constexpr std::uint32_t least = 1u << 16;
  /// Largest number of operations of a repetition; below 2^31.
  [[nodiscard]] virtual std::uint32_t most() const { return 1u << 26; }
  /// Operations of each repetition if the point fixes the number, otherwise 0.
  [[nodiscard]] virtual std::uint32_t operations() const { return 0; }

  /// Allocates the memory for repetitions of up to `operations`.
  virtual void set_up(std::uint32_t operations) = 0;
  /// Called before the first repetition of an arm: chooses its settings by trials of up to
  /// `operations`, and writes them to the row.
  virtual void prepare(std::string const&, std::uint32_t, row&) {}
  /// Runs one repetition on inputs drawn by `seed`.
  virtual run_result run(std::string const& arm, std::uint32_t operations, std::uint64_t seed) = 0;
  /// Called after the last repetition of an arm, when the row has its time and operations: adds
  /// counters.
  virtual void finish(std::string const&, row&) {}
  /// Frees what `set_up` allocated.
  virtual void tear_down() = 0;

 private:
  std::map<std::string, row> measure_all(sweep const& s) final;
  std::map<std::string, row> measure_rows(sweep const& s);
  std::uint32_t suitable(std::string const& arm, bool& verified);
};

}  // namespace bench
