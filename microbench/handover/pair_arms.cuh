// SPDX-License-Identifier: Apache-2.0
// The ways to run the same sections on two records.
#pragma once

#include "microbench/handover/pair_section.cuh"
#include "microbench/support/clock.cuh"

#include <cstdint>
#include <memory>
#include <string>

namespace handover {

using pair_clock = bench::nanosecond_clock;
using make_section = make_pair_stamp<pair_clock>;

/// One way, on one array of records.
class pair_arm {
 public:
  virtual ~pair_arm() = default;
  /// Chooses its settings by trying them on these sections, which changes the records, and says
  /// what it chose; blocks the host.
  virtual std::string tune(section_pairs const&) { return {}; }
  /// All of them as one launch; enqueued.
  virtual void run_async(section_pairs const& all) = 0;
  /// Blocks the host until they are done. Throws what went wrong.
  virtual void wait() = 0;
};

// One translation unit for each kind: their kernels take long enough to compile.
std::unique_ptr<pair_arm> make_pair_lock_arm(std::string const& name, pair_record* records,
                                             std::uint32_t keys);
/// Throws limit_error if there is no room for the records where the arm has them.
std::unique_ptr<pair_arm> make_pair_warden_arm(std::string const& name, pair_record* records,
                                               std::uint32_t keys);
inline std::unique_ptr<pair_arm> make_pair_arm(std::string const& name, pair_record* records,
                                               std::uint32_t keys) {
  return name.starts_with("lock_") ? make_pair_lock_arm(name, records, keys)
                                   : make_pair_warden_arm(name, records, keys);
}

}  // namespace handover
