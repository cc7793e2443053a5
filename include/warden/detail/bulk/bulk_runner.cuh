// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a bulk run: chooses the tables, makes the memory and enqueues the kernels.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/bulk/bulk_arguments.cuh>
#include <warden/detail/bulk/bulk_kernels.cuh>
#include <warden/detail/bulk/bulk_plan.cuh>
#include <warden/detail/bulk/give_up.cuh>
#include <warden/detail/bulk/part_runner.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs sections on the records of one guarded array without a log. `Threads` is the number of
/// threads of a small block; others have twice as many. If a table does not hold all records, the
/// rows are sorted first, which takes about `MostBytes` bytes.
template <class Section, class Record, class Context, unsigned Threads, std::size_t MostBytes>
class bulk_runner {
  using partial = partial_of<Section>;
  using parts = part_runner<Section, Record, Context, Threads, MostBytes>;
  using arguments_type = bulk_arguments<partial, Record, Context>;
  static_assert(Threads <= 512);

 public:
  /// True if the runner can run sections on that many records of the device `facts`.
  static bool fits(std::uint64_t records, runtime::device_facts const& facts) {
    return plan_bulk<partial>(records, Threads, facts) || parts::plan(records, facts);
  }

  /// Makes the memory for runs on the records of `of`. Throws limit_error while the stream `s` is
  /// being captured, and cuda_error when memory is short.
  template <class Guarded>
  void reserve(Guarded& of, std::size_t n, runtime::device_facts const& facts, stream_ref s,
               std::source_location where) {
    bool const is_first = control_.size() == 0;
    if (!is_first && (!in_parts_ || parts_.has_room(n))) return;
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "apply_async: the stream is being captured into a graph, and its memory is not made yet: "
          "call reserve(%) before",
          {n}, where);
    }
    auto const plan = plan_bulk<partial>(of.size(), Threads, facts);
    in_parts_ = !plan;
    if (in_parts_) {
      parts_.reserve(*parts::plan(of.size(), facts), n, facts, where);
    } else {
      make_tables(*plan, facts, where);
    }
    if (!is_first) return;
    control_ = buffer<bulk_control>{1, where};
    control_.fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
    guarded_access::shared(of)->begin_logs(where);
  }
  /// Enqueues the sections that `f(i)` returns for all i of a range. Precondition: `reserve` was
  /// called for this guarded array.
  template <class Guarded, class Function>
  void run(Guarded& on, index_range of, Function const& f, stream_ref s,
           std::source_location where) {
    static_assert(std::is_trivially_copyable_v<Function>,
                  "warden: the function of send_async and apply_async is copied to the device: it "
                  "holds pointers and values, and no host objects");
    ++runs_;
    if (in_parts_) {
      try {
        parts_.run(on, control_.data(), runs_, of, f, s, where);
      } catch (...) {
        guarded_access::shared(on)->enqueued(s, where);
        throw;
      }
      return guarded_access::shared(on)->enqueued(s, where);
    }
    if constexpr (sums_words<partial>) {
      run_by<word_table>(on, of, f, s, where);
    } else {
      run_by_plan(on, of, f, s, where);
    }
  }

  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return partials_.bytes() + present_.bytes() + control_.bytes() + parts_.bytes();
  }

 private:
  void make_tables(bulk_plan const& plan, runtime::device_facts const& facts,
                   std::source_location where) {
    plan_ = plan;
    most_blocks_ = plan.blocks_per_multiprocessor * static_cast<unsigned>(facts.multiprocessors);
    std::size_t const cells = std::size_t{most_blocks_} * plan.shape.records;
    partials_ = buffer<partial>{cells, where};
    present_ = buffer<unsigned char>{cells, where};
  }
  template <class Guarded, class Function>
  void run_by_plan(Guarded& on, index_range of, Function const& f, stream_ref s,
                   std::source_location where) {
    switch (plan_.tables) {
      case bulk_tables::of_threads:
        return run_by<thread_tables>(on, of, f, s, where);
      case bulk_tables::of_warps:
        return run_by<warp_tables>(on, of, f, s, where);
      case bulk_tables::of_blocks:
        return run_by<block_table>(on, of, f, s, where);
      case bulk_tables::of_words:
        break;  // see `run`
    }
  }
  template <template <class> class Table, class Guarded, class Function>
  void run_by(Guarded& on, index_range of, Function const& f, stream_ref s,
              std::source_location where) {
    bulk_shape const& shape = plan_.shape;
    auto const combine =
        simt::make_kernel(&combine_rows<Table, partial, Record, Context, Function>);
    auto const blocks = static_cast<unsigned>(
        std::min<std::uint64_t>((of.count() + shape.threads - 1) / shape.threads, most_blocks_));
    arguments_type a{guarded_access::array<Record>(on, false),
                     guarded_access::context(on),
                     shape,
                     blocks,
                     partials_.data(),
                     present_.data(),
                     control_.data(),
                     runs_,
                     true,
                     true};
    Function function = f;
    void* first[] = {&a, &function, &of};
    runtime::allow_shared_bytes(combine, plan_.shared_bytes, where);
    runtime::launch(combine, {blocks, shape.threads, plan_.shared_bytes, false}, first, s, where);
    void* second[] = {&a};
    constexpr std::size_t bytes = apply_threads * (sizeof(partial_words<partial>) + 1);
    unsigned const of_records = (shape.records + simt::warp_size - 1) / simt::warp_size;
    try {
      runtime::launch(simt::make_kernel(&apply_partials<partial, Record, Context>),
                      runtime::early_launch(of_records, apply_threads, bytes), second, s, where);
    } catch (...) {
      give_up(a, of.count(), s, where);
      guarded_access::shared(on)->enqueued(s, where);
      throw;
    }
    guarded_access::shared(on)->enqueued(s, where);
  }

  bool in_parts_ = false;
  parts parts_;
  bulk_plan plan_{};  ///< tables of all records
  unsigned most_blocks_ = 0;
  std::uint32_t runs_ = 0;         ///< number of the last run
  buffer<partial> partials_;       ///< [block][record]
  buffer<unsigned char> present_;  ///< [block][record]
  buffer<bulk_control> control_;   ///< state of the run; empty before `reserve`
};

}  // namespace detail
WARDEN_NAMESPACE_END
