// SPDX-License-Identifier: Apache-2.0
/// @file
/// Options of a log.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>

WARDEN_HOST_NAMESPACE_BEGIN

/// Choices made when a log is made. Zero selects the default.
struct deferred_options {
  /// Partitions of the records, a power of two up to 512. One block runs a partition at a time. The
  /// default is about the number of multiprocessors of the device, and more if a partition would
  /// not fit the chip, or if the records are in memory and the sections are many. For sections on
  /// two records of one array the default has the least estimated time of a full log
  /// (detail/pairs/rounds_tiles.cuh), so a log much larger than the sections of one run has too
  /// many.
  unsigned partitions = 0;
  /// Partitions of the second guarded array's records, in a deferred_between. By default the chosen
  /// number of the first guarded array, otherwise chosen in the same way.
  unsigned second_partitions = 0;
  /// Parts into which a run splits each partition, a power of two up to 512. The run then sorts the
  /// log once more, and needs room for all messages twice. By default as many as make a part fit
  /// the chip. For records in memory that the level-2 cache does not hold, by default as many as
  /// make the first-level cache hold a part, unless the log is so small that few records have a
  /// section. 1 splits nothing. Sections that combine to wider partials are never split.
  unsigned split = 0;
  /// With order::sequential, batches that the log has room for: one for each `flush` of a block,
  /// and one each time that a block has sent as much as its storage holds. The default is one for
  /// 256 sections, plus 4,096.
  std::size_t batches = 0;
  /// In a log on records that are spread over ranks: room for sections that come from other ranks
  /// in one run, or, with order::sequential, for all sections that this rank runs. At most 2^30.
  /// The default is twice the log's number of sections, up to that limit.
  std::size_t room = 0;
};

WARDEN_HOST_NAMESPACE_END
