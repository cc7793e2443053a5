// SPDX-License-Identifier: Apache-2.0
// Interface of the arms of the record size benchmark.
#pragma once

#include "microbench/record_size/record.cuh"

#include <cstdint>
#include <memory>
#include <string>

namespace record_size {

/// An arm on one array of records.
class arm {
 public:
  virtual ~arm() = default;
  /// Called before the first repetition: chooses settings by trials on the first `n` ids. Returns
  /// the choice as text.
  virtual std::string prepare(std::uint32_t const*, std::uint32_t) { return {}; }
  /// Enqueues operations 0 to n - 1.
  virtual void run_async(std::uint32_t const* ids, std::uint32_t n) = 0;
  /// Waits until the operations have run. Throws their error, if any.
  virtual void wait() = 0;
};

// Each function is in a translation unit of its own, because its kernels take long to compile.
template <unsigned Bytes>
std::unique_ptr<arm> make_warden_locks(record<Bytes>* records, std::uint32_t keys);
template <unsigned Bytes>
std::unique_ptr<arm> make_warden_runs(record<Bytes>* records, std::uint32_t keys);

}  // namespace record_size
