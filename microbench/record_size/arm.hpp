// SPDX-License-Identifier: Apache-2.0
// What each way of running the sections looks like to the benchmark.
#pragma once

#include "microbench/record_size/record.cuh"

#include <cstdint>
#include <memory>
#include <string>

namespace record_size {

/// One arm on some records.
class arm {
 public:
  virtual ~arm() = default;
  /// Before its first run: chooses settings by runs on `n` of these ids, and says which.
  virtual std::string prepare(std::uint32_t const*, std::uint32_t) { return {}; }
  /// The operations 0 to n - 1.
  virtual void run_async(std::uint32_t const* ids, std::uint32_t n) = 0;
  /// Throws what went wrong.
  virtual void wait() = 0;
};

// Each in a translation unit of its own: its kernels take long enough to compile.
template <unsigned Bytes>
std::unique_ptr<arm> make_warden_locks(record<Bytes>* records, std::uint32_t keys);
template <unsigned Bytes>
std::unique_ptr<arm> make_warden_runs(record<Bytes>* records, std::uint32_t keys);

}  // namespace record_size
