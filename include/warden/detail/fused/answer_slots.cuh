// SPDX-License-Identifier: Apache-2.0
/// @file
/// Slots for answers, in global memory. They belong to client threads, and each message of a call
/// names one.
///
/// A client thread numbers its calls. Call n uses the thread's slot n mod `calls`, in generation n
/// div `calls`. The message of the call carries both numbers. The words of an answer carry the
/// generation in the place of a message's sequence tag, so a reader can check that an answer is
/// complete. A slot is reused only after its answer has arrived, even if no thread waits for that
/// answer. So no thread reads the answer to another call.
#pragma once

#include <warden/detail/fused/message.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Slot and generation of a call, as a message carries them.
struct return_address {
  /// Bits of the generation. It only has to differ from the slot's generation before.
  static constexpr unsigned generation_bits = 8;
  /// Address of no call.
  static constexpr std::uint32_t nowhere = ~0u;
  /// Number of slots that an address can name.
  static constexpr std::uint32_t most_slots = (1u << (32 - generation_bits)) - 1;

  std::uint32_t bits;  ///< slot in the upper bits, generation in the lower bits

  /// Returns the address of a slot. Precondition: `slot` < `most_slots`.
  WARDEN_DEVICE static return_address of(std::uint32_t slot, std::uint32_t generation) {
    return {slot << generation_bits | (generation & ((1u << generation_bits) - 1))};
  }
  /// Returns the slot.
  WARDEN_DEVICE std::uint32_t slot() const { return bits >> generation_bits; }
  /// Returns the generation, as the answer's words carry it.
  WARDEN_DEVICE std::uint32_t generation() const { return bits & ((1u << generation_bits) - 1); }
};

/// Format of answers of up to `Bytes` bytes.
template <std::size_t Bytes>
struct answer_format {
  static_assert(Bytes <= 48, "warden: a section's return value may take at most 48 bytes");
  /// Number of flits of an answer, 1 to 4.
  static constexpr int flits =
      static_cast<int>((Bytes + flit::bytes_of_payload - 1) / flit::bytes_of_payload);
  /// Message that carries an answer. It names no record.
  using message_type = message<flits>;

  /// Returns the message of an answer, with generation 0.
  template <class Value>
  WARDEN_DEVICE static message_type pack(Value const& value) {
    typename message_type::payload p{};
    memcpy(&p.words[0], &value, sizeof(Value));
    return message_type::of(p);
  }
  /// Returns the value that `pack` was given.
  template <class Value>
  WARDEN_DEVICE static Value unpack(message_type const& m) {
    auto const p = m.unpacked();
    return read_from<Value>(&p.words[0]);
  }
};

/// State of a client thread's calls. No other thread accesses it.
struct alignas(16) call_state {
  std::uint32_t next;     ///< number of the next call; at first, the number of slots
  std::uint32_t open;     ///< bit k: there is a future for slot k
  std::uint32_t pending;  ///< bit k: the answer of slot k's last call was not seen yet
  /// Bit k: slot k's last call was staged and has not left its block. If bit k of `pending` is 0,
  /// the call was lost and the slot stays taken.
  std::uint32_t staged;
};

/// Slots of a launch's client threads: `Calls` for each thread, with answers of `Flits` flits.
template <int Flits, unsigned Calls>
class answer_slots {
  static_assert(Calls != 0 && Calls <= 32 && (Calls & (Calls - 1)) == 0,
                "warden: calls_per_thread is a power of two from 1 to 32");

 public:
  /// Number of calls that a thread may have in progress.
  static constexpr unsigned calls = Calls;
  /// Message of an answer.
  using message_type = message<Flits>;

  /// Number of flits for `threads` client threads. Precondition: `threads` is a multiple of 32.
  static constexpr std::size_t flits(std::size_t threads) { return threads * Calls * Flits; }

  simt::flit_words* slots = nullptr;  ///< `flits(threads)` of them
  call_state* states = nullptr;       ///< one for each client thread

  /// Loads the slot's content into `m`. Returns true if that is an answer of the address's
  /// generation.
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

  /// Returns the address of a slot's flit. Slots that the threads of a warp use for calls of the
  /// same number are adjacent, so one load of a waiting warp reads all of them.
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
