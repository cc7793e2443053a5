// SPDX-License-Identifier: Apache-2.0
/// @file
/// The messages of a log by place, in global memory.
#pragma once

#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/execute/section_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Places of messages that are stored whole, in an array.
template <class Message>
struct message_places {
  Message* pool;  ///< messages

  /// Returns the places of a log.
  template <class Log>
  WARDEN_HOST_DEVICE static message_places of(Log const& log) {
    return {log.pool};
  }
  /// Returns the record's number in the message at a place.
  WARDEN_DEVICE std::uint32_t local(std::uint32_t place) const { return pool[place].local(); }
  /// Returns the section of the message at a place.
  template <class Format, class Section>
  WARDEN_DEVICE Section section(std::uint32_t place) const {
    return Format::template unpack<Section>(pool[place]);
  }
};
/// Places of messages whose numbers and payloads are stored apart: in the memory of `size` messages
/// the payloads of all places come first, and then the numbers.
template <class Message>
requires is_apart<Message>
struct message_places<Message> {
  static constexpr unsigned bytes_each = sizeof(Message) - sizeof(std::uint32_t);
  /// Part of a payload, which a thread stores at once.
  struct alignas(16) part {
    std::uint32_t words[4];
  };
  /// Parts of a payload.
  static constexpr unsigned parts_each = bytes_each / sizeof(part);
  /// Payload of a message, which a thread loads at once.
  struct payload {
    part parts[parts_each];
  };
  static_assert(bytes_each % sizeof(part) == 0);

  Message* pool;       ///< memory of `size` messages, aligned for a part
  std::uint32_t size;  ///< places

  /// Returns the places of a log.
  template <class Log>
  WARDEN_HOST_DEVICE static message_places of(Log const& log) {
    return {log.pool, log.size};
  }
  /// Returns the payloads. [size]
  WARDEN_DEVICE payload* payloads() const { return reinterpret_cast<payload*>(pool); }
  /// Returns the records' numbers. [size]
  WARDEN_DEVICE std::uint32_t* locals() const {
    return reinterpret_cast<std::uint32_t*>(payloads() + size);
  }
  /// Returns the record's number in the message at a place.
  WARDEN_DEVICE std::uint32_t local(std::uint32_t place) const { return locals()[place]; }
  /// Returns the section of the message at a place.
  template <class Format, class Section>
  WARDEN_DEVICE Section section(std::uint32_t place) const {
    payload const loaded = payloads()[place];
    return __builtin_bit_cast(Section, loaded);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
