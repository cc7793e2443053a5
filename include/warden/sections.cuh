// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ready-made sections that combine: add to a record, or sum, count, and take the minimum and
/// maximum in members of a record.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// `N` numbers, as a record or as a value. It is aligned to the largest power of two of bytes, up
/// to 16, that divides its size, so lanes move as many elements at once.
template <class T, unsigned N>
struct alignas(std::max(alignof(T),
                        std::min<std::size_t>(16, N * sizeof(T) & -(N * sizeof(T))))) elements {
  static_assert(N != 0, "warden: elements has at least one element");

  T values[N];  ///< the elements

  /// Returns element `k`, below N.
  WARDEN_HOST_DEVICE constexpr T& operator[](unsigned k) { return values[k]; }
  /// Returns element `k`, below N.
  WARDEN_HOST_DEVICE constexpr T const& operator[](unsigned k) const { return values[k]; }
  /// Adds each element of `other` to the element with its number.
  WARDEN_HOST_DEVICE constexpr elements& operator+=(elements const& other) {
    for (unsigned k = 0; k < N; ++k) values[k] += other.values[k];
    return *this;
  }
};

/// Section that adds a `T`, a number or an `elements`, to a record of type `T`. It combines. Made
/// from a value: `b.apply_async(ids, values)`. A `T` has at most 44 bytes, unless it is an
/// `elements`.
template <class T>
struct add {
  static_assert(sizeof(T) <= detail::most_logged_bytes,
                "warden: warden::add takes at most 44 bytes, or warden::elements");
  static constexpr bool reads_other_memory = false;  ///< see warden::reads_other_memory

  T value;  ///< number to add

  /// Returns a section with the effect of both.
  WARDEN_DEVICE static add combine(add a, add const& b) {
    a.value += b.value;
    return a;
  }
  /// Adds to the record.
  WARDEN_DEVICE void operator()(T& record) const { record += value; }
};

/// Section that adds more elements than a message holds. Each lane of a group holds a part. Made by
/// `apply_async(ids, values)` of a guarded array with order::deterministic. At most 32 parts of 44
/// bytes.
template <class T, unsigned N>
requires(sizeof(elements<T, N>) > detail::most_logged_bytes) class add<elements<T, N>> {
  /// Lanes that hold 16 bytes or less each.
  static constexpr unsigned lanes = [] {
    unsigned n = 2;
    while (n < 32 && N * sizeof(T) > 16 * n) n *= 2;
    return n;
  }();
  static_assert(N % lanes == 0,
                "warden: the elements that a group adds divide evenly among its lanes: 16 bytes or "
                "less for each of up to 32 lanes");
  using part = elements<T, N / lanes>;
  static_assert(sizeof(part) <= detail::most_logged_bytes,
                "warden: warden::add takes elements of at most 32 parts of 44 bytes");

 public:
  static constexpr unsigned group_size = lanes;      ///< lanes of the group
  static constexpr bool reads_other_memory = false;  ///< see warden::reads_other_memory

  /// Returns the part of `values[i]` that belongs to the lane.
  WARDEN_DEVICE static add part_of(elements<T, N> const* values, std::uint64_t i,
                                   lane_group<lanes> const& group) {
    return add{reinterpret_cast<part const*>(values)[i * lanes + group.lane()]};
  }
  /// Returns a section with the effect of both.
  WARDEN_DEVICE static add combine(add a, add const& b) {
    a.part_ += b.part_;
    return a;
  }
  /// Adds the lane's part to its elements of the record.
  WARDEN_DEVICE void operator()(elements<T, N>& record, lane_group<lanes> const& group) const {
    for (unsigned k = 0; k < N / lanes; ++k) record[group.lane() * (N / lanes) + k] += part_[k];
  }

 private:
  WARDEN_DEVICE explicit add(part const& values) : part_{values} {}

  part part_;
};

namespace detail {

template <class Member>
struct member_traits;
template <class Record, class T>
struct member_traits<T Record::*> {
  using record = Record;
  using type = T;
};
template <auto Member>
using record_with = typename member_traits<decltype(Member)>::record;
template <auto Member>
using type_of = typename member_traits<decltype(Member)>::type;

/// Holds a `T` in a partial, aligned to 8 bytes at most, so that partials have little padding.
template <class T>
class packed {
 public:
  WARDEN_DEVICE packed(T const& value) : words_{__builtin_bit_cast(words, value)} {}
  WARDEN_DEVICE operator T() const { return __builtin_bit_cast(T, words_); }

 private:
  struct words {
    std::uint64_t at[sizeof(T) / 8];
  };
  words words_;
};
template <class T>
requires(alignof(T) <= 8) class packed<T> {
 public:
  WARDEN_DEVICE packed(T const& value) : value_{value} {}
  WARDEN_DEVICE operator T() const { return value_; }

 private:
  T value_;
};

__extension__ using int128 = __int128;
__extension__ using unsigned_int128 = unsigned __int128;
/// True for integers: a sum of values is the sum of their bits.
template <class T>
inline constexpr bool is_integer = (std::is_integral_v<T> && !std::is_same_v<T, bool>) ||
                                   std::is_same_v<T, int128> || std::is_same_v<T, unsigned_int128>;
/// Number of words of 32 bits that hold a T.
template <class T>
inline constexpr unsigned words_of = (sizeof(T) + 3) / 4;

/// Writes the words of a number, the lowest one first, and advances `to` beyond them.
template <class T>
WARDEN_DEVICE void write_words(std::uint32_t*& to, T const& number) {
  WARDEN_UNROLL
  for (unsigned w = 0; w < words_of<T>; ++w)
    *to++ = static_cast<std::uint32_t>(number >> (w == 0 ? 0 : 32 * w));
}
/// Returns the number whose words begin at `from`, and advances `from` beyond them.
template <class T>
WARDEN_DEVICE T read_words(std::uint32_t const*& from) {
  unsigned_int128 bits = 0;
  WARDEN_UNROLL
  for (unsigned w = 0; w < words_of<T>; ++w) bits |= unsigned_int128{*from++} << 32 * w;
  return static_cast<T>(bits);
}

/// Member `To` of a record, and what a value, or its member `From`, gives it.
template <auto To, auto From>
struct field {
  using record = record_with<To>;     ///< type of the record
  using type = type_of<To>;           ///< type of the member
  static constexpr auto member = To;  ///< the member
  /// True if the field adds integers, so blocks may add the bits of values.
  static constexpr bool adds_words = false;

  /// Returns what a value gives.
  template <class Value>
  WARDEN_DEVICE static type of(Value const& value) {
    if constexpr (std::is_null_pointer_v<decltype(From)>) {
      return static_cast<type>(value);
    } else {
      return static_cast<type>(value.*From);
    }
  }
};

}  // namespace detail

/// Field of an `aggregate`: adds each value, or the value's member `From`, to the member `To` of
/// the record.
template <auto To, auto From = nullptr>
struct sum : detail::field<To, From> {
  using type = detail::type_of<To>;  ///< type of the member
  /// True if atomics may add the words of values.
  static constexpr bool adds_words = detail::is_integer<type>;
  /// Returns the sum.
  WARDEN_DEVICE static type combine(type a, type b) { return static_cast<type>(a + b); }
};
/// Field of an `aggregate`: adds the number of values to the member `To` of the record.
template <auto To>
struct count : sum<To> {
  /// Returns 1.
  template <class Value>
  WARDEN_DEVICE static detail::type_of<To> of(Value const&) {
    return 1;
  }
};
/// Field of an `aggregate`: keeps the smallest value, or member `From` of a value, in the member
/// `To` of the record. Precondition: the member begins with a value that counts, for example the
/// largest one of its type. NaN counts as no value, also in the record.
template <auto To, auto From = nullptr>
struct minimum : detail::field<To, From> {
  using type = detail::type_of<To>;  ///< type of the member
  /// Returns the smaller value.
  WARDEN_DEVICE static type combine(type a, type b) { return b < a || a != a ? b : a; }
};
/// Field of an `aggregate`: keeps the largest value, as `minimum` keeps the smallest.
template <auto To, auto From = nullptr>
struct maximum : detail::field<To, From> {
  using type = detail::type_of<To>;  ///< type of the member
  /// Returns the larger value.
  WARDEN_DEVICE static type combine(type a, type b) { return a < b || a != a ? b : a; }
};

namespace detail {

/// One field of a partial.
template <class Field>
struct field_cell {
  packed<typename Field::type> value;
};

/// Several values of an aggregate.
template <class Value, class... Fields>
struct aggregate_partial;

}  // namespace detail

/// Section that updates several members of its record by one value. It combines. The fields are
/// `sum`, `count`, `minimum` and `maximum`, each for another member of one record type:
///
///     struct total { long long price; unsigned orders; };
///     using by_customer = warden::guarded<total,
///         warden::aggregate<int, warden::sum<&total::price>, warden::count<&total::orders>>>;
///     by_customer all{totals};
///     all.apply_async(ids, prices);  // ranges in device memory
///
/// If a value is a struct, a field names the member that it reads: `sum<&total::price,
/// &order::price>`. A value has at most 44 bytes, and the members of the record together at most
/// 64.
template <class Value, class Field, class... Fields>
struct aggregate {
  using record = typename Field::record;  ///< type of the record
  static_assert((std::is_same_v<record, typename Fields::record> && ...),
                "warden: the fields of an aggregate are members of one record type");
  static constexpr bool reads_other_memory = false;  ///< see warden::reads_other_memory
  /// Section that several aggregates combine to.
  using partial = detail::aggregate_partial<Value, Field, Fields...>;

  Value value;  ///< value that the fields read

  /// Updates the record.
  WARDEN_DEVICE void operator()(record& r) const { partial{*this}(r); }
};

namespace detail {

template <class Value, class... Fields>
struct aggregate_partial : field_cell<Fields>... {
  using record = typename aggregate<Value, Fields...>::record;
  static constexpr bool reads_other_memory = false;

  WARDEN_DEVICE explicit aggregate_partial(aggregate<Value, Fields...> const& section)
      : field_cell<Fields>{Fields::of(section.value)}... {}
  WARDEN_DEVICE static aggregate_partial combine(aggregate_partial a, aggregate_partial const& b) {
    (add<Fields>(a, b), ...);
    return a;
  }
  WARDEN_DEVICE void operator()(record& r) const { (update<Fields>(r), ...); }

  // The words of a partial whose fields add integers: see detail/bulk/word_table.cuh.
  static constexpr unsigned words = (words_of<typename Fields::type> + ...);
  WARDEN_HOST_DEVICE static constexpr bool carries_into(unsigned w) {
    unsigned begin = 0;
    bool begins = false;
    ((begins = begins || begin == w, begin += words_of<typename Fields::type>), ...);
    return !begins;
  }
  WARDEN_DEVICE void to_words(std::uint32_t (&to)[words]) const requires(Fields::adds_words&&...) {
    std::uint32_t* next = to;
    (write_words<typename Fields::type>(next, field_cell<Fields>::value), ...);
  }
  WARDEN_DEVICE static aggregate_partial of_words(std::uint32_t const (&from)[words]) requires(
      Fields::adds_words&&...) {
    std::uint32_t const* next = from;
    return aggregate_partial{field_cell<Fields>{read_words<typename Fields::type>(next)}...};
  }

 private:
  // `of_words` initializes by braces, which fix the order of its reads.
  WARDEN_DEVICE explicit aggregate_partial(field_cell<Fields> const&... fields)
      : field_cell<Fields>{fields}... {}
  template <class Field>
  WARDEN_DEVICE static void add(field_cell<Field>& to, field_cell<Field> const& other) {
    to.value = Field::combine(to.value, other.value);
  }
  template <class Field>
  WARDEN_DEVICE void update(record& r) const {
    r.*Field::member = Field::combine(r.*Field::member, field_cell<Field>::value);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
