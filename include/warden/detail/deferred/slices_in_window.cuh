// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adapter: runs the sections of a log by the `locks` worker, slice by slice.
#pragma once

#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Uses a slice_server's worker as a window_server's. Each warp runs the messages that it receives.
template <class Ref, class Worker>
class slices_in_window {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Messages of a thread in one window.
  static constexpr unsigned per_thread =
      std::max<unsigned>(1, (Ref::group_size == 1 ? 64 : 32) / sizeof(message_type));
  /// See partition_server.
  static constexpr bool by_warps = true;
  static constexpr bool runs_hot = false;  ///< a hot record is run as any other

  /// Bytes of shared memory for `locals` records of the server; windows take none.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals, unsigned) {
    return Worker::shared_bytes(locals);
  }
  /// For server `number`, with shared memory for the block.
  WARDEN_DEVICE slices_in_window(Ref const& ref, std::uint32_t number, std::byte* storage)
      : worker_{ref, number, storage} {}

  /// Collective; a block barrier follows.
  WARDEN_DEVICE void start() const { worker_.start(); }
  /// Does nothing: `execute` runs the messages.
  WARDEN_DEVICE void take(message_type const (&)[per_thread], unsigned) const {}
  /// Runs one slice for each k. Collective over the warp.
  WARDEN_DEVICE void execute(message_type const (&m)[per_thread], unsigned arrived) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k)
      static_cast<void>(worker_.run(m[k], (arrived >> k & 1u) != 0));
  }
  /// Collective.
  WARDEN_DEVICE void finish() const { worker_.finish(); }

 private:
  Worker worker_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
