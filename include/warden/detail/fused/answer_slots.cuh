// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where answers arrive: slots in global memory that belong to client threads, and how a message
/// names one.
///
/// A client thread numbers its calls. Call n uses the thread's slot n mod `calls`, in generation n
/// div `calls`; its message carries both. An answer is written as flits whose words carry the
/// generation where those of a message carry the lap, so it proves itself as a message does. A slot
/// is never used again before its answer has arrived, whether anybody waits for that or not: so
/// nobody reads an answer to another call.
#pragma once

#include <warden/detail/fused/message.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A slot and a generation, as they travel in a message.
struct return_address {
  /// Bits of the generation; it only has to differ from the one before.
  static constexpr unsigned generation_bits = 8;
  /// The address of no call.
  static constexpr std::uint32_t nowhere = ~0u;
  /// Slots that can be named.
  static constexpr std::uint32_t most_slots = (1u << (32 - generation_bits)) - 1;

  std::uint32_t bits;  ///< the slot, and below it the generation

  /// The address of a slot below `most_slots`.
  WARDEN_DEVICE static return_address of(std::uint32_t slot, std::uint32_t generation) {
    return {slot << generation_bits | (generation & ((1u << generation_bits) - 1))};
  }
  /// The slot.
  WARDEN_DEVICE std::uint32_t slot() const { return bits >> generation_bits; }
  /// Its generation, as it stands in the answer's words.
  WARDEN_DEVICE std::uint32_t generation() const { return bits & ((1u << generation_bits) - 1); }
};

/// How answers of up to `Bytes` bytes are written.
template <std::size_t Bytes>
struct answer_format {
  static_assert(Bytes <= 48, "warden: a section's return value may take 48 bytes at most");
  /// Flits of an answer, 1 to 4.
  static constexpr int flits =
      static_cast<int>((Bytes + flit::bytes_of_payload - 1) / flit::bytes_of_payload);
  /// How an answer travels: as a message without a record.
  using message_type = message<flits>;

  /// The answer, its generation zero.
  template <class Value>
  WARDEN_DEVICE static message_type pack(Value const& value) {
    typename message_type::payload p{};
    memcpy(&p.words[0], &value, sizeof(Value));
    return message_type::of(p);
  }
  /// What `pack` was given.
  template <class Value>
  WARDEN_DEVICE static Value unpack(message_type const& m) {
    auto const p = m.unpacked();
    return read_from<Value>(&p.words[0]);
  }
};

/// What a client thread remembers of its calls. The thread's own: no other one looks at it.
struct alignas(16) call_state {
  std::uint32_t next;     ///< number of its next call; the first one's is the number of its slots
  std::uint32_t open;     ///< bit k: there is a future for slot k
  std::uint32_t pending;  ///< bit k: nobody has seen the answer of slot k's last call arrive
  /// Bit k: slot k's last call was staged and has not left its block. If it is not pending, it was
  /// lost: the slot stays taken.
  std::uint32_t staged;
};

/// The slots of a launch's client threads, `Calls` a thread, answers of `Flits` flits.
template <int Flits, unsigned Calls>
class answer_slots {
  static_assert(Calls != 0 && Calls <= 32 && (Calls & (Calls - 1)) == 0,
                "warden: calls_per_thread is a power of two from 1 to 32");

 public:
  /// Calls that a thread may have under way.
  static constexpr unsigned calls = Calls;
  /// An answer's message.
  using message_type = message<Flits>;

  /// Flits of memory for so many client threads, a multiple of 32.
  static constexpr std::size_t flits(std::size_t threads) { return threads * Calls * Flits; }

  simt::flit_words* slots = nullptr;  ///< `flits(threads)` of them
  call_state* states = nullptr;       ///< one a client thread

  /// What stands in the slot now; true if that is an answer of that generation.
  WARDEN_DEVICE bool receive(return_address from, message_type& m) const {
    auto const flit_at = [&](int l) { return place(from, l); };
    return load_message<marks>(m, flit_at, from.generation());  // mutation: answer-generation
  }
  /// Writes an answer.
  WARDEN_DEVICE void answer(return_address to, message_type const& m) const {
    store_message<marks>(
        m, [&](int l) { return place(to, l); }, to.generation());
  }
  /// Calls `f` with the addresses that change when the answer is written.
  template <class Watch>
  WARDEN_DEVICE void watch(return_address at, Watch f) const {
    watch_message<Flits>([&](int l) { return place(at, l); }, f);
  }

 private:
  using marks = flit::sequence_in_each_word;

  /// The slots that the threads of a warp use for calls of the same number lie together: when the
  /// warp waits, one load looks at all of them.
  WARDEN_DEVICE simt::flit_words* place(return_address at, int l) const {
    std::uint32_t const thread = at.slot() / Calls;
    std::uint32_t const warp = thread / simt::warp_size;
    std::size_t const row =
        (std::size_t{warp} * Calls + at.slot() % Calls) * Flits + static_cast<unsigned>(l);
    return slots + row * simt::warp_size + thread % simt::warp_size;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
