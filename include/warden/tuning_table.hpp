// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values of the automatic choices of logs that depend on the GPU. `./warden tune` measures them.
#pragma once

#include <warden/runtime.hpp>
#include <warden/simt/host_abi.hpp>

#include <source_location>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

/// Values by which a log chooses partitions, splits, shards and the place of its records. They
/// change the speed and the memory of a log. They never change results with order::sequential
/// or order::deterministic, or of sections whose order does not matter.
struct tuning_table {
  /// Sections of a log for each of its counters. More counters let more threads send at once, but
  /// each counter cuts a batch.
  unsigned sections_per_shard = 1u << 16;
  /// Counters of a log, at most.
  unsigned most_shards = 256;
  /// A run has its records on chip from one section for this much of the records on. Units: bytes.
  unsigned record_bytes_per_section = 32;
  /// A log always has its records on chip if there is no more than this for each multiprocessor.
  /// Units: bytes.
  unsigned on_chip_bytes = 32u << 10;
  /// Partitions for each multiprocessor, if the records are in memory.
  unsigned partitions_in_memory = 2;
  /// A run splits partitions from one section for this many records on.
  unsigned records_per_split_section = 8;
  /// Records of a part, if records are split because the level-2 cache does not hold them. Units:
  /// bytes.
  unsigned split_part_bytes = 32u << 10;

  /// True if all values are the same.
  friend bool operator==(tuning_table const&, tuning_table const&) = default;
};

/// Returns the values for GPUs like `device` that come with Warden.
tuning_table usual_tuning(runtime::device_facts const& device);
/// Returns the values by which new logs on a device choose: those of set_tuning, load_tuning, or
/// the file that the environment variable WARDEN_TUNING names, otherwise the usual ones. The first
/// call reads that file. Throws limit_error for a file that is no table, and cuda_error.
tuning_table current_tuning(int device,
                            std::source_location where = std::source_location::current());
/// Sets the values by which new logs choose on all devices of the current device's name. Throws
/// limit_error for a value outside of its limits, and cuda_error. Thread-safe.
void set_tuning(tuning_table const& table,
                std::source_location where = std::source_location::current());
/// Sets the values by the table in a file. A table of another GPU, driver (major version) or
/// version of Warden is ignored, with one line on stderr. Returns true if the table is used. Throws
/// limit_error for a file that is no table, and cuda_error. Thread-safe.
bool load_tuning(std::string const& path,
                 std::source_location where = std::source_location::current());
/// Returns a table of the current device, as load_tuning reads it. Throws cuda_error.
std::string to_string(tuning_table const& table,
                      std::source_location where = std::source_location::current());

WARDEN_HOST_NAMESPACE_END
