// SPDX-License-Identifier: Apache-2.0
/// @file
/// What follows from a guarded array's policy, record and sections: how its messages are laid out,
/// where they go, and what its servers send.
#pragma once

#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/fused/answer_slots.cuh>
#include <warden/detail/fused/forward_rings.cuh>
#include <warden/detail/fused/wire_formats.cuh>
#include <warden/section.cuh>

#include <algorithm>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Nothing: for guarded arrays whose servers send nothing, or set nothing aside.
struct nothing {};

/// An answer on its way from the section to the caller.
template <class Message>
struct pending_answer {
  return_address to{return_address::nowhere};  ///< nowhere: the section was sent, not called
  Message message{};                           ///< if it goes anywhere

  /// True if the section was called.
  WARDEN_DEVICE bool is_called() const { return to.bits != return_address::nowhere; }
};

}  // namespace detail

/// The types and constants of `guarded_ref`, none of which needs a guarded array at run time.
template <class Policy, class Record, class... Sections>
struct guarded_types {
  /// What the guarded array was tuned by.
  using policy = Policy;
  /// The type of one protected item.
  using record = Record;
  /// What every section is handed beside its record.
  using context = typename Policy::context;
  /// The section, where a guarded array has one type alone; the first otherwise.
  using section = std::tuple_element_t<0, std::tuple<Sections...>>;
  /// How its servers run sections: the policy's executor, or the one that chooses for them.
  using executor = typename detail::chosen_executor<typename Policy::executor, Record, context,
                                                    Sections...>::type;
  /// Sections run in any order in a fused launch.
  static constexpr bool in_order = false;
  /// Whether any of the sections is on two records.
  static constexpr bool has_pairs = (pair_section_of<Sections, Record, context> || ...);
  /// Whether such sections may have two owners: its servers then send messages and set them aside,
  /// whether there are any or not.
  static constexpr bool nests = pairs_taken_by<executor> == pairs_of::any_owners;
  /// How sections are written into messages.
  using format = detail::format_for<has_pairs && nests, Record, context, Sections...>;
  /// A message with room for the largest section, and for all that servers send.
  using message_type = typename format::message_type;
  /// How clients write sections into theirs; the same as far as they go.
  using client_format = detail::format_for<false, Record, context, Sections...>;
  /// A message with room for the largest section.
  using client_message = typename client_format::message_type;
  /// The channels of this guarded array.
  using channel = typename Policy::readiness::template channel<client_format::flits>;
  /// The rings between its servers.
  using ring = typename Policy::readiness::template channel<format::flits>;

  /// How answers are written.
  using answers = detail::answer_format<std::max({answer_bytes<Sections, Record, context>...})>;
  /// Whether any of the sections answers.
  static constexpr bool has_answers = answers::flits != 0;
  /// Where answers arrive.
  using slots_of_answers =
      std::conditional_t<has_answers,
                         detail::answer_slots<answers::flits, Policy::calls_per_thread>, no_answer>;
  /// What `apply` leaves of a section's answer, until `reply`.
  using reply_type =
      std::conditional_t<has_answers, detail::pending_answer<typename answers::message_type>,
                         no_answer>;

  /// How many messages a server sends for one it has received, at most.
  static constexpr unsigned max_sends =
      std::max({nests ? 1u : 0u, sends_sections_of<Sections, Record, context>...});
  static_assert(!nests || max_sends == 1,
                "warden: with the executor pair_messages a section sends one other at most");
  /// Whether servers send messages.
  static constexpr bool sends_sections = max_sends != 0;
  /// How servers send messages.
  using forwards_type =
      std::conditional_t<sends_sections, detail::forward_rings<ring>, detail::nothing>;

  /// Whether all sections can be run as one atomic each.
  static constexpr bool all_atomic = (has_atomic<Sections, Record, context> && ...);
  /// Lanes that run a section together: the most of any.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  /// Whether any of the sections says when it would change nothing.
  static constexpr bool filters_noops = (detail::has_is_noop<Sections, Record, context> || ...);
  /// Whether any of the sections needs fences around its messages.
  static constexpr bool fences = (reads_other_memory<Sections>() || ...);
};

WARDEN_NAMESPACE_END
