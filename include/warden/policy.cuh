// SPDX-License-Identifier: Apache-2.0
/// @file
/// Choices of a guarded array, as a type, and the tags that a policy chooses by:
///
/// - `executor`, how sections run: `automatic`, `sorted`, `locks`, `atomics`, `pair_messages`;
/// - `readiness`, how a message shows that it has arrived: `sequence_tags`, `single_tag`,
/// `bitmask`;
/// - `sender`, how the messages of a block are staged and sent: `sorted`, `buffered`;
/// - `order`, the order of deferred sections: `unordered`, `sequential`.
#pragma once

#include <warden/detail/block/lock_table.cuh>
#include <warden/detail/deferred/partition_server.cuh>
#include <warden/detail/deferred/slices_in_window.cuh>
#include <warden/detail/execute/atomics.cuh>
#include <warden/detail/execute/automatic_blocks.cuh>
#include <warden/detail/execute/locks.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/sorted.cuh>
#include <warden/section.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

// The parts of fused launches. warden/fused.cuh defines them.
namespace detail {
template <class Ref, class Worker>
class forwarding_server;
template <class Ref, class Worker>
class pair_messages_server;
template <class Ref, class Worker>
class slice_server;
template <class Ref, class Worker>
class window_server;
template <class Ref>
class buffered_outbox;
template <class Ref>
class sorted_outbox;
template <int Flits>
class bitmask_channel_ref;
template <int Flits, class Flit>
class channel_ref;
namespace flit {
struct sequence_in_each_word;
struct sequence_in_first_word;
}  // namespace flit
template <class Ref>
class pair_messages_worker;
}  // namespace detail

/// Executors: ways in which a server runs the sections that it received.
namespace executor {

/// Owner threads, or groups of lanes, run sections without locks. `BytesPerThread` bytes of
/// messages for each thread make a window.
template <unsigned BytesPerThread = 128>
struct sorted {
  /// Deferred sections can run in order.
  static constexpr bool keeps_order = true;
  /// Sections may send other sections.
  static constexpr bool sends_sections = true;
  /// Groups of several lanes may run sections.
  static constexpr bool runs_groups = true;
  /// The server loop.
  template <class Ref>
  using server =
      std::conditional_t<Ref::sends_sections,
                         detail::forwarding_server<Ref, detail::sorted_worker<Ref, BytesPerThread>>,
                         detail::window_server<Ref, detail::sorted_worker<Ref, BytesPerThread>>>;
  /// Worker for windows of a log. A window has at most 8 messages for each thread. If several lanes
  /// run a section it has at most 2, because more take registers, or 4 if sections have `is_noop`.
  template <class Ref>
  using deferred_worker =
      detail::sorted_worker<Ref, std::min<unsigned>(BytesPerThread,
                                                    (Ref::group_size == 1 ? 8
                                                     : Ref::filters_noops ? 4
                                                                          : 2) *
                                                        sizeof(typename Ref::message_type))>;
  /// Server that runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// `Count` locks for each server, a power of two. Lanes of a warp whose records share a lock form a
/// group: one lane acquires the lock, and the group's sections then run one after another. `Server`
/// is the server loop: slice_server or leader_server.
template <unsigned Count = 4096, template <class, class> class Server = detail::slice_server>
struct locks {
  /// A server locks its own records only.
  static constexpr pairs_of pairs = pairs_of::one_owner;
  /// Groups of several lanes may run sections.
  static constexpr bool runs_groups = true;
  /// The server loop.
  template <class Ref>
  using server = Server<Ref, detail::locks_worker<Ref, Count>>;
  /// Worker for windows of a log.
  template <class Ref>
  using deferred_worker = detail::slices_in_window<Ref, detail::locks_worker<Ref, Count>>;
  /// Server that runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// Runs each section as one atomic. All section types of the guarded array have a member
/// `atomic(Record*, Context) const` that does the update by one atomic on the record, and returns
/// the section's answer. `BytesPerThread` bytes of messages for each thread make a window.
template <unsigned BytesPerThread = 64>
struct atomics {
  /// The server loop.
  template <class Ref>
  using server = detail::window_server<Ref, detail::atomics_worker<Ref, BytesPerThread>>;
  /// Worker for windows of a log.
  template <class Ref>
  using deferred_worker = detail::atomics_worker<Ref, BytesPerThread, true>;
  /// Server that runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// Sections on two records that may have two owners, and sections on one. While a section on two
/// records is on its way with one of them, messages for that record wait. Each server has `Locks`
/// locks for this, a power of two. Precondition: blocks have at least 64 threads.
template <unsigned Locks = 4096>
struct pair_messages {
  /// Sections may send other sections.
  static constexpr bool sends_sections = true;
  /// A record stays locked while its section is on its way to the other record.
  static constexpr pairs_of pairs = pairs_of::any_owners;
  /// Locks of a server.
  static constexpr std::uint32_t lock_count = Locks;
  /// Returns the lock of the owner's record `local`.
  WARDEN_DEVICE static std::uint32_t lock_of(std::uint32_t local) {
    return detail::lock_table<Locks>::lock_of(local);
  }
  /// The server loop.
  template <class Ref>
  using server = detail::pair_messages_server<Ref, detail::pair_messages_worker<Ref>>;
};

/// Chooses `sorted`. If any of the sections is on two records, a log runs all sections in rounds,
/// and a fused launch is refused.
struct automatic {
  /// The chosen executor.
  template <class Record, class Context, class... Sections>
  using chosen = std::conditional_t<(pair_section_of<Sections, Record, Context> || ...),
                                    detail::pairs_in_rounds, sorted<>>;
};

}  // namespace executor

/// Ways in which a server detects that a message has arrived.
namespace readiness {

/// A message has arrived when every word has its sequence tag.
struct sequence_tags {
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_each_word>;
};

/// A message has arrived when the first word of each flit has its sequence tag. Relies on more than
/// PTX promises.
struct single_tag {
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_first_word>;
};

/// A message has arrived when its bit in a separate mask is set.
struct bitmask {
  /// The channels.
  template <int Flits>
  using channel = detail::bitmask_channel_ref<Flits>;
};

}  // namespace readiness

/// The order in which deferred sections on one record run.
namespace order {

/// Sections run in any order.
struct unordered {
  static constexpr bool in_order = false;  ///< true if sections run in order
};

/// Sections run in the order of a sequential loop: see default_policy.
struct sequential {
  static constexpr bool in_order = true;  ///< true if sections run in order
};

}  // namespace order

/// Ways in which a client block stages and sends its messages.
namespace sender {

/// Messages leave in batches that are sorted by destination.
struct sorted {
  /// Staging of the messages.
  template <class Ref>
  using outbox = detail::sorted_outbox<Ref>;
};

/// Messages leave in buffers of 32, one for each destination.
struct buffered {
  /// Staging of the messages.
  template <class Ref>
  using outbox = detail::buffered_outbox<Ref>;
};

}  // namespace sender

/// Choices of a guarded array, and their defaults. Derive and override:
///     struct my_policy : warden::default_policy {
///       using context = list_view;                    // handed to every section
///       static constexpr unsigned block_threads = 512;
///     };
///     using lists = warden::basic_guarded<my_policy, head, push>;
struct default_policy {
  /// Read-only object that every section gets: one trivially copyable object, given to the guarded
  /// array.
  using context = no_context;
  /// Executor of the sections.
  using executor = executor::automatic;
  /// Memory that holds the records while servers work on them. On chip, a server's share of the
  /// records must fit its block's shared memory.
  static constexpr placement records = placement::automatic;
  /// Map from record to owner.
  using owner_map = interleaved_owner_map;
  /// Map from record to rank, in a spread_guarded: the map's servers are the ranks.
  using rank_owner_map = interleaved_owner_map;
  /// Way in which a server detects that a message has arrived.
  using readiness = readiness::sequence_tags;
  /// Way in which a client block stages and sends its messages.
  using sender = sender::sorted;
  /// The order in which deferred sections on one record run. With `order::sequential` it is the
  /// order of a loop over the kernels, as numbered by `deferred::ref`, over their blocks, over a
  /// block's calls of `send`, and over its threads. The result is the same each time, bit for bit.
  /// Precondition: the executor is `sorted`, block clients send the sections, and no fused launch
  /// sends them.
  using order = warden::order::unordered;
  /// Threads of every block of the launch, servers and clients alike. Precondition: a multiple of
  /// 32.
  static constexpr unsigned block_threads = 256;
  /// Blocks that a multiprocessor must be able to hold; this bounds the registers of the user's
  /// code as well. With `automatic_blocks` each kernel is compiled twice, for 3 blocks and without
  /// a bound. A launch takes the version for 3 blocks unless that spills registers to local memory
  /// and the other version spills less. If sections send sections the bound is at most 512 threads'
  /// worth; if sections are on two records of any owners, 768.
  static constexpr unsigned minimum_blocks_per_multiprocessor = automatic_blocks;
  /// Multiprocessors for each server, unless the guarded array's options give the number of
  /// servers.
  static constexpr unsigned multiprocessors_per_server = 1;
  /// Messages that a client block stages for each of its threads before it sends a batch. Units:
  /// bytes.
  static constexpr unsigned outbox_bytes_per_thread = 128;
  /// Slots of a channel, at most, unless the guarded array's options give their number. Units:
  /// bytes.
  static constexpr unsigned channel_bytes = 128 * 1024;
  /// Slots of a ring between servers, at most, if sections send sections, unless the guarded
  /// array's options give their number. Bounds the number of sections on their way. Units: bytes.
  static constexpr unsigned forward_bytes = 2 * 1024 * 1024;
  /// Messages in the log of `apply_async`, at most. Larger calls go in several pieces. Units:
  /// bytes.
  static constexpr std::size_t apply_bytes = std::size_t{256} << 20;
  /// True if a fused launch combines several sections for one record into one, by the section's
  /// `static Section combine(Section, Section)`. This happens in a block client's batch, and in a
  /// window of the executor `sorted`. It takes time if records rarely repeat, so it is a choice; a
  /// log combines by itself: see `combining`. Precondition: the guarded array has one section type,
  /// which has no `partial` and returns nothing.
  static constexpr bool combine_in_fused = false;
  /// Calls that a thread may have open in guarded arrays whose sections answer, a power of two up
  /// to 32. That number of slots is reserved for each thread that the device can hold.
  static constexpr unsigned calls_per_thread = 4;
  /// True if messages, batches, waits and retries are counted: see guarded::statistics.
  static constexpr bool statistics = false;
};

WARDEN_NAMESPACE_END
