// SPDX-License-Identifier: Apache-2.0
/// @file
/// Choices of a guarded array, as a type. A policy has values, `options`, and parts:
///
/// - `context<T>`, the type of the object that every section gets;
/// - `executor`, how sections run: `automatic`, `sorted`, `locks`, `atomics`, `pair_messages`;
/// - `order`, the order of deferred sections: `unordered`, `sequential`, `deterministic`;
/// - `owners<Map>` and `rank_owners<Map>`, maps from a record to its owner and its rank;
/// - `readiness`, how a message shows that it has arrived: `sequence_tags`, `single_tag`,
/// `bitmask`;
/// - `sender`, how the messages of a block are staged and sent: `sorted`, `buffered`.
#pragma once

#include <warden/detail/block/lock_table.cuh>
#include <warden/detail/deferred/partition_server.cuh>
#include <warden/detail/deferred/slices_in_window.cuh>
#include <warden/detail/execute/atomics.cuh>
#include <warden/detail/execute/locks.cuh>
#include <warden/detail/execute/options.hpp>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/policy_parts.cuh>
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
  static constexpr auto kind = detail::part_kind::executor;  ///< kind of part
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
  static constexpr auto kind = detail::part_kind::executor;  ///< kind of part
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
  static constexpr auto kind = detail::part_kind::executor;  ///< kind of part
  static constexpr bool runs_member_atomic = true;           ///< not operator(), also in bulk
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
  static constexpr auto kind = detail::part_kind::executor;  ///< kind of part
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
  static constexpr auto kind = detail::part_kind::executor;  ///< kind of part
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
  static constexpr auto kind = detail::part_kind::readiness;  ///< kind of part
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_each_word>;
};

/// A message has arrived when the first word of each flit has its sequence tag. Relies on more than
/// PTX promises.
struct single_tag {
  static constexpr auto kind = detail::part_kind::readiness;  ///< kind of part
  /// The channels.
  template <int Flits>
  using channel = detail::channel_ref<Flits, detail::flit::sequence_in_first_word>;
};

/// A message has arrived when its bit in a separate mask is set.
struct bitmask {
  static constexpr auto kind = detail::part_kind::readiness;  ///< kind of part
  /// The channels.
  template <int Flits>
  using channel = detail::bitmask_channel_ref<Flits>;
};

}  // namespace readiness

/// The order in which deferred sections on one record run.
namespace order {

/// Sections run in any order.
struct unordered {
  static constexpr auto kind = detail::part_kind::order;  ///< kind of part
  static constexpr bool in_order = false;                 ///< true if sections run in order
  static constexpr bool in_trees = false;                 ///< true if a fixed tree combines them
};

/// Sections run in the order of a loop over the kernels, as numbered by `deferred::ref`, over their
/// blocks, over a block's calls of `send`, and over its threads. The result is the same each time,
/// bit for bit. Precondition: the executor is `sorted`, block clients send the sections, and no
/// fused launch sends them.
struct sequential {
  static constexpr auto kind = detail::part_kind::order;  ///< kind of part
  static constexpr bool in_order = true;                  ///< true if sections run in order
  static constexpr bool in_trees = false;                 ///< true if a fixed tree combines them
};

/// The sections of an `apply_async`, or of a run of a log, on one record are combined by
/// `Section::combine`, in the order of i, or of order::sequential, and in a tree that depends only
/// on how many they are. The result is then applied once. It
/// is the same each time, bit for bit, on every GPU, and many threads work on a hot record. Two
/// calls with half of the sections each give other bits than one call, because the trees differ.
/// `is_noop` is not called. Precondition: `combine` is associative, but for rounding.
struct deterministic {
  static constexpr auto kind = detail::part_kind::order;  ///< kind of part
  static constexpr bool in_order = true;                  ///< true if sections run in order
  static constexpr bool in_trees = true;                  ///< true if a fixed tree combines them
};

}  // namespace order

/// Ways in which a client block stages and sends its messages.
namespace sender {

/// Messages leave in batches that are sorted by destination.
struct sorted {
  static constexpr auto kind = detail::part_kind::sender;  ///< kind of part
  /// Staging of the messages.
  template <class Ref>
  using outbox = detail::sorted_outbox<Ref>;
};

/// Messages leave in buffers of 32, one for each destination.
struct buffered {
  static constexpr auto kind = detail::part_kind::sender;  ///< kind of part
  /// Staging of the messages.
  template <class Ref>
  using outbox = detail::buffered_outbox<Ref>;
};

}  // namespace sender

/// Part of a policy: type of the read-only object that every section gets. The guarded array is
/// given one trivially copyable object of it.
template <class T>
struct context {
  static constexpr auto kind = detail::part_kind::context;  ///< kind of part
  using type = T;                                           ///< type of the object
};

/// Part of a policy: map from record to owner. Default: `interleaved_owner_map`.
template <class Map>
struct owners {
  static constexpr auto kind = detail::part_kind::owners;  ///< kind of part
  using type = Map;                                        ///< type of the map
};

/// Part of a policy: map from record to rank, in a spread_guarded. The map's servers are the ranks.
/// Default: `interleaved_owner_map`.
template <class Map>
struct rank_owners {
  static constexpr auto kind = detail::part_kind::rank_owners;  ///< kind of part
  using type = Map;                                             ///< type of the map
};

/// Choices of a guarded array: values, and at most one part of each kind, in any order.
///     using on_chip = warden::policy<
///         warden::options{.records = warden::placement::on_chip, .block_threads = 512},
///         warden::context<list_view>, warden::order::sequential>;
///     using lists = warden::basic_guarded<on_chip, head, push>;
template <options Values = options{}, class... Parts>
struct policy {
  static_assert(((detail::kind_of<Parts> != detail::part_kind::none) && ...),
                "warden: a part of a policy is an executor, an order, a readiness, a sender, "
                "warden::context<T>, warden::owners<Map> or warden::rank_owners<Map>");
  static_assert(((detail::kind_of<Parts> == detail::part_kind::none ||
                  detail::parts_of_kind<detail::kind_of<Parts>, Parts...> == 1) &&
                 ...),
                "warden: a policy has at most one part of each kind");

  static constexpr options values = Values;  ///< all values

  /// See warden::context.
  using context = typename detail::part_of_kind<warden::context<no_context>, Parts...>::type;
  /// See warden::owners.
  using owner_map = typename detail::part_of_kind<owners<interleaved_owner_map>, Parts...>::type;
  /// See warden::rank_owners.
  using rank_owner_map =
      typename detail::part_of_kind<rank_owners<interleaved_owner_map>, Parts...>::type;
  /// Executor of the sections.
  using executor = detail::part_of_kind<warden::executor::automatic, Parts...>;
  /// The order in which deferred sections on one record run.
  using order = detail::part_of_kind<warden::order::unordered, Parts...>;
  /// Way in which a server detects that a message has arrived.
  using readiness = detail::part_of_kind<warden::readiness::sequence_tags, Parts...>;
  /// Way in which a client block stages and sends its messages.
  using sender = detail::part_of_kind<warden::sender::sorted, Parts...>;

  static constexpr placement records = Values.records;                   ///< see options
  static constexpr unsigned block_threads = Values.block_threads;        ///< see options
  static constexpr unsigned calls_per_thread = Values.calls_per_thread;  ///< see options
  static constexpr bool statistics = Values.statistics;                  ///< see options
  static constexpr unsigned minimum_blocks_per_multiprocessor =
      Values.tuning.minimum_blocks_per_multiprocessor;  ///< see tuning
  static constexpr unsigned multiprocessors_per_server =
      Values.tuning.multiprocessors_per_server;  ///< see tuning
  static constexpr unsigned outbox_bytes_per_thread =
      Values.tuning.outbox_bytes_per_thread;                                ///< see tuning
  static constexpr unsigned channel_bytes = Values.tuning.channel_bytes;    ///< see tuning
  static constexpr unsigned forward_bytes = Values.tuning.forward_bytes;    ///< see tuning
  static constexpr bool combine_in_fused = Values.tuning.combine_in_fused;  ///< see tuning
  static constexpr std::size_t apply_bytes = Values.tuning.apply_bytes;     ///< see tuning
};

namespace detail {

/// True if a type is a policy. False for a type derived from one, because the compiler would accept
/// any member of it.
template <class Policy>
inline constexpr bool is_policy = false;
template <options Values, class... Parts>
inline constexpr bool is_policy<policy<Values, Parts...>> = true;

/// Refuses a type that is not a policy.
template <class Policy>
class policy_checks {
  static_assert(is_policy<Policy>,
                "warden: the policy of a guarded array is warden::policy<options, parts...>; "
                "another struct, or one derived from it, could have a misspelt member");
};

template <class Policy>
struct parts_of;
template <options Values, class... Parts>
struct parts_of<policy<Values, Parts...>> {
  using type = part_list<Parts...>;
};

template <options Values, class List>
struct policy_from;
template <options Values, class... Parts>
struct policy_from<Values, part_list<Parts...>> {
  // A copy: nvcc 13.0 loses the name of a class-type parameter that is passed on.
  using type = policy<options{Values}, Parts...>;
};

/// Returns the values with `Value` for `Member`, and so on.
template <auto Member, auto Value, auto... More>
constexpr options changed_options(options values) {
  if constexpr (requires { values.*Member; }) {
    values.*Member = Value;
  } else {
    values.tuning.*Member = Value;
  }
  if constexpr (sizeof...(More) == 0) {
    return values;
  } else {
    return changed_options<More...>(values);
  }
}

}  // namespace detail

/// The policy with other values. `Changes` are pairs of a pointer to a member of `options` or
/// `tuning`, and its value:
///     using counting = warden::with_values<on_chip, &warden::options::statistics, true>;
template <class Policy, auto... Changes>
using with_values =
    typename detail::policy_from<detail::changed_options<Changes...>(Policy::values),
                                 typename detail::parts_of<Policy>::type>::type;

/// The policy with these parts instead of its parts of the same kinds.
template <class Policy, class... Parts>
using with_parts = typename detail::policy_from<
    Policy::values,
    typename detail::replaced_parts<detail::part_list<>, typename detail::parts_of<Policy>::type,
                                    detail::part_list<Parts...>>::type>::type;

WARDEN_NAMESPACE_END
