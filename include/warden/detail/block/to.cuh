// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections with their records, as functions that send many sections return them.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// A section and the `Records` records that it is sent to:
///
///     warden::to{id, deposit{10}}              // a section on one record
///     warden::to{first, second, transfer{10}}  // a section on two records
///
/// Ids have any integer type. A negative id is reported as an id outside the records.
template <class Section, unsigned Records = 1>
struct to {
  std::uint64_t id;  ///< number of the record
  Section section;   ///< section to send

  /// Names the record `record` for `sent`.
  template <std::integral Id>
  WARDEN_HOST_DEVICE constexpr to(Id record, Section const& sent)
      : id{static_cast<std::uint64_t>(record)}, section{sent} {}
};
/// A section on two records, which may be the same.
template <class Section>
struct to<Section, 2> {
  std::uint64_t id;      ///< number of the first record
  std::uint64_t second;  ///< number of the second record
  Section section;       ///< section to send

  /// Names the records `first` and `other` for `sent`.
  template <std::integral Id, std::integral Other>
  WARDEN_HOST_DEVICE constexpr to(Id first, Other other, Section const& sent)
      : id{static_cast<std::uint64_t>(first)},
        second{static_cast<std::uint64_t>(other)},
        section{sent} {}
};
/// Deduces a section on one record.
template <class Id, class Section>
to(Id, Section) -> to<Section>;
/// Deduces a section on two records.
template <class Id, class Other, class Section>
to(Id, Other, Section) -> to<Section, 2>;

/// A value of type `T`, a section or a `warden::to`, or nothing. The return type of a function that
/// sends nothing for some numbers; `return {};` then sends nothing.
template <class T>
class nothing_or {
  static_assert(std::is_trivially_copyable_v<T>,
                "warden: nothing_or holds a section or a warden::to, which are trivially copyable");

 public:
  /// Holds nothing.
  WARDEN_HOST_DEVICE constexpr nothing_or() : nothing_{}, has_value_{false} {}
  /// Holds `value`.
  WARDEN_HOST_DEVICE constexpr nothing_or(T const& value) : value_{value}, has_value_{true} {}
  /// True if it holds a value.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr bool has_value() const { return has_value_; }
  /// Returns the value. Precondition: there is one.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr T const& value() const { return value_; }

 private:
  // A section need not have a default constructor.
  union {
    T value_;
    char nothing_;
  };
  bool has_value_;
};

namespace detail {

/// Base of functions of the library that return sections without records. When a section is sent,
/// `named(i, section)` returns it with its records, or nothing, so threads load several sections
/// before. `count()` returns the number of sections, if only the device knows it.
struct naming_function {};
/// True for such functions.
template <class Function>
concept names_later = std::is_base_of_v<naming_function, Function>;

/// Describes what a function that sends sections returns.
template <class T>
struct send_traits {
  using section = T;                            ///< type of the section
  static constexpr bool names_records = false;  ///< true if the value says to which records
};
template <class Section, unsigned Records>
struct send_traits<to<Section, Records>> {
  using section = Section;
  static constexpr bool names_records = true;
};
template <class T>
struct send_traits<nothing_or<T>> : send_traits<T> {};

/// Bytes that a thread loads for a returned value: the section, and one or two record ids, unless
/// the section names its records itself.
template <class T>
inline constexpr std::size_t loaded_bytes = sizeof(typename send_traits<T>::section) +
                                            (send_traits<T>::names_records ? 8 : 0);

/// Calls `send(id, section, valid)`, or `send(first, second, section, valid)`, for a returned
/// value. If not `valid` there is none, but `send` is called in any case, because it is collective.
template <class Section, class Send>
WARDEN_DEVICE void send_returned(to<Section> const& sent, bool valid, Send const& send) {
  send(sent.id, sent.section, valid);
}
template <class Section, class Send>
WARDEN_DEVICE void send_returned(to<Section, 2> const& sent, bool valid, Send const& send) {
  send(sent.id, sent.second, sent.section, valid);
}
template <class T, class Send>
WARDEN_DEVICE void send_returned(nothing_or<T> const& sent, bool valid, Send const& send) {
  send_returned(sent.value(), valid && sent.has_value(), send);
}

/// Refuses all other values.
template <class T, class Send>
WARDEN_DEVICE void send_returned(T const&, bool, Send const&) {
  static_assert(send_traits<T>::names_records,
                "warden: the function of send_async and for_each returns warden::to{id, section} "
                "or warden::nothing_or<warden::to<Section>>");
}

/// Function of `apply_async`: gets a section from `function`, and the ids of its `Records` records
/// from arrays.
template <unsigned Records, class Function>
struct to_ids {
  std::uint32_t const* ids[Records];
  Function function;

  WARDEN_DEVICE auto operator()(std::uint64_t i) const {
    // Ids are loaded in any case, so that their loads need not wait for the section.
    if constexpr (Records == 1) {
      return with_ids(function(i), ids[0][i]);
    } else {
      return with_ids(function(i), ids[0][i], ids[1][i]);
    }
  }

 private:
  template <class T, class... Ids>
  WARDEN_DEVICE static auto with_ids(T const& section, Ids... of) {
    static_assert(!send_traits<T>::names_records,
                  "warden: the function of apply_async returns a section or "
                  "warden::nothing_or<Section>, because the arrays of ids name the records");
    return to{of..., section};
  }
  template <class T, class... Ids>
  WARDEN_DEVICE static auto with_ids(nothing_or<T> const& section, Ids... of) {
    using result = nothing_or<decltype(with_ids(section.value(), of...))>;
    return section.has_value() ? result{with_ids(section.value(), of...)} : result{};
  }
};
/// Function that reads the sections of an array.
template <class Section>
struct stored_sections {
  Section const* sections;
  WARDEN_DEVICE Section operator()(std::uint64_t i) const { return sections[i]; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
