// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of tables of partials: if a rank has many sections for few records of another rank, it
/// combines them by record and sends one partial for each record.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/spread/cell_runner.cuh>
#include <warden/detail/spread/launch_blocks.cuh>
#include <warden/detail/spread/spread_kernels.cuh>
#include <warden/detail/spread/table_kernels.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Stands for the tables of sections that do not combine before they travel.
struct no_partial_tables {
  static constexpr std::size_t bytes() { return 0; }
};

/// Tables of the sections of such a log, for other ranks and from them. A table has a cell for each
/// place of the rank that gets it, and lies where the messages would lie.
template <class Policy, class Record, class Section>
class partial_tables {
  using run_type = run_ref<Policy, Record, Section>;
  using message_type = typename run_type::message_type;
  template <placement Where>
  using runner = cell_runner<Where, Policy, Record, Section>;
  using cell = typename runner<placement::on_chip>::cell;

 public:
  /// Plans the runs that fill tables, for a log that is run by the partitions of `run`. Returns the
  /// places of a log that a table takes; 0 if no block fits the chip, or these are more than
  /// `most`. Throws cuda_error.
  std::uint32_t plan(run_type const& run, std::uint32_t ranks, std::size_t most,
                     std::source_location where) {
    std::size_t const room =
        runtime::facts(runtime::current_device(where), where).shared_bytes_per_block;
    cells_ = run.size;
    std::size_t const places =
        (cells_ * sizeof(cell) + sizeof(message_type) - 1) / sizeof(message_type);
    is_on_chip_ = on_chip_.plan(run, room, where);
    if (places > most || (!is_on_chip_ && !in_memory_.plan(run, room, where))) return 0;
    controls_ = buffer<log_control>{ranks, where};
    arrived_blocks_ = resident_blocks<run_type>(
        arrived_kernel_, 0, static_cast<unsigned>((cells_ + threads - 1) / threads), where);
    return static_cast<std::uint32_t>(places);
  }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const { return controls_.bytes(); }

  /// Enqueues the preparation of the runs that fill this rank's tables. `run` is that of a closed
  /// and sorted log.
  void prepare(run_arguments<run_type> const& run, exchange_table const& on_device,
               std::uint32_t own, stream_ref s, std::source_location where) {
    prepare_arguments<run_type> argument{run, on_device, own, controls_.data()};
    launch_blocks<run_type>(prepare_kernel_, 1, 0, argument, s, where);
  }
  /// Returns the counters of the run that fills the table for rank `to`.
  [[nodiscard]] log_control* control_of(std::uint32_t to) { return controls_.data() + to; }
  /// Enqueues the run that fills the table for rank `to`, whose part of the log is that of `run`.
  /// `table` is memory for messages. Throws cuda_error.
  void fill(run_arguments<run_type> const& run, std::uint32_t to, message_type* table, stream_ref s,
            std::source_location where) {
    auto* const cells = reinterpret_cast<cell*>(table);
    runtime::fill_async(cells, 0, cells_ * sizeof(cell), s, where);
    if (is_on_chip_) {
      on_chip_.enqueue(run, to, cells, s, where);
    } else {
      in_memory_.enqueue(run, to, cells, s, where);
    }
  }
  /// Enqueues the run of the sections in arrived tables. `run` is that of the arrived messages.
  void run_arrived(run_arguments<run_type> const& run, exchange_table const& on_device,
                   std::uint32_t own, stream_ref s, std::source_location where) {
    arrived_arguments<run_type> argument{run, on_device, own};
    launch_blocks<run_type>(arrived_kernel_, arrived_blocks_, 0, argument, s, where);
  }

 private:
  static constexpr unsigned threads = run_type::policy::block_threads;

  std::size_t cells_ = 0;  ///< cells of a table
  bool is_on_chip_ = false;
  runner<placement::on_chip> on_chip_;
  runner<placement::in_memory> in_memory_;  ///< if the cells of a partition do not fit the chip
  buffer<log_control> controls_;            ///< [rank] counters of the run that fills its table
  unsigned arrived_blocks_ = 0;
  runtime::kernel prepare_kernel_ = simt::make_kernel(&prepare_tables<run_type>);
  runtime::kernel arrived_kernel_ = simt::make_kernel(&run_tables<run_type>);
};

template <bool Combines, class Policy, class Record, class... Sections>
struct partial_tables_of {
  using type = no_partial_tables;
};
template <class Policy, class Record, class Section>
struct partial_tables_of<true, Policy, Record, Section> {
  using type = partial_tables<Policy, Record, Section>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
