// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks of a guarded array's policy, record and sections, each refusal with a sentence of its
/// own.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/policy.cuh>
#include <warden/section.cuh>

#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True for a function that returns nothing and takes its record by value.
template <class Record, class Member>
inline constexpr bool takes_value = false;
template <class Record, class Section, class... More>
inline constexpr bool takes_value<Record, void (Section::*)(Record, More...) const> = true;
template <class Record, class Section, class... More>
inline constexpr bool takes_value<Record, void (Section::*)(Record, More...) const noexcept> = true;
/// True if what a section changes is lost. An operator() that is overloaded or a template does not
/// tell.
template <class Section, class Record>
concept changes_a_copy = requires {
  requires takes_value<Record, decltype(&Section::operator())>;
};

/// Refuses what no guarded array can be made of. The first base of a guarded array, because the
/// compiler then reports these sentences before the errors that follow from the same mistake in
/// other bases.
template <class Policy, class Record, class... Sections>
class section_checks : policy_checks<Policy> {
  using executor = typename detail::chosen_executor<typename Policy::executor, Record,
                                                    typename Policy::context, Sections...>::type;
  static_assert(sizeof...(Sections) != 0,
                "warden: a guarded array needs at least one section type");
  static_assert(is_address_free<Record>,
                "warden: records are trivially copyable and hold no address of themselves");
  static_assert(std::is_trivially_copyable_v<typename Policy::context>,
                "warden: a context is trivially copyable");
  static_assert(!(changes_a_copy<Sections, Record> || ...),
                "warden: a section takes its record by reference, not by value: what it changes "
                "in a copy is lost");
  static_assert((fits_payload<Sections, typename Policy::context> && ...),
                "warden: a section's member function payload is called, const, as "
                "payload(context) or payload(), and returns a warden::row");
  static_assert(((!has_row<Sections> || takes_group<Sections>)&&...),
                "warden: a section with a payload says how many lanes load the row, by "
                "static constexpr unsigned group_size");
  static_assert((fits_record_copy<Sections, Record, typename Policy::context> && ...),
                "warden: a section that runs on a copy of its record has a payload, static copy "
                "load_record(record, ...) and static void store_record(record, copy, ...), which "
                "take the context, record_id and lane_group that operator() takes; only such a "
                "section has prepare(part, lane_group)");
  static_assert((fits_row_combine<Sections> && ...),
                "warden: a section with a payload combines its rows: static part combine(part, "
                "part) takes and returns the section's warden::row_part");
  static_assert(
      !((has_row<Sections> && pair_section_of<Sections, Record, typename Policy::context>) || ...),
      "warden: sections on two records have no payload: let their operator() load the "
      "row, by warden::row::load");
  static_assert(!(takes_two_and_ids<Sections, Record, typename Policy::context> || ...),
                "warden: sections on two records take no record_id: let the payload hold the ids "
                "that the section needs");
  static_assert(
      ((int{critical_section_of<Sections, Record, typename Policy::context>} +
            int{pair_section_of<Sections, Record, typename Policy::context>} +
            int{sending_section_of<Sections, Record, typename Policy::context>} ==
        1) &&
       ...),
      "warden: a section is trivially copyable and called, const, as section(record[, "
      "context][, record_id]), as section(first, second[, context]) or as section(record, "
      "context[, record_id], next), one of the three; a section with a group_size takes its group "
      "as last argument, one with a payload takes its row_part after the record, "
      "or after its copy of the record, and then what it prepared");
  static_assert(!((takes_two<Sections, Record> && takes_record<Sections, Record>) || ...),
                "warden: a section's operator() fits one record as well as two: let it have one "
                "form");
  static_assert(
      pairs_taken_by<executor> != pairs_of::none ||
          !(pair_section_of<Sections, Record, typename Policy::context> || ...),
      "warden: sections on two records need the executor pair_messages, or locks where both have "
      "one owner");
  static_assert(executor_sends_sections<executor> ||
                    !(sending_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections that send sections need the executor sorted or pair_messages");
  static_assert(executor_runs_groups<executor> || ((group_size_of<Sections> == 1) && ...) ||
                    (pair_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections that several lanes run need the executor sorted or locks");
  static_assert(!(sending_section_of<Sections, Record, typename Policy::context> || ...) ||
                    ((group_size_of<Sections> == 1) && ...),
                "warden: sections that several lanes run and sections that send sections need a "
                "guarded array each");
  static_assert(((fits_is_noop<Sections, Record, typename Policy::context> &&
                  fits_is_noop<partial_of<Sections>, Record, typename Policy::context>)&&...),
                "warden: a section's is_noop is called, const, as is_noop(record[, "
                "context]), of a record that is const, and returns bool");
  static_assert(!(declares_is_noop<Sections, Record, typename Policy::context> || ...) ||
                    !(pair_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections with is_noop and sections on two records need a "
                "guarded array each");
  static_assert(executor_runs_groups<executor> ||
                    !(declares_is_noop<Sections, Record, typename Policy::context> || ...),
                "warden: sections with is_noop need the executor sorted or locks");
  static_assert(owner_map<typename Policy::owner_map>,
                "warden: the Map of warden::owners<Map> does not satisfy the concept "
                "warden::owner_map");
  // True if this section does not compile unless it combines.
  template <class Section>
  static constexpr bool must_combine = Policy::combine_in_fused || demands_combining<Section>;
  static_assert(!(must_combine<Sections> || ...) || sizeof...(Sections) == 1,
                "warden: sections combine in a guarded array of one section type: let neither the "
                "section say combines = true nor the policy combine_in_fused");
  static_assert(((!must_combine<Sections> ||
                  (has_row<Sections>
                       ? combines_rows<Sections> && !Policy::combine_in_fused
                       : group_size_of<Sections> == 1 &&
                             critical_section_of<Sections, Record, typename Policy::context>)) &&
                 ...),
                "warden: sections that several lanes run, on two records, or that send sections do "
                "not combine: let neither the section say combines = true nor the policy "
                "combine_in_fused");
  // The formats have checks of their own.
  static_assert(sizeof(typename log_formats<
                       log_form_of<Policy, Record, Sections...>,
                       sent<Sections, Record, typename Policy::context>...>::message_type) != 0);
  static_assert(((!must_combine<Sections> || has_row<Sections> ||
                  !std::is_same_v<partial_of<Sections>, Sections> || combining<Sections>)&&...),
                "warden: the section has no member static Section combine(Section, Section)");
  static_assert(((!must_combine<Sections> || std::is_same_v<partial_of<Sections>, Sections> ||
                  combining<partial_of<Sections>>)&&...),
                "warden: the section's partial has no member static partial combine(partial, "
                "partial)");
  static constexpr bool combines =
      Policy::combine_in_fused || can_combine<Policy, Record, Sections...>;
  static_assert(!combines || ((payload_bytes<partial_of<Sections>> <= most_partial_bytes) && ...),
                "warden: a section's partial may take at most 64 bytes");
  static_assert(!combines || ((payload_bytes<partial_of<Sections>> <= most_logged_bytes ||
                               !(demands_combining<Sections> || has_combine_key<Sections>)) &&
                              ...),
                "warden: apply_async alone combines to a partial of more than 44 bytes: let the "
                "section have no combine_key() and not say combines = true");
  static_assert(!combines || (std::is_constructible_v<partial_of<Sections>, Sections> && ...),
                "warden: the section's partial cannot be made from a section");
  static_assert(!combines ||
                    (critical_section_of<partial_of<Sections>, Record, typename Policy::context> &&
                     ...),
                "warden: the section's partial is no section: it is trivially copyable and called, "
                "const, as partial(record[, context])");
  static_assert(!combines ||
                    ((has_combine_key<partial_of<Sections>> == has_combine_key<Sections>)&&...),
                "warden: a section and its partial must both have a combine_key(), or "
                "neither");
  static_assert(Policy::block_threads % simt::warp_size == 0 && Policy::block_threads >= 32 &&
                    Policy::block_threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
};

}  // namespace detail
WARDEN_NAMESPACE_END
