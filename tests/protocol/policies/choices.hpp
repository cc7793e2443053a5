// SPDX-License-Identifier: Apache-2.0
// The policies of the random programs on logs: which are instantiated, and that they have each pair
// of values of two choices.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

namespace policies {

enum class executor : unsigned {
  sorted,
  locks,
  atomics,
  pair_messages
};  ///< pair_messages: on two records
enum class order : unsigned { unordered, sequential };
enum class combining : unsigned { none, like, partial };  ///< to a section of its type, or another
enum class payload : unsigned { empty, word, wide, group };  ///< group: a word, run by 8 lanes
enum class records : unsigned { words_in_memory, words_on_chip, rows_in_memory, rows_on_chip };

/// One value of one choice.
struct value {
  unsigned choice, number;

  constexpr value(unsigned of, unsigned n) : choice{of}, number{n} {}
  constexpr value(executor v) : value{0, static_cast<unsigned>(v)} {}
  constexpr value(order v) : value{1, static_cast<unsigned>(v)} {}
  constexpr value(combining v) : value{2, static_cast<unsigned>(v)} {}
  constexpr value(payload v) : value{3, static_cast<unsigned>(v)} {}
  constexpr value(records v) : value{4, static_cast<unsigned>(v)} {}
  friend constexpr bool operator==(value, value) = default;
};
/// Values of each choice.
inline constexpr unsigned values_of[] = {4, 2, 3, 4, 4};

struct policy_choices {
  policies::executor executor;
  policies::order order;
  policies::combining combining;
  policies::payload payload;
  policies::records records;

  [[nodiscard]] constexpr bool has(value v) const {
    for (value const own :
         {value{executor}, value{order}, value{combining}, value{payload}, value{records}}) {
      if (own == v) return true;
    }
    return false;
  }
  [[nodiscard]] constexpr bool on_chip() const {
    return records == records::words_on_chip || records == records::rows_on_chip;
  }
  [[nodiscard]] constexpr bool has_rows() const {
    return records == records::rows_in_memory || records == records::rows_on_chip;
  }
};

/// Pairs that do not compile; tests/refused has the messages.
inline constexpr std::pair<value, value> excluded[] = {
    // order::sequential needs the executor sorted, and sections on one record.
    {order::sequential, executor::locks},
    {order::sequential, executor::atomics},
    {order::sequential, executor::pair_messages},
    // order::sequential runs each section by itself.
    {order::sequential, combining::like},
    {order::sequential, combining::partial},
    // Sections on two records are not combined.
    {executor::pair_messages, combining::like},
    {executor::pair_messages, combining::partial},
    // Sections that several lanes run need sorted or locks, or two records, and are not combined.
    {payload::group, executor::atomics},
    {payload::group, combining::like},
    {payload::group, combining::partial},
    // A section without data members cannot say for how many sections it stands.
    {payload::empty, combining::like},
};

inline constexpr policy_choices list[] = {
    {executor::sorted, order::unordered, combining::none, payload::word, records::words_in_memory},
    {executor::sorted, order::unordered, combining::none, payload::wide, records::rows_on_chip},
    {executor::sorted, order::unordered, combining::none, payload::group, records::words_on_chip},
    {executor::sorted, order::unordered, combining::like, payload::word, records::rows_in_memory},
    {executor::sorted, order::unordered, combining::partial, payload::empty, records::rows_on_chip},
    {executor::sorted, order::sequential, combining::none, payload::empty, records::rows_on_chip},
    {executor::sorted, order::sequential, combining::none, payload::word, records::words_in_memory},
    {executor::sorted, order::sequential, combining::none, payload::wide, records::words_on_chip},
    {executor::sorted, order::sequential, combining::none, payload::group,
     records::words_in_memory},
    {executor::sorted, order::sequential, combining::none, payload::group, records::rows_in_memory},
    {executor::locks, order::unordered, combining::none, payload::empty, records::rows_in_memory},
    {executor::locks, order::unordered, combining::none, payload::wide, records::words_in_memory},
    {executor::locks, order::unordered, combining::none, payload::group, records::rows_on_chip},
    {executor::locks, order::unordered, combining::like, payload::word, records::words_on_chip},
    {executor::locks, order::unordered, combining::partial, payload::wide,
     records::words_in_memory},
    {executor::atomics, order::unordered, combining::none, payload::empty, records::words_on_chip},
    {executor::atomics, order::unordered, combining::none, payload::word, records::rows_in_memory},
    {executor::atomics, order::unordered, combining::like, payload::wide, records::words_in_memory},
    {executor::atomics, order::unordered, combining::like, payload::wide, records::rows_on_chip},
    {executor::atomics, order::unordered, combining::partial, payload::word,
     records::words_on_chip},
    {executor::atomics, order::unordered, combining::partial, payload::wide,
     records::rows_in_memory},
    {executor::pair_messages, order::unordered, combining::none, payload::empty,
     records::words_in_memory},
    {executor::pair_messages, order::unordered, combining::none, payload::word,
     records::rows_on_chip},
    {executor::pair_messages, order::unordered, combining::none, payload::wide,
     records::rows_in_memory},
    {executor::pair_messages, order::unordered, combining::none, payload::group,
     records::words_on_chip},
};
inline constexpr std::size_t count = std::size(list);
static_assert(count >= 24);

constexpr bool is_listed(value a, value b) {
  for (policy_choices const& p : list) {
    if (p.has(a) && p.has(b)) return true;
  }
  return false;
}
constexpr bool is_excluded(value a, value b) {
  for (auto const& [first, second] : excluded) {
    if ((first == a && second == b) || (first == b && second == a)) return true;
  }
  return false;
}
/// True if each pair of values of two choices is either in the list or excluded.
constexpr bool has_all_pairs() {
  for (unsigned i = 0; i < std::size(values_of); ++i) {
    for (unsigned j = 0; j < i; ++j) {
      for (unsigned a = 0; a < values_of[i]; ++a) {
        for (unsigned b = 0; b < values_of[j]; ++b) {
          if (is_listed({i, a}, {j, b}) == is_excluded({i, a}, {j, b})) return false;
        }
      }
    }
  }
  return true;
}
static_assert(has_all_pairs());

}  // namespace policies
