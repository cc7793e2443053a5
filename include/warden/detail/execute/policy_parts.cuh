// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kinds of a policy's parts, and the search for a part of one kind.
#pragma once

#include <warden/simt/annotations.cuh>

#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Kinds of a policy's parts. A part has a member `kind`.
enum class part_kind : unsigned char {
  none,
  context,
  executor,
  order,
  owners,
  rank_owners,
  readiness,
  sender,
};

/// Kind of a part, `none` if the type is no part.
template <class Part>
inline constexpr part_kind kind_of = part_kind::none;
template <class Part>
requires std::is_same_v<decltype(Part::kind), part_kind const>
inline constexpr part_kind kind_of<Part> = Part::kind;

/// Number of parts of a kind.
template <part_kind Kind, class... Parts>
inline constexpr int parts_of_kind = (0 + ... + int{kind_of<Parts> == Kind});

template <part_kind Kind, class Default, class... Parts>
struct part_search {
  using type = Default;
};
template <part_kind Kind, class Default, class First, class... Rest>
struct part_search<Kind, Default, First, Rest...>
    : std::conditional_t<kind_of<First> == Kind, std::type_identity<First>,
                         part_search<Kind, Default, Rest...>> {};
/// The first of `Parts` that is of the kind of `Default`; `Default` if there is none.
template <class Default, class... Parts>
using part_of_kind = typename part_search<Default::kind, Default, Parts...>::type;

template <class... Parts>
struct part_list {};

/// Appends the parts of the second list to the first one unless the third list has a part of their
/// kind, and then those of the third.
template <class Kept, class Old, class New>
struct replaced_parts;
template <class... Kept, class First, class... Rest, class... New>
struct replaced_parts<part_list<Kept...>, part_list<First, Rest...>, part_list<New...>>
    : replaced_parts<std::conditional_t<parts_of_kind<kind_of<First>, New...> == 0,
                                        part_list<Kept..., First>, part_list<Kept...>>,
                     part_list<Rest...>, part_list<New...>> {};
template <class... Kept, class... New>
struct replaced_parts<part_list<Kept...>, part_list<>, part_list<New...>> {
  using type = part_list<Kept..., New...>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
