// SPDX-License-Identifier: Apache-2.0
/// @file
/// Requirements on a critical section, which is a function object applied to a record, and the
/// traits that its type declares.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/row.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN

namespace detail {
/// True if the definition of `T` was included.
template <class T>
concept is_defined = requires {
  sizeof(T);
};
}  // namespace detail

/// The context of a guarded array whose sections need none.
struct no_context {};

/// Stands for answers of sections that answer nothing.
struct no_answer {};

/// True if objects of `T` may be copied as bytes to other threads and other memory: they are
/// trivially copyable and hold no address of themselves. Records and sections must be. Specialize
/// to false for a trivially copyable type that holds its own address.
template <class T>
inline constexpr bool is_address_free = std::is_trivially_copyable_v<T>;

/// True if an executor runs sections by groups of several lanes: its `static constexpr bool
/// runs_groups`, false by default.
template <class Executor>
inline constexpr bool executor_runs_groups = [] {
  if constexpr (requires { Executor::runs_groups; }) {
    return Executor::runs_groups;
  } else {
    return false;
  }
}();

/// True if this lane takes part in the section. `Most` lanes read the messages of all section
/// types; only the first lanes of the group run a section that takes fewer.
template <class Section, unsigned Most>
WARDEN_DEVICE bool takes_part() {
  if constexpr (group_size_of<Section> < Most) {
    return lane_group<Most>{}.lane() < group_size_of<Section>;  // mutation: fewer-lanes
  } else {
    return true;
  }
}

namespace detail {
/// True if a section can be called with these arguments, followed by its group if it takes one. A
/// section whose payload is a row takes the lane's part of it in addition.
template <class Section, class... Arguments>
concept called_with =
    (!takes_group<Section> && !has_row<Section> &&
     requires(Section const& section, Arguments... arguments) { section(arguments...); }) ||
    (takes_group<Section> && !has_row<Section> &&
     requires(Section const& section, Arguments... arguments,
              lane_group<group_size_of<Section>> const& group) { section(arguments..., group); }) ||
    (has_row<Section> &&
     requires(section_with_row<Section> const& section, Arguments... arguments,
              lane_group<group_size_of<Section>> const& group) { section(arguments..., group); });
template <class Section, class Record, class Context>
concept takes_context = called_with<Section, Record&, Context const&>;
template <class Section, class Record>
concept takes_record = called_with<Section, Record&>;
/// Stands for a section_client in the test whether a section takes one.
struct any_client {
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t, Section const&) {}
};
template <class Section, class Record, class Context>
concept takes_client = called_with<Section, Record&, Context, any_client&>;
template <class Section, class Record, class Context>
concept takes_id_and_client = called_with<Section, Record&, Context, any_record_id, any_client&>;
/// True if the section takes its record's id, and no context. The other forms come first, because
/// an operator() that is a template may fit several.
template <class Section, class Record, class Context>
concept takes_id = !takes_record<Section, Record> && !takes_context<Section, Record, Context> &&
                   called_with<Section, Record&, any_record_id>;
template <class Section, class Record, class Context>
concept takes_context_and_id =
    !takes_context<Section, Record, Context> && !takes_id<Section, Record, Context> &&
    !takes_client<Section, Record, Context> &&
    called_with<Section, Record&, Context const&, any_record_id>;
template <class Section, class Record, class Context>
concept takes_two_and_context = called_with<Section, Record&, Record&, Context>;
template <class Section, class Record>
concept takes_two = called_with<Section, Record&, Record&>;
/// True if a section on two records takes their ids, which is refused.
template <class Section, class Record, class Context>
concept takes_two_and_ids =
    !takes_two<Section, Record> && !takes_two_and_context<Section, Record, Context> &&
    (called_with<Section, Record&, Record&, any_record_id, any_record_id> ||
     called_with<Section, Record&, Record&, Context, any_record_id, any_record_id>);

/// True if two sections of a record take the same of context and record_id.
template <class A, class B, class Record, class Context>
inline constexpr bool are_called_alike =
    takes_record<A, Record> == takes_record<B, Record>&& takes_context<A, Record, Context> ==
    takes_context<B, Record, Context>&& takes_id<A, Record, Context> ==
    takes_id<B, Record, Context>&& takes_context_and_id<A, Record, Context> ==
    takes_context_and_id<B, Record, Context>;
/// True unless the section loads, stores or prepares with a wrong signature.
template <class Section, class Record, class Context>
inline constexpr bool fits_record_copy = [] {
  if constexpr (has_row<Section> && keeps_record<Section> && !stores_record<Section>) {
    return false;
  } else if constexpr (has_row<Section> && keeps_record<Section>) {
    return is_address_free<copy_of<Section>> && is_address_free<prepared_of<Section>> &&
           are_called_alike<copy_loader<Section>, Section, Record, Context> &&
           are_called_alike<copy_storer<Section>, Section, Record, Context> &&
           (prepares<Section> || !declares_prepare<Section>);
  } else {
    return !has_row<Section> || !declares_prepare<Section>;
  }
}();

/// Type that such a call returns.
template <class Section, class... Arguments>
struct returned {
  using type = decltype(std::declval<Section const&>()(std::declval<Arguments>()...));
};
template <has_row Section, class... Arguments>
struct returned<Section, Arguments...> : returned<section_with_row<Section>, Arguments...> {};
template <class Section, class... Arguments>
requires(takes_group<Section> && !has_row<Section>) struct returned<Section, Arguments...> {
  using type = decltype(std::declval<Section const&>()(
      std::declval<Arguments>()..., std::declval<lane_group<group_size_of<Section>> const&>()));
};
/// Calls a section, by all lanes of its group if it has one.
template <class Section, class... Arguments>
WARDEN_DEVICE typename returned<Section, Arguments&...>::type call(Section const& section,
                                                                   Arguments&... arguments) {
  if constexpr (takes_group<Section>) {
    return section(arguments..., lane_group<group_size_of<Section>>{});
  } else {
    return section(arguments...);
  }
}

/// Fails to compile unless one thread can run the section alone.
template <class Section>
WARDEN_HOST_DEVICE constexpr void check_runs_alone() {
  static_assert(group_size_of<Section> == 1,
                "warden: one thread runs this section, but its group_size is more than 1: use "
                "the executor sorted or locks");
}
}  // namespace detail

/// A section is called as `section(record, context)`, or as `section(record)`, const, on the
/// device. It may take its record's id, a record_id, as an additional last argument. A section that
/// several lanes run gets their lane_group after it, here and in the concepts below.
template <class Section, class Record, class Context>
concept critical_section_of = is_address_free<Section> &&
    (detail::takes_context<Section, Record, Context> || detail::takes_record<Section, Record> ||
     detail::takes_id<Section, Record, Context> ||
     detail::takes_context_and_id<Section, Record, Context>);

/// A section on two records is called as `section(first, second, context)`, or as `section(first,
/// second)`, const, with the records in the order in which the sender named them. Both may be the
/// same record.
template <class Section, class Record, class Context>
concept pair_section_of =
    is_address_free<Section> && !critical_section_of<Section, Record, Context> &&
    (detail::takes_two_and_context<Section, Record, Context> || detail::takes_two<Section, Record>);

/// A section that sends other sections is called as `section(record, context, next)`, or as
/// `section(record, context, id, next)`, const. `next` is a section_client, whose type is a
/// template parameter of the section's call operator.
template <class Section, class Record, class Context>
concept sending_section_of = is_address_free<Section> && !takes_group<Section> &&
                             !pair_section_of<Section, Record, Context> &&
                             (detail::takes_client<Section, Record, Context> ||
                              detail::takes_id_and_client<Section, Record, Context>);

/// Largest number of sections that a section sends: 0 if it sends none, otherwise its `static
/// constexpr unsigned sends_sections`, 1 by default. Sections that send one section each can
/// continue for ever without filling a queue.
template <class Section, class Record, class Context>
inline constexpr unsigned sends_sections_of = [] {
  if constexpr (!sending_section_of<Section, Record, Context>) {
    return 0u;
  } else if constexpr (requires { Section::sends_sections; }) {
    return unsigned{Section::sends_sections};
  } else {
    return 1u;
  }
}();

/// Sections on two records that an executor runs.
enum class pairs_of : unsigned char {
  none,        ///< none
  one_owner,   ///< those whose records have one owner
  any_owners,  ///< all
};
/// The executor's `static constexpr pairs_of pairs`, pairs_of::none by default.
template <class Executor>
inline constexpr pairs_of pairs_taken_by = [] {
  if constexpr (requires { Executor::pairs; }) {
    return Executor::pairs;
  } else {
    return pairs_of::none;
  }
}();

namespace detail {
/// Executor of sections on two records if the policy names none: a log runs them in rounds, and no
/// fused launch does.
struct pairs_in_rounds {
  /// Any two records.
  static constexpr pairs_of pairs = pairs_of::any_owners;
};

template <class Executor, class Record, class Context, class... Sections>
struct chosen_executor {
  using type = Executor;
};
template <class Executor, class Record, class Context, class... Sections>
requires requires { typename Executor::template chosen<Record, Context, Sections...>; }
struct chosen_executor<Executor, Record, Context, Sections...> {
  using type = typename Executor::template chosen<Record, Context, Sections...>;
};
}  // namespace detail

/// True if an executor runs sections that send sections: its `static constexpr bool
/// sends_sections`, false by default.
template <class Executor>
inline constexpr bool executor_sends_sections = [] {
  if constexpr (requires { Executor::sends_sections; }) {
    return Executor::sends_sections;
  } else {
    return false;
  }
}();

namespace detail {
template <class Section, class Record, class Context>
struct answer_type : returned<Section, Record&> {};
template <class Section, class Record, class Context>
requires takes_context<Section, Record, Context>
struct answer_type<Section, Record, Context> : returned<Section, Record&, Context const&> {
};
template <class Section, class Record, class Context>
requires takes_id<Section, Record, Context>
struct answer_type<Section, Record, Context> : returned<Section, Record&, record_id const&> {
};
template <class Section, class Record, class Context>
requires takes_context_and_id<Section, Record, Context>
struct answer_type<Section, Record, Context>
    : returned<Section, Record&, Context const&, record_id const&> {
};
template <class Section, class Record, class Context>
requires sending_section_of<Section, Record, Context>
struct answer_type<Section, Record, Context> : returned<Section, Record&, Context, any_client&> {
};
template <class Section, class Record, class Context>
requires(sending_section_of<Section, Record, Context>&& takes_id_and_client<
         Section, Record, Context>) struct answer_type<Section, Record, Context>
    : returned<Section, Record&, Context, record_id const&, any_client&> {
};
template <class Section, class Record, class Context>
struct pair_answer_type : returned<Section, Record&, Record&> {};
template <class Section, class Record, class Context>
requires takes_two_and_context<Section, Record, Context>
struct pair_answer_type<Section, Record, Context>
    : returned<Section, Record&, Record&, Context const&> {
};
template <class Section, class Record, class Context>
requires pair_section_of<Section, Record, Context>
struct answer_type<Section, Record, Context> : pair_answer_type<Section, Record, Context> {
};
}  // namespace detail

namespace detail {
/// True if the section takes the id of its record.
template <class Section, class Record, class Context>
inline constexpr bool takes_own_id =
    takes_id<Section, Record, Context> || takes_context_and_id<Section, Record, Context> ||
    takes_id_and_client<Section, Record, Context>;

/// Calls a section on one record, with the context and the id if it takes them, by all lanes of its
/// group if it has several. `id` converts to a record_id. The return type is spelled out because
/// the host compiler does not see the body of a device function.
template <class Section, class Record, class Context, class Id>
WARDEN_DEVICE typename answer_type<Section, Record, Context>::type run_with_id(
    Section const& section, Record& record, Context const& context, Id const& id) {
  if constexpr (has_row<Section>) {
    return run_with_id(with_row(section, context), record, context, id);
  } else if constexpr (takes_context<Section, Record, Context>) {
    return call(section, record, context);
  } else if constexpr (takes_record<Section, Record>) {
    return call(section, record);
  } else {
    static_assert(std::is_convertible_v<Id const&, record_id>,
                  "warden: the section takes its record's id, which is not known here");
    record_id const own = id;
    if constexpr (takes_id<Section, Record, Context>) {
      return call(section, record, own);
    } else {
      return call(section, record, context, own);
    }
  }
}
}  // namespace detail

/// Calls a section on one record, with the context if it takes one, by all lanes of its group if it
/// has several.
template <class Section, class Record, class Context>
WARDEN_DEVICE typename detail::answer_type<Section, Record, Context>::type run_section_together(
    Section const& section, Record& record, Context const& context) {
  return detail::run_with_id(section, record, context, detail::unknown_record_id{});
}
/// Calls a section on two records, with the context if it takes one, by all lanes of its group if
/// it has several.
template <class Section, class Record, class Context>
WARDEN_DEVICE typename detail::pair_answer_type<Section, Record, Context>::type
run_section_together(Section const& section, Record& first, Record& second,
                     Context const& context) {
  if constexpr (detail::takes_two_and_context<Section, Record, Context>) {
    return detail::call(section, first, second, context);
  } else {
    return detail::call(section, first, second);
  }
}
/// Calls a section on one record. Precondition: one thread runs it.
template <class Section, class Record, class Context>
WARDEN_DEVICE typename detail::answer_type<Section, Record, Context>::type run_section(
    Section const& section, Record& record, Context const& context) {
  detail::check_runs_alone<Section>();
  return run_section_together(section, record, context);
}
/// Calls a section on two records. Precondition: one thread runs it.
template <class Section, class Record, class Context>
WARDEN_DEVICE typename detail::pair_answer_type<Section, Record, Context>::type run_section(
    Section const& section, Record& first, Record& second, Context const& context) {
  detail::check_runs_alone<Section>();
  return run_section_together(section, first, second, context);
}

/// Type that the section answers its caller: its return type, void if it answers nothing.
template <class Section, class Record, class Context>
using answer_of = std::remove_cvref_t<typename detail::answer_type<Section, Record, Context>::type>;
/// Size of the answer, 0 for void. Units: bytes.
template <class Section, class Record, class Context>
inline constexpr std::size_t answer_bytes = [] {
  using value = answer_of<Section, Record, Context>;
  if constexpr (std::is_void_v<value>) {
    return std::size_t{0};
  } else {
    static_assert(is_address_free<value>,
                  "warden: what a section returns is trivially copyable and holds no address of "
                  "itself");
    return sizeof(value);
  }
}();

/// True if the section can be run as one atomic: `section.atomic(Record*, Context)`, const.
template <class Section, class Record, class Context>
concept has_atomic = requires(Section const& section, Record* record, Context context) {
  section.atomic(record, context);
};

/// True if the writes of a thread before `send` must be visible to the section. This is the
/// default. A section type that says `static constexpr bool reads_other_memory = false;` touches
/// only its record, its payload and read-only context, and no fence is paid for it. With the
/// executors `sorted` and `locks` it may also touch memory that is reached through its record
/// alone, because one block runs all sections of a record.
template <class Section>
WARDEN_HOST_DEVICE constexpr bool reads_other_memory() {
  if constexpr (requires { Section::reads_other_memory; }) {
    return Section::reads_other_memory;
  } else {
    return true;
  }
}

/// Size of the section in a message, 0 for a section without data members. Units: bytes.
template <class Section>
inline constexpr std::size_t payload_bytes = std::is_empty_v<Section> ? 0 : sizeof(Section);

WARDEN_NAMESPACE_END
