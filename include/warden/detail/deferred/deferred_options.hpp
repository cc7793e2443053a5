// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is chosen when a log is made.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>

WARDEN_HOST_NAMESPACE_BEGIN

/// Choices made when a log is made. Zero means: by default.
struct deferred_options {
  /// Parts of the records that are run one by one, a power of two up to 512. By default about as
  /// many as the device has multiprocessors, and more if a part would not fit the chip. With
  /// sections on two records of one array: the number with the least estimated time of a full log
  /// (detail/pairs/rounds_parts.cuh). A log that is made much larger than what it holds in a run
  /// has too many parts for that.
  unsigned partitions = 0;
  /// Parts of the second guarded array's records, of a deferred_between; as many as of the first's
  /// where those are chosen, otherwise by default as those.
  unsigned second_partitions = 0;
  /// Into how many each of those is split by a run, which sorts the log once more for that and
  /// needs room for all messages twice: a power of two up to 512. By default as many as make them
  /// fit the chip; of records in memory that the level-2 cache does not hold, as many as make the
  /// first-level one hold them, unless the log is so small that few records would have a section.
  /// 1 splits nothing; sections that combine to wider partials are never split.
  unsigned split = 0;
  /// With order::sequential, batches that the log has room for: one for each `flush` of a block,
  /// and for each time that a block has sent as much as its storage holds. By default one for 256
  /// sections, and 4,096 more.
  std::size_t batches = 0;
  /// Of a log on records that are spread over ranks: places for sections that come from other ranks
  /// in one run; with order::sequential for all that this rank runs. 2^30 at most; by default twice
  /// as many as the log holds, if those are not more.
  std::size_t room = 0;
};

WARDEN_HOST_NAMESPACE_END
