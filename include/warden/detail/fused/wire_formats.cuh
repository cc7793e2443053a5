// SPDX-License-Identifier: Apache-2.0
/// @file
/// Formats of the messages in channels: from clients, and between servers.
#pragma once

#include <warden/detail/execute/wire_types.cuh>
#include <warden/detail/fused/message.cuh>
#include <warden/section.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A section on two records that has one of them locked, on its way to the owner of the other
/// record. It carries the value of the locked record. `Sent` is the section as its sender sent it.
template <class Sent, class Record>
struct locked {
  Sent sent;                                       ///< its partner word names the locked record
  std::uint32_t record[(sizeof(Record) + 3) / 4];  ///< the locked record

  /// Returns the value of the locked record.
  WARDEN_DEVICE Record value() const { return read_from<Record>(record); }
  /// Returns `sent` with the value of its locked record.
  WARDEN_DEVICE static locked of(Sent const& sent, Record const& value) {
    locked l{sent, {}};
    memcpy(l.record, &value, sizeof(Record));
    return l;
  }
};
/// True if `T` is a section that has a record locked.
template <class T>
inline constexpr bool is_locked = is_a<locked, T>;

/// A record's new value on its way to the owner, which unlocks the record.
template <class Record>
struct unlock {
  std::uint32_t record[(sizeof(Record) + 3) / 4];  ///< the record

  /// Returns the value.
  WARDEN_DEVICE Record value() const { return read_from<Record>(record); }
  /// Returns the message with that value.
  WARDEN_DEVICE static unlock of(Record const& value) {
    unlock u{};
    memcpy(u.record, &value, sizeof(Record));
    return u;
  }
};
/// True if `T` is an unlock.
template <class T>
inline constexpr bool is_unlock = is_a<unlock, T>;
template <class... Types>
struct type_list {
  template <class... More>
  type_list<Types..., More...> operator+(type_list<More...>) const;
};
template <class Section, class Record, class Context>
using called_if_it_answers =
    std::conditional_t<answer_bytes<Section, Record, Context> != 0,
                       type_list<called<sent<Section, Record, Context>>>, type_list<>>;
/// Messages between servers for a section on two records, sent or called.
template <class Sent, class Record>
struct between_servers {
  using type = type_list<>;
};
template <class Section, class Record>
struct between_servers<paired<Section>, Record> {
  using type = type_list<locked<paired<Section>, Record>>;
};
template <class Section, class Record>
struct between_servers<called<paired<Section>>, Record> {
  using type = type_list<locked<called<paired<Section>>, Record>>;
};
template <bool Nests, class Record, class Clients>
struct with_servers {
  using type = Clients;
};
template <class Record, class... Sent>
struct with_servers<true, Record, type_list<Sent...>> {
  using type = decltype((type_list<Sent..., unlock<Record>>{} + ... +
                         typename between_servers<Sent, Record>::type{}));
};
template <class List>
struct format_of;
template <class... Sections>
struct format_of<type_list<Sections...>> {
  using type = message_format<Sections...>;
};

/// Format of all messages that a guarded array's clients may send; with `Nests`, also of the
/// messages between its servers.
template <bool Nests, class Record, class Context, class... Sections>
using format_for = typename detail::format_of<typename detail::with_servers<
    Nests, Record,
    decltype((detail::type_list<sent<Sections, Record, Context>...>{} + ... +
              detail::called_if_it_answers<Sections, Record, Context>{}))>::type>::type;

}  // namespace detail
WARDEN_NAMESPACE_END
