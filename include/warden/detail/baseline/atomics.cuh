// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections as atomics on global memory, without locks: the section's own atomic, or a
/// compare-and-swap loop if its record is one word.
#pragma once

#include <warden/detail/baseline/work.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Returns true if two records have the same bits, which the hardware compares.
template <class Record>
WARDEN_DEVICE bool same_bits(Record const& a, Record const& b) {
  std::conditional_t<sizeof(Record) == 4, std::uint32_t, std::uint64_t> bits_of_a, bits_of_b;
  memcpy(&bits_of_a, &a, sizeof(Record));
  memcpy(&bits_of_b, &b, sizeof(Record));
  return bits_of_a == bits_of_b;
}

/// Runs the section as atomics on its record. Precondition: the section has a member
/// `atomic(Record*, Context)`, or the record has 4 or 8 bytes.
template <class Record, class Section, class Context>
WARDEN_DEVICE void apply_atomically(Record* record, Section const& section, Context context) {
  if constexpr (requires { section.atomic(record, context); }) {
    section.atomic(record, context);
  } else {
    static_assert(sizeof(Record) == 4 || sizeof(Record) == 8,
                  "warden: the section has no member atomic(Record*, Context), and its record is "
                  "not 4 or 8 bytes");
    Record seen = simt::load_relaxed(record);
    while (true) {
      Record changed = seen;
      run_section(section, changed, context);
      Record const found = simt::compare_exchange(record, seen, changed);
      if (same_bits(found, seen)) return;
      seen = found;
    }
  }
}

/// Kernel of `atomics_async`. Grid: any, one-dimensional.
template <class Work>
WARDEN_KERNEL void atomics_kernel(Work const work) {
  simt::assume_one_dimension();
  // Several independent atomics of each thread are in progress; results are awaited only at the
  // end.
  constexpr std::uint32_t in_flight = 4;
  std::uint32_t const step = operation_step();
  for_each_from(first_operation(), in_flight * step, work.n, [&](std::uint32_t i) {
    if (work.n - i <= (in_flight - 1) * step) {
      for_each_from(i, step, work.n, [&](std::uint32_t last) {
        apply_atomically(&work.records[work.ids[last]], work.make(last), work.context);
        return true;
      });
      return false;
    }
    std::uint32_t ids[in_flight];
    WARDEN_UNROLL
    for (std::uint32_t k = 0; k < in_flight; ++k) ids[k] = work.ids[i + k * step];
    WARDEN_UNROLL
    for (std::uint32_t k = 0; k < in_flight; ++k) {
      apply_atomically(&work.records[ids[k]], work.make(i + k * step), work.context);
    }
    return true;
  });
}

/// Enqueues all of the work. Throws cuda_error.
template <class Work>
void atomics_async(Work const& work, stream_ref s = {}) {
  constexpr unsigned threads = 256;
  auto const kernel = &atomics_kernel<Work>;
  simt::launch(kernel, full_occupancy(kernel, threads), threads, 0, work, s);
}

}  // namespace baseline
WARDEN_NAMESPACE_END
