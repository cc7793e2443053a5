// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tags that a policy chooses by, and what each is wired to.
///
/// | choice | tags | decides |
/// |---|---|---|
/// | `executor` | `automatic`, `runs`, `locks`, `atomics`, `nested` | how servers run sections |
/// | `readiness` | `laps`, `whole_flits`, `bitmask` | how a message shows that it is there |
/// | `sender` | `sorted`, `buffered` | how a block's messages are staged and sent |
/// | `order` | `unordered`, `sequential` | in which order deferred sections run |
#pragma once

#include <warden/block/lock_table.cuh>
#include <warden/critical_section.cuh>
#include <warden/executor/atomics.cuh>
#include <warden/executor/locks.cuh>
#include <warden/executor/runs.cuh>
#include <warden/server/partition_server.cuh>
#include <warden/server/slices_in_window.cuh>

#include <algorithm>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

// The parts of fused launches. warden/launch.cuh defines them.
template <class Ref, class Worker>
class forwarding_server;
template <class Ref, class Worker>
class nested_server;
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
struct lap_in_each_word;
struct lap_in_first_word;
}  // namespace flit
namespace executor {
template <class Ref>
class nested_worker;
}  // namespace executor

/// How a server runs the sections that it received.
namespace executor {

/// Sections run by owner threads, without locks, or by groups of lanes. `BytesPerThread` bytes of
/// messages for each thread make a window.
template <unsigned BytesPerThread = 128>
struct runs {
  /// Deferred sections can run in order.
  static constexpr bool keeps_order = true;
  /// Sections may send others.
  static constexpr bool forwards = true;
  /// Sections may be run by several lanes.
  static constexpr bool lanes = true;
  /// The server loop.
  template <class Ref>
  using server = std::conditional_t<Ref::has_forwards,
                                    forwarding_server<Ref, runs_worker<Ref, BytesPerThread>>,
                                    window_server<Ref, runs_worker<Ref, BytesPerThread>>>;
  /// Its windows of a log have 8 messages for each thread at most, or where several lanes run a
  /// section 2, as more take registers, and 4 if sections say when they would change nothing.
  template <class Ref>
  using deferred_worker =
      runs_worker<Ref, std::min<unsigned>(BytesPerThread, (Ref::lanes == 1 ? 8
                                                           : Ref::asks     ? 4
                                                                           : 2) *
                                                              sizeof(typename Ref::message_type))>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = partition_server<Ref, deferred_worker>;
};

/// `Count` locks a server, a power of two. Lanes of a warp whose records share a lock form a group:
/// one lane tries for the lock, and under it the group's sections run one after another.
/// `Server` is how they receive: slice_server, or leader_server.
template <unsigned Count = 4096, template <class, class> class Server = slice_server>
struct locks {
  /// A server locks its own records only.
  static constexpr pairs_of pairs = pairs_of::one_owner;
  /// Sections may be run by several lanes.
  static constexpr bool lanes = true;
  /// The server loop.
  template <class Ref>
  using server = Server<Ref, locks_worker<Ref, Count>>;
  /// How it runs windows of a log.
  template <class Ref>
  using deferred_worker = slices_in_window<Ref, locks_worker<Ref, Count>>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = partition_server<Ref, deferred_worker>;
};

/// Sections that have a member `atomic(Record*, Context) const` for what they do as one atomic
/// on the record, which returns what the section answers; all of the guarded's. `BytesPerThread`
/// bytes of messages for each thread make a window.
template <unsigned BytesPerThread = 64>
struct atomics {
  /// The server loop.
  template <class Ref>
  using server = window_server<Ref, atomics_worker<Ref, BytesPerThread>>;
  /// How it runs windows of a log.
  template <class Ref>
  using deferred_worker = atomics_worker<Ref, BytesPerThread, true>;
  /// What runs a log.
  template <class Ref>
  using deferred_server = partition_server<Ref, deferred_worker>;
};

/// Sections on two records that may have two owners, and sections on one. While a section on two is
/// on its way with one of them, what comes for that record waits, by `Locks` locks a server, a
/// power of two. Blocks of 64 threads at least.
template <unsigned Locks = 4096>
struct nested {
  /// Sections may send others.
  static constexpr bool forwards = true;
  /// A record stays locked while a section is on its way to the other one.
  static constexpr pairs_of pairs = pairs_of::any_owners;
  /// Locks of a server.
  static constexpr std::uint32_t lock_count = Locks;
  /// The lock of the owner's record `local`.
  WARDEN_DEVICE static std::uint32_t lock_of(std::uint32_t local) {
    return lock_table<Locks>::lock_of(local);
  }
  /// The server loop.
  template <class Ref>
  using server = nested_server<Ref, nested_worker<Ref>>;
};

/// Chooses: `nested` if any of the sections is on two records, otherwise `runs`.
struct automatic {
  /// What it chooses.
  template <class Record, class Context, class... Sections>
  using chosen =
      std::conditional_t<(pair_section_of<Sections, Record, Context> || ...), nested<>, runs<>>;
};

}  // namespace executor

/// How a server learns that a message is there.
namespace readiness {

/// A message is there when every word has its lap.
struct laps {
  /// The channels.
  template <int Flits>
  using channel = channel_ref<Flits, flit::lap_in_each_word>;
};

/// A message is there when the first word of each flit has its lap. Relies on more than PTX
/// promises.
struct whole_flits {
  /// The channels.
  template <int Flits>
  using channel = channel_ref<Flits, flit::lap_in_first_word>;
};

/// A message is there when its bit in a mask beside the messages says so.
struct bitmask {
  /// The channels.
  template <int Flits>
  using channel = bitmask_channel_ref<Flits>;
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
  using outbox = warden::sorted_outbox<Ref>;
};

/// Messages leave in buffers of 32, one for each destination.
struct buffered {
  /// The staging.
  template <class Ref>
  using outbox = buffered_outbox<Ref>;
};

}  // namespace sender

WARDEN_NAMESPACE_END
