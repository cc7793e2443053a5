// SPDX-License-Identifier: Apache-2.0
// Arms of sections on two records.
#pragma once

#include "microbench/handover/pair_section.cuh"
#include "microbench/support/clock.cuh"

#include <cstdint>
#include <memory>
#include <string>

namespace handover {

using pair_clock = bench::nanosecond_clock;
using make_section = make_pair_stamp<pair_clock>;

/// An arm on one array of records.
class pair_arm {
 public:
  virtual ~pair_arm() = default;
  /// Chooses settings by running these sections, which changes the records. Returns the choice as
  /// text. Blocks the host.
  virtual std::string tune(section_pairs const&) { return {}; }
  /// Enqueues all sections as one launch.
  virtual void run_async(section_pairs const& all) = 0;
  /// Blocks the host until the sections have run. Throws the error of the launch, if any.
  virtual void wait() = 0;
};

// Each function is in a translation unit of its own, because its kernels take long to compile.
std::unique_ptr<pair_arm> make_pair_lock_arm(std::string const& name, pair_record* records,
                                             std::uint32_t keys);
/// Throws limit_error if the records do not fit the memory that the arm keeps them in.
std::unique_ptr<pair_arm> make_pair_warden_arm(std::string const& name, pair_record* records,
                                               std::uint32_t keys);
inline std::unique_ptr<pair_arm> make_pair_arm(std::string const& name, pair_record* records,
                                               std::uint32_t keys) {
  return name.starts_with("lock_") ? make_pair_lock_arm(name, records, keys)
                                   : make_pair_warden_arm(name, records, keys);
}

}  // namespace handover
