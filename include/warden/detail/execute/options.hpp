// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values of a policy. A program names the values that differ from the defaults, and the compiler
/// refuses a misspelt name.
#pragma once

#include <warden/detail/execute/automatic_blocks.cuh>
#include <warden/detail/execute/placement.cuh>

#include <cstddef>

WARDEN_NAMESPACE_BEGIN

/// Values for tuning. They change the speed and the memory of a guarded array.
struct tuning {
  /// Blocks that a multiprocessor must be able to hold; this bounds the registers of the user's
  /// code as well. With `automatic_blocks` each kernel is compiled twice, for 3 blocks and without
  /// a bound. A launch takes the version for 3 blocks unless that spills registers to local memory
  /// and the other version spills less. If sections send sections the bound is at most 512 threads'
  /// worth; if sections are on two records of any owners, 768.
  unsigned minimum_blocks_per_multiprocessor = automatic_blocks;
  /// Multiprocessors for each server, unless the guarded array's options give the number of
  /// servers.
  unsigned multiprocessors_per_server = 1;
  /// Messages that a client block stages for each of its threads before it sends a batch. Units:
  /// bytes.
  unsigned outbox_bytes_per_thread = 128;
  /// Slots of a channel, at most, unless the guarded array's options give their number. Units:
  /// bytes.
  unsigned channel_bytes = 128 * 1024;
  /// Slots of a ring between servers, at most, if sections send sections, unless the guarded
  /// array's options give their number. Bounds the number of sections on their way. Units: bytes.
  unsigned forward_bytes = 2 * 1024 * 1024;
  /// Messages in the log of `apply_async`, at most. Larger calls go in several pieces. Units:
  /// bytes.
  std::size_t apply_bytes = std::size_t{256} << 20;
  /// True if a fused launch combines several sections for one record into one, by the section's
  /// `static Section combine(Section, Section)`. This happens in a block client's batch, and in a
  /// window of the executor `sorted`. It takes time if records rarely repeat, so it is a choice; a
  /// log combines by itself: see `combining`. Precondition: the guarded array has one section type,
  /// which has no `partial` and returns nothing.
  bool combine_in_fused = false;
};

/// Values of a policy, in the order in which initializers name them.
struct options {
  /// Memory that holds the records while servers work on them. On chip, a server's share of the
  /// records must fit its block's shared memory.
  placement records = placement::automatic;
  /// Threads of every block of the launch, servers and clients alike. Precondition: a multiple of
  /// 32.
  unsigned block_threads = 256;
  /// Calls that a thread may have open in guarded arrays whose sections answer, a power of two up
  /// to 32. That number of slots is reserved for each thread that the device can hold.
  unsigned calls_per_thread = 4;
  /// True if messages, batches, waits and retries are counted: see guarded::statistics.
  bool statistics = false;
  /// Values that most programs leave as they are.
  warden::tuning tuning = {};
};

WARDEN_NAMESPACE_END
