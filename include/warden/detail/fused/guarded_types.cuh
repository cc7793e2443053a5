// SPDX-License-Identifier: Apache-2.0
/// @file
/// Types and constants that follow from a guarded array's policy, record and sections: the format
/// of its messages, their channels, and the messages that its servers send.
#pragma once

#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/fused/answer_slots.cuh>
#include <warden/detail/fused/check_fused.cuh>
#include <warden/detail/fused/forward_rings.cuh>
#include <warden/detail/fused/wire_formats.cuh>
#include <warden/section.cuh>

#include <algorithm>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Empty type, for guarded arrays whose servers send nothing or set nothing aside.
struct nothing {};

/// An answer on its way from the section to the caller.
template <class Message>
struct pending_answer {
  return_address to{return_address::nowhere};  ///< nowhere: the section was sent, not called
  Message message{};                           ///< valid if the section was called

  /// Returns true if the section was called.
  WARDEN_DEVICE bool is_called() const { return to.bits != return_address::nowhere; }
};

}  // namespace detail

/// Types and constants of `guarded_ref` that need no guarded array at run time.
template <class Policy, class Record, class... Sections>
struct guarded_types {
  /// Policy of the guarded array.
  using policy = Policy;
  /// Type of one protected item.
  using record = Record;
  /// Context that every section receives in addition to its record.
  using context = typename Policy::context;
  /// The section type if there is only one, otherwise the first.
  using section = std::tuple_element_t<0, std::tuple<Sections...>>;
  /// Executor of the servers: the policy's, or the one that `automatic` chooses.
  using executor = typename detail::fused_executor<Policy, Record, Sections...>::type;
  /// False: in a fused launch sections run in any order.
  static constexpr bool in_order = false;
  /// True if any section is on two records.
  static constexpr bool has_pairs = (pair_section_of<Sections, Record, context> || ...);
  /// True if sections on two records may have two owners. The servers then send messages and set
  /// them aside, even if the guarded array has no such sections.
  static constexpr bool nests = pairs_taken_by<executor> == pairs_of::any_owners;
  /// Format of sections in messages.
  using format = detail::format_for<has_pairs && nests, Record, context, Sections...>;
  /// Message with room for the largest section and for all messages that servers send.
  using message_type = typename format::message_type;
  /// Format of clients' messages: the beginning of `format`.
  using client_format = detail::format_for<false, Record, context, Sections...>;
  /// Message with room for the largest section.
  using client_message = typename client_format::message_type;
  /// Channels of this guarded array.
  using channel = typename Policy::readiness::template channel<client_format::flits>;
  /// Rings between the servers.
  using ring = typename Policy::readiness::template channel<format::flits>;

  /// Format of answers.
  using answers = detail::answer_format<std::max({answer_bytes<Sections, Record, context>...})>;
  /// True if any section answers.
  static constexpr bool has_answers = answers::flits != 0;
  /// Slots in which answers arrive.
  using slots_of_answers =
      std::conditional_t<has_answers,
                         detail::answer_slots<answers::flits, Policy::calls_per_thread>, no_answer>;
  /// Answer that `apply` keeps until `reply`.
  using reply_type =
      std::conditional_t<has_answers, detail::pending_answer<typename answers::message_type>,
                         no_answer>;

  /// Maximum of messages that a server sends for one that it has received.
  static constexpr unsigned max_sends =
      std::max({nests ? 1u : 0u, sends_sections_of<Sections, Record, context>...});
  static_assert(!nests || max_sends == 1,
                "warden: with the executor pair_messages a section sends at most one section");
  /// True if servers send messages.
  static constexpr bool sends_sections = max_sends != 0;
  /// Rings and credits by which servers send messages.
  using rings_type =
      std::conditional_t<sends_sections, detail::forward_rings<ring>, detail::nothing>;

  /// True if every section can run as one atomic.
  static constexpr bool all_atomic = (has_atomic<Sections, Record, context> && ...);
  /// Maximum of the lanes that run a section together.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  /// True if any section has `is_noop`.
  static constexpr bool filters_noops = (detail::has_is_noop<Sections, Record, context> || ...);
  /// True if any section needs fences around its messages.
  static constexpr bool fences = (reads_other_memory<Sections>() || ...);
};

WARDEN_NAMESPACE_END
