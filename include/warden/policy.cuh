// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded is tuned and extended by, as a type.
#pragma once

#include <warden/critical_section.cuh>
#include <warden/owner_map.cuh>
#include <warden/placement.cuh>
#include <warden/tags.cuh>

#include <cstddef>

WARDEN_NAMESPACE_BEGIN

/// A policy's `minimum_blocks_per_multiprocessor`: chosen for each kernel.
inline constexpr unsigned automatic_blocks = 0;

/// What a policy says, and its defaults. Derive and override:
///
///     struct my_policy : warden::default_policy {
///       using context = list_view;                    // handed to every section
///       static constexpr unsigned block_threads = 512;
///     };
///     using lists = warden::basic_guarded<my_policy, head, push>;
struct default_policy {
  /// Handed to every section; one trivially copyable object given to the guarded.
  using context = no_context;
  /// How a server runs the sections it received.
  using executor = executor::automatic;
  /// Where the records are while servers work on them. On chip, a server's share of them must fit
  /// its block's shared memory.
  static constexpr placement records = placement::in_memory;
  /// Who owns which record.
  using owner_map = interleaved_owner_map;
  /// Which rank has which record, in a spread_guarded: the map's servers are the ranks.
  using rank_owner_map = interleaved_owner_map;
  /// How a server learns that a message is there.
  using readiness = readiness::laps;
  /// How a client block stages and sends its messages.
  using sender = sender::sorted;
  /// The order in which deferred sections on one record run. With `order::sequential` it is that of
  /// a loop over the kernels, as numbered by `deferred::ref`, over their blocks, over a block's
  /// calls of `send`, and over its threads: the same result each time, bit for bit. For the
  /// executor `runs`, and sections sent by block clients. Such sections are not sent in a fused
  /// launch.
  using order = warden::order::unordered;
  /// Threads of every block of the launch, servers and clients alike; a multiple of 32.
  static constexpr unsigned block_threads = 256;
  /// Blocks an SM must be able to hold: bounds the registers of the user's code as well. With
  /// `automatic_blocks` each kernel is compiled twice, for 3 and without a bound; a launch takes
  /// the one for 3 unless it spills registers to local memory and the other one less. (Where
  /// sections send sections, 512 threads' worth at most count; where they are on two records of any
  /// owners, 768.)
  static constexpr unsigned minimum_blocks_per_multiprocessor = automatic_blocks;
  /// By default a guarded has a server for so many multiprocessors.
  static constexpr unsigned multiprocessors_per_server = 1;
  /// Bytes of messages a client block stages for each of its threads before it sends a batch.
  static constexpr unsigned outbox_bytes_per_thread = 128;
  /// Bytes of a channel's slots, at most, unless the guarded's options give their number.
  static constexpr unsigned channel_bytes = 128 * 1024;
  /// Bytes of the slots of a ring between servers, at most, where sections send sections and unless
  /// the guarded's options give their number. Bounds the sections under way.
  static constexpr unsigned forward_bytes = 2 * 1024 * 1024;
  /// Bytes of messages in the log of `apply_async`, at most: what is more goes in several pieces.
  static constexpr std::size_t apply_bytes = std::size_t{256} << 20;
  /// Make one section of several for one record, by the section's `static Section combine(Section,
  /// Section)`: in a block client's batch, and in a window of the executor `runs` behind a channel.
  /// A section then runs once for several sends. For guardeds of one section type; where that has a
  /// type `partial` it is what several become, in a log alone (see `partial_of`), and where it has
  /// a `combine_key()` those of one key combine.
  static constexpr bool combines = false;
  /// Calls a thread may have under way, a power of two up to 32, in guardeds whose sections answer:
  /// so many slots for each thread that the device can hold.
  static constexpr unsigned calls_per_thread = 4;
  /// Count messages, batches, waits and retries (see guarded::statistics).
  static constexpr bool statistics = false;
};

WARDEN_NAMESPACE_END
