// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sort and apply: all operations are sorted by record, and one thread applies each record's
/// operations one after another, without locks or atomics.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/baseline/work.cuh>
#include <warden/error.hpp>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// All operations in the order in which they are applied, as device code sees them.
struct sorted_operations {
  std::uint32_t const* order;     ///< operations, those of one record together
  std::uint32_t const* starts;    ///< first operations of segments, in `order`
  std::uint32_t const* segments;  ///< number of segments
  std::uint32_t n;                ///< operations
};

/// Arguments of `number_kernel`.
template <class T>
struct numbering {
  T* values;  ///< output: 0, 1, 2, ...
  T n;        ///< number of values
};
/// Numbers values. Grid: any, one-dimensional.
template <class T>
WARDEN_KERNEL void number_kernel(numbering<T> const a) {
  simt::assume_one_dimension();
  for (T i = first_operation(); i < a.n; i += operation_step()) a.values[i] = i;
}

/// Memory of sort-and-apply, allocated once: a launch allocates nothing. Its size depends on the
/// number of operations, because all of them must be there before the first one runs. The sorter
/// holds their ids and order; the work's `make` finds the sections. Serves one launch at a time.
class sorter {
 public:
  /// Allocates memory for at most `most_operations` in a launch, on ids below `records`. Throws
  /// limit_error, and cuda_error if memory is short.
  sorter(std::uint32_t most_operations, std::uint32_t records,
         std::source_location where = std::source_location::current())
      : most_operations_{checked(most_operations, where)},
        records_{std::max(records, 1u)},
        indices_{most_operations, where},
        sorted_ids_{most_operations, where},
        order_{most_operations, where},
        starts_{most_segments(most_operations), where},
        segments_{1, where},
        temporary_{runtime::sort_bytes(most_operations, id_bits(), where), where} {
    number_all(where);
  }

  /// Returns the size in device memory: about 20 bytes for an operation, and 4 for a record that is
  /// used.
  [[nodiscard]] std::size_t memory_bytes() const {
    return indices_.bytes() + sorted_ids_.bytes() + order_.bytes() + starts_.bytes() +
           segments_.bytes() + temporary_.bytes();
  }
  /// Returns the maximum of segments that `n` operations can have.
  [[nodiscard]] std::uint32_t most_segments(std::uint32_t n) const { return std::min(n, records_); }

  /// Enqueues the sort of `n` ids. Operations of one record keep their order. The result is valid
  /// until the next call. Throws limit_error and cuda_error.
  sorted_operations sort(std::uint32_t const* ids, std::uint32_t n, stream_ref s,
                         std::source_location where = std::source_location::current()) {
    if (n > most_operations_) {
      throw_limit_error("sorting % operations: the sorter was made for %", {n, most_operations_},
                        where);
    }
    runtime::sort_pairs({ids, indices_.data(), sorted_ids_.data(), order_.data(), n}, id_bits(),
                        temporary_.data(), temporary_.bytes(), s, where);
    runtime::find_runs(sorted_ids_.data(), n, starts_.data(), segments_.data(), temporary_.data(),
                       temporary_.bytes(), s, where);
    return {order_.data(), starts_.data(), segments_.data(), n};
  }

 private:
  static std::uint32_t checked(std::uint32_t operations, std::source_location where) {
    constexpr std::uint32_t most = 0x7fffffff;  // CUB's older sorts count in int
    if (operations > most) {
      throw_limit_error("a sorter for % operations; the limit is %", {operations, most}, where);
    }
    return operations;
  }
  void number_all(std::source_location where) {
    if (most_operations_ == 0) return;
    constexpr unsigned threads = 256;
    auto const kernel = &number_kernel<std::uint32_t>;
    unsigned const blocks =
        std::min((most_operations_ - 1) / threads + 1, full_occupancy(kernel, threads));
    simt::launch(kernel, blocks, threads, 0, {indices_.data(), most_operations_}, {}, where);
    stream_ref{}.synchronize(where);  // launches may come by other streams
  }
  [[nodiscard]] unsigned id_bits() const {
    return std::max(1u, static_cast<unsigned>(std::bit_width(records_ - 1)));
  }

  std::uint32_t most_operations_;
  std::uint32_t records_;
  buffer<std::uint32_t> indices_;  // 0, 1, 2, ...: values sorted together with the ids
  buffer<std::uint32_t> sorted_ids_;
  buffer<std::uint32_t> order_;
  buffer<std::uint32_t> starts_;
  buffer<std::uint32_t> segments_;
  buffer<std::byte> temporary_;
};

/// Arguments of the kernel.
template <class Work>
struct sort_arguments {
  Work work;                     ///< a `baseline::work`
  sorted_operations operations;  ///< all of its operations
  std::uint32_t spread;          ///< threads for one segment, of which one applies it; divides 32
};

/// Applies segments. A segment cannot be split between threads, because sections do not combine. So
/// the segment of a hot record takes as long as one thread needs for it. The warp's other lanes can
/// load: all lanes make the sections of long segments, which wait in shared memory for the thread
/// that applies them.
template <class Work>
class segment_applier {
  using section = section_of<Work>;

 public:
  /// Threads of a block.
  static constexpr unsigned threads = 128;
  /// Shared memory of a block; not constructed.
  struct storage {
    /// sections of each warp's long segment
    alignas(16) std::byte sections[threads][sizeof(section)];
  };

  /// Applies the segments of the calling warp. Collective over the warp.
  WARDEN_DEVICE static void run(sort_arguments<Work> const& a, storage& shared) {
    sorted_operations const& o = a.operations;
    std::uint32_t const segments = *o.segments;
    std::uint32_t const r = first_operation() / a.spread;
    bool const mine = simt::lane_id() % a.spread == 0 && r < segments;
    std::uint32_t const begin = mine ? o.starts[r] : 0;
    std::uint32_t const end = !mine ? 0 : r + 1 < segments ? o.starts[r + 1] : o.n;
    // With one segment for each warp, all lanes are free to help.
    std::uint32_t const longest = a.spread == simt::warp_size ? 0 : longest_alone(o.n / segments);
    bool const is_long = end - begin > longest;
    if (!is_long) by_thread(a, begin, end);
    unsigned left = simt::ballot(simt::full_warp, is_long);
    while (left != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      by_warp(a, shared, simt::shuffle(simt::full_warp, begin, lane),
              simt::shuffle(simt::full_warp, end, lane));
    }
  }

 private:
  /// Returns the longest segment that a lane applies alone. Lanes of a warp wait for their longest
  /// segment, so one far above the average is applied by the warp.
  WARDEN_DEVICE static std::uint32_t longest_alone(std::uint32_t average) {
    return average < 32 ? 256 : 8 * average;
  }

  /// Calls `f(Record&)`, on a copy in registers if the record is small, and writes it back if
  /// `writes`.
  template <class F>
  WARDEN_DEVICE static void with_record(Work const& work, std::uint32_t operation, bool writes,
                                        F f) {
    auto* const record = &work.records[work.ids[operation]];
    if (writes) simt::section_enter(record);
    if constexpr (sizeof(*record) <= 32) {
      auto copy = *record;
      f(copy);
      if (writes) *record = copy;
    } else {
      f(*record);
    }
    if (writes) simt::section_leave(record);
  }

  WARDEN_DEVICE static void by_thread(sort_arguments<Work> const& a, std::uint32_t begin,
                                      std::uint32_t end) {
    if (begin == end) return;
    std::uint32_t const* const order = a.operations.order;
    std::uint32_t const last = end - 1;
    with_record(a.work, order[begin], true, [&](auto& record) {
      // Four at a time: their loads are in progress at the same time.
      for (std::uint32_t p = begin; p < end; p += 4) {
        std::uint32_t const i[] = {order[p], order[p + 1 < last ? p + 1 : last],
                                   order[p + 2 < last ? p + 2 : last],
                                   order[p + 3 < last ? p + 3 : last]};
        section const s[] = {a.work.make(i[0]), a.work.make(i[1]), a.work.make(i[2]),
                             a.work.make(i[3])};
        WARDEN_UNROLL
        for (std::uint32_t k = 0; k < 4; ++k) {
          if (p + k < end) run_section(s[k], record, a.work.context);
        }
      }
    });
  }

  WARDEN_DEVICE static void by_warp(sort_arguments<Work> const& a, storage& shared,
                                    std::uint32_t begin, std::uint32_t end) {
    std::uint32_t const* const order = a.operations.order;
    unsigned const lane = simt::lane_id();
    auto* const staged =
        reinterpret_cast<section*>(&shared.sections[simt::warp_rank() * simt::warp_size]);
    auto const operation_at = [&](std::uint32_t p) { return order[p < end ? p : end - 1]; };
    with_record(a.work, order[begin], lane == 0, [&](auto& record) {
      std::uint32_t next = operation_at(begin + lane);
      for (std::uint32_t p = begin; p < end; p += simt::warp_size) {
        staged[lane] = a.work.make(next);
        // The load is in progress while the sections of this iteration are applied.
        next = operation_at(p + simt::warp_size + lane);
        simt::sync_warp(simt::full_warp);
        std::uint32_t const count = lane != 0                   ? 0
                                    : end - p < simt::warp_size ? end - p
                                                                : simt::warp_size;
        for (std::uint32_t k = 0; k < count; k += 4) {
          section const s[] = {staged[k], staged[k + 1], staged[k + 2], staged[k + 3]};
          WARDEN_UNROLL
          for (std::uint32_t j = 0; j < 4; ++j) {
            if (k + j < count) run_section(s[j], record, a.work.context);
          }
        }
        simt::sync_warp(simt::full_warp);
      }
    });
  }
};

/// Kernel of `sort_async`: `spread` threads for each possible segment.
template <class Work>
WARDEN_KERNEL void sort_kernel(sort_arguments<Work> const a) {
  simt::assume_one_dimension();
  using applier = segment_applier<Work>;
  applier::run(a, *reinterpret_cast<typename applier::storage*>(simt::dynamic_shared()));
}

/// Enqueues all of the work: the sort, and the application of the segments. Sections of one record
/// run in the order of their operations. Throws limit_error and cuda_error.
template <class Record, class Make, class Context>
void sort_async(work<Record, Make, Context> const& w, sorter& memory, stream_ref s = {},
                std::source_location where = std::source_location::current()) {
  using applier = segment_applier<work<Record, Make, Context>>;
  if (w.n == 0) return;
  auto const kernel = &sort_kernel<work<Record, Make, Context>>;
  constexpr auto shared_bytes = sizeof(typename applier::storage);
  constexpr unsigned threads = applier::threads;
  std::uint64_t const segments = memory.most_segments(w.n);
  std::uint64_t const resident =
      std::uint64_t{full_occupancy(kernel, threads, shared_bytes)} * threads;
  // Few segments are spread over the multiprocessors, instead of sharing a warp and its
  // instructions.
  std::uint32_t spread = 1;
  while (spread < simt::warp_size && 2 * spread * segments <= resident) spread *= 2;
  auto const blocks = static_cast<unsigned>((segments * spread + threads - 1) / threads);
  simt::launch(kernel, blocks, threads, shared_bytes,
               {w, memory.sort(w.ids, w.n, s, where), spread}, s, where);
}

}  // namespace baseline
WARDEN_NAMESPACE_END
