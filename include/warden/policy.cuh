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
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/sorted.cuh>
#include <warden/owner_map.cuh>
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

/// How a server runs the sections that it received.
namespace executor {

/// Sections run by owner threads, without locks, or by groups of lanes. `BytesPerThread` bytes of
/// messages for each thread make a window.
template <unsigned BytesPerThread = 128>
struct sorted {
  /// Deferred sections can run in order.
  static constexpr bool keeps_order = true;
  /// Sections may send others.
  static constexpr bool sends_sections = true;
  /// Sections may be run by several lanes.
  static constexpr bool runs_groups = true;
  /// The server loop.
  template <class Ref>
  using server =
      std::conditional_t<Ref::sends_sections,
                         detail::forwarding_server<Ref, detail::sorted_worker<Ref, BytesPerThread>>,
                         detail::window_server<Ref, detail::sorted_worker<Ref, BytesPerThread>>>;
  /// Its windows of a log have 8 messages for each thread at most, or where several lanes run a
  /// section 2, as more take registers, and 4 if sections say when they would change nothing.
  template <class Ref>
  using deferred_worker =
      detail::sorted_worker<Ref, std::min<unsigned>(BytesPerThread,
                                                    (Ref::group_size == 1 ? 8
                                                     : Ref::filters_noops ? 4
                                                                          : 2) *
                                                        sizeof(typename Ref::message_type))>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// `Count` locks a server, a power of two. Lanes of a warp whose records share a lock form a group:
/// one lane tries for the lock, and under it the group's sections run one after another.
/// `Server` is how they receive: slice_server, or leader_server.
template <unsigned Count = 4096, template <class, class> class Server = detail::slice_server>
struct locks {
  /// A server locks its own records only.
  static constexpr pairs_of pairs = pairs_of::one_owner;
  /// Sections may be run by several lanes.
  static constexpr bool runs_groups = true;
  /// The server loop.
  template <class Ref>
  using server = Server<Ref, detail::locks_worker<Ref, Count>>;
  /// How it runs windows of a log.
  template <class Ref>
  using deferred_worker = detail::slices_in_window<Ref, detail::locks_worker<Ref, Count>>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// Sections that have a member `atomic(Record*, Context) const` for what they do as one atomic
/// on the record, which returns what the section answers; all of the guarded array's.
/// `BytesPerThread` bytes of messages for each thread make a window.
template <unsigned BytesPerThread = 64>
struct atomics {
  /// The server loop.
  template <class Ref>
  using server = detail::window_server<Ref, detail::atomics_worker<Ref, BytesPerThread>>;
  /// How it runs windows of a log.
  template <class Ref>
  using deferred_worker = detail::atomics_worker<Ref, BytesPerThread, true>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = detail::partition_server<Ref, deferred_worker>;
};

/// Sections on two records that may have two owners, and sections on one. While a section on two is
/// on its way with one of them, what comes for that record waits, by `Locks` locks a server, a
/// power of two. Blocks of 64 threads at least.
template <unsigned Locks = 4096>
struct pair_messages {
  /// Sections may send others.
  static constexpr bool sends_sections = true;
  /// A record stays locked while a section is on its way to the other one.
  static constexpr pairs_of pairs = pairs_of::any_owners;
  /// Locks of a server.
  static constexpr std::uint32_t lock_count = Locks;
  /// The lock of the owner's record `local`.
  WARDEN_DEVICE static std::uint32_t lock_of(std::uint32_t local) {
    return detail::lock_table<Locks>::lock_of(local);
  }
  /// The server loop.
  template <class Ref>
  using server = detail::pair_messages_server<Ref, detail::pair_messages_worker<Ref>>;
};

/// Chooses: `pair_messages` if any of the sections is on two records, otherwise `sorted`.
struct automatic {
  /// What it chooses.
  template <class Record, class Context, class... Sections>
  using chosen = std::conditional_t<(pair_section_of<Sections, Record, Context> || ...),
                                    pair_messages<>, sorted<>>;
};

}  // namespace executor

/// How a server learns that a message is there.
namespace readiness {

/// A message is there when every word has its lap.
struct sequence_tags {
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_each_word>;
};

/// A message is there when the first word of each flit has its lap. Relies on more than PTX
/// promises.
struct single_tag {
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_first_word>;
};

/// A message is there when its bit in a mask beside the messages says so.
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
  static constexpr bool in_order = false;  ///< what it says
};

/// Sections run in the order of a sequential loop: see default_policy.
struct sequential {
  static constexpr bool in_order = true;  ///< what it says
};

}  // namespace order

/// How a client block stages and sends its messages.
namespace sender {

/// Messages leave in batches that are sorted by destination.
struct sorted {
  /// The staging.
  template <class Ref>
  using outbox = detail::sorted_outbox<Ref>;
};

/// Messages leave in buffers of 32, one for each destination.
struct buffered {
  /// The staging.
  template <class Ref>
  using outbox = detail::buffered_outbox<Ref>;
};

}  // namespace sender

/// What a policy says, and its defaults. Derive and override:
///
///     struct my_policy : warden::default_policy {
///       using context = list_view;                    // handed to every section
///       static constexpr unsigned block_threads = 512;
///     };
///     using lists = warden::basic_guarded<my_policy, head, push>;
struct default_policy {
  /// Handed to every section; one trivially copyable object given to the guarded array.
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
  using readiness = readiness::sequence_tags;
  /// How a client block stages and sends its messages.
  using sender = sender::sorted;
  /// The order in which deferred sections on one record run. With `order::sequential` it is that of
  /// a loop over the kernels, as numbered by `deferred::ref`, over their blocks, over a block's
  /// calls of `send`, and over its threads: the same result each time, bit for bit. For the
  /// executor `sorted`, and sections sent by block clients. Such sections are not sent in a fused
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
  /// By default a guarded array has a server for so many multiprocessors.
  static constexpr unsigned multiprocessors_per_server = 1;
  /// Bytes of messages a client block stages for each of its threads before it sends a batch.
  static constexpr unsigned outbox_bytes_per_thread = 128;
  /// Bytes of a channel's slots, at most, unless the guarded array's options give their number.
  static constexpr unsigned channel_bytes = 128 * 1024;
  /// Bytes of the slots of a ring between servers, at most, where sections send sections and unless
  /// the guarded array's options give their number. Bounds the sections under way.
  static constexpr unsigned forward_bytes = 2 * 1024 * 1024;
  /// Bytes of messages in the log of `apply_async`, at most: what is more goes in several pieces.
  static constexpr std::size_t apply_bytes = std::size_t{256} << 20;
  /// Make one section of several for one record, by the section's `static Section combine(Section,
  /// Section)`: in a block client's batch, and in a window of the executor `sorted` behind a
  /// channel. A section then runs once for several sends. For guarded arrays of one section type;
  /// where that has a type `partial` it is what several become, in a log alone (see `partial_of`),
  /// and where it has a `combine_key()` those of one key combine.
  static constexpr bool combines = false;
  /// Calls a thread may have under way, a power of two up to 32, in guarded arrays whose sections
  /// answer: so many slots for each thread that the device can hold.
  static constexpr unsigned calls_per_thread = 4;
  /// Count messages, batches, waits and retries (see guarded::statistics).
  static constexpr bool statistics = false;
};

WARDEN_NAMESPACE_END
