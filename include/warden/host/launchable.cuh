// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a launch needs of a guarded, and its logs, which launch without it, have a copy of.
#pragma once

#include <warden/guarded_options.hpp>
#include <warden/host/answer_memory.cuh>
#include <warden/host/forward_memory.cuh>
#include <warden/host/launch_history.cuh>
#include <warden/host/launch_state.cuh>
#include <warden/host/shared_state.cuh>
#include <warden/launch/guarded_ref.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What launches take of a guarded. Copies share ownership of its device memory, so a log that has
/// one stays valid when the guarded is moved or destroyed.
template <class Policy, class Record, class... Sections>
class launchable {
 public:
  /// What it was tuned by.
  using policy = Policy;
  /// What a kernel is handed by `launch_fused`.
  using ref = guarded_ref<Policy, Record, Sections...>;

  /// Records.
  [[nodiscard]] std::size_t size() const { return ref_.size; }
  /// Thread blocks that own records.
  [[nodiscard]] unsigned servers() const { return options_.servers; }
  /// Ordinal of the device it lives on.
  [[nodiscard]] int device() const { return device_; }
  /// Bytes of the block's shared memory that a client block of this guarded needs.
  [[nodiscard]] std::size_t outbox_bytes() const {
    return ref::outbox::shared_bytes(options_.servers);
  }
  /// Bytes of the block's shared memory that a server of this guarded needs, with its window halved
  /// `halvings` times.
  [[nodiscard]] std::size_t server_bytes(unsigned halvings = 0) const {
    return ref::server::shared_bytes(options_.capacity, ref_.locals, halvings);
  }
  /// Virtual blocks that send n sections: enough that no client block idles, and each with enough
  /// to fill its outbox.
  static unsigned virtual_blocks_for(std::size_t n) {
    std::size_t const batch = ref::outbox::batch;
    return static_cast<unsigned>(std::min<std::size_t>((n + batch - 1) / batch, 8u * 1024));
  }

 protected:
  friend struct launch_access;

  int device_ = 0;
  guarded_options options_{};
  ref ref_{};
  std::shared_ptr<channel_memory> channels_;
  std::shared_ptr<shared_state> state_;
  std::shared_ptr<forward_memory<ref>> forwards_;
  std::shared_ptr<answer_memory<ref>> answers_;
  std::shared_ptr<launch_history> history_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
