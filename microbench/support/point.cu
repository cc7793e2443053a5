// SPDX-License-Identifier: Apache-2.0
// Measures a point once for all its arms.

#include "microbench/support/point.hpp"

#include <stdexcept>

namespace bench {

void note_counts(row& r, warden::measurement const& counted, std::uint64_t operations) {
  auto const each = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(operations);
  };
  r.counters["global_atomics"] = each(counted.global_atomics);
  r.counters["lock_retries"] = each(counted.lock_retries);
  r.counters["sectors"] = each(counted.sectors);
  r.counters["messages"] = each(counted.messages);
}

row const& point::measure(std::string const& arm, sweep const& s) {
  if (rows_.empty() && failure_.empty()) {
    try {
      rows_ = measure_all(s);
    } catch (std::exception const& e) {
      failure_ = e.what();
    }
  }
  if (!failure_.empty()) throw std::runtime_error{failure_};
  return rows_.at(arm);
}

}  // namespace bench
