// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory for the answers to a guarded array's callers.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/fused/answer_slots.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <source_location>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Slots and call states for every client thread that a device can hold. Empty if no section of
/// `Ref` answers.
template <class Ref>
class answer_memory {
 public:
  /// Allocates the memory on the current device. Throws limit_error if the device holds too many
  /// threads, and cuda_error if memory is short.
  void make(Ref& ref, std::source_location where) {
    if constexpr (Ref::has_answers) {
      using slots = typename Ref::slots_of_answers;
      constexpr std::size_t block = Ref::policy::block_threads;
      auto const facts = runtime::facts(runtime::current_device(where), where);
      std::size_t const threads = static_cast<std::size_t>(facts.multiprocessors) *
                                  static_cast<unsigned>(facts.threads_per_multiprocessor) / block *
                                  block;
      if (threads * slots::calls > return_address::most_slots) {
        throw_limit_error(
            "guarded: % threads on the device with % calls each are too many; the limit is % calls",
            {threads, slots::calls, return_address::most_slots}, where);
      }
      slots_ = buffer<simt::flit_words>{slots::flits(threads), where};
      states_ = buffer<call_state>{threads, where};
      ref.answers_to.slots = slots_.data();
      ref.answers_to.states = states_.data();
      reset({}, where);
    }
  }
  /// Resets all slots and call states. Blocks the host.
  void reset(stream_ref s, std::source_location where) {
    if constexpr (Ref::has_answers) {
      slots_.fill_bytes(0, s, where);
      std::vector<call_state> const fresh(states_.size(),
                                          call_state{Ref::slots_of_answers::calls, 0, 0, 0});
      copy(states_.data(), fresh.data(), fresh.size(), s, where);
      s.synchronize(where);
    }
  }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const { return slots_.bytes() + states_.bytes(); }

 private:
  buffer<simt::flit_words> slots_;
  buffer<call_state> states_;  ///< one for each client thread
};

}  // namespace detail
WARDEN_NAMESPACE_END
