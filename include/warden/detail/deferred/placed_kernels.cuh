// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of the kernels that run the partitions of a log with the records at one place.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/placement.cuh>
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

/// Kernels that run the logs of such a guarded array with records at `Where`.
template <placement Where, class Policy, class Record, class... Sections>
class placed_kernels {
  using run_type = run_ref<Policy, Record, Sections...>;
  /// The run's view, with the policy's records at `Where`. Without a choice they are in memory.
  static constexpr bool is_placed =
      Policy::records == Where ||
      (Policy::records == placement::automatic && Where == placement::in_memory);
  using placed_ref = std::conditional_t<is_placed, run_type,
                                        run_ref<placed_policy<Policy, Where>, Record, Sections...>>;
  static constexpr bool two_widths = run_type::formats::two_widths;
  static constexpr unsigned threads = run_type::policy::block_threads;
  template <class Ref>
  using server = typename run_type::executor::template deferred_server<Ref>;

 public:
  /// Returns the shared memory of a block that runs a partition of `locals` records. Units: bytes.
  static std::size_t bytes_of(std::uint64_t locals, unsigned halvings) {
    return std::max(server<placed_ref>::shared_bytes(locals, halvings),
                    server<typename placed_ref::partials>::shared_bytes(locals, halvings));
  }

  /// Chooses the blocks that run the partitions of `run`. Throws cuda_error.
  void plan(run_type const& run, std::source_location where) {
    bytes_ = bytes_of(run.locals, run.window_halvings);
    blocks_ = std::min(run.owners.partitions(), resident(run_kernel_, where));
    if constexpr (two_widths) blocks_ = std::min(blocks_, resident(partials_kernel_, where));
  }
  /// Enqueues the run of a sorted log. `stage` tells how much is enqueued, also if the call throws.
  /// Throws cuda_error.
  void enqueue(run_arguments<run_type> const& run, run_stage& stage, stream_ref s,
               std::source_location where) const {
    run_arguments<placed_ref> argument{placed(run.ref), run.number, run.least, run.most,
                                       run.opened};
    void* arguments[] = {&argument};
    auto const shape = runtime::early_launch(blocks_, threads, bytes_);
    runtime::launch(run_kernel_, shape, arguments, s, where);
    stage = run_stage::begun;
    if constexpr (two_widths) runtime::launch(partials_kernel_, shape, arguments, s, where);
  }

 private:
  static placed_ref placed(run_type const& run) {
    if constexpr (is_placed) {
      return run;
    } else {
      static_assert(!is_spread<Policy>,
                    "such a view also has the numbers and the sender of a rank");
      placed_ref to;
      static_cast<run_array<Record>&>(to) = run;
      static_cast<run_window&>(to) = run;
      to.sections_context = run.sections_context;
      to.log = run.log;
      to.traces = run.traces;
      return to;
    }
  }
  static runtime::kernel kernel_of_partials() {
    if constexpr (two_widths) {
      return simt::make_kernel(&run_partials<placed_ref>);
    } else {
      return {};
    }
  }
  unsigned resident(runtime::kernel const& kernel, std::source_location where) const {
    return static_cast<unsigned>(runtime::resident_blocks(kernel, threads, bytes_, where));
  }

  unsigned blocks_ = 0;
  std::size_t bytes_ = 0;
  // Stored, as in flat_sort.
  runtime::kernel run_kernel_ = simt::make_kernel(&run_log<placed_ref>);
  runtime::kernel partials_kernel_ = kernel_of_partials();
};

}  // namespace detail
WARDEN_NAMESPACE_END
