// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a guarded array that its logs copy: they launch without the guarded array.
#pragma once

#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/execute/shared_state.cuh>
#include <warden/runtime.hpp>
#include <warden/section.cuh>

#include <cstddef>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

template <class Policy, class Record, class... Sections>
class guarded_ref;

namespace detail {

template <class Policy, class Record, class... Sections>
class fused_state;

/// Refuses programs without the definitions of fused launches, where it is made.
template <class Policy, class Record, class... Sections>
struct needs_fused_state {
  static_assert(is_defined<fused_state<Policy, Record, Sections...>>,
                "warden: this is for fused launches: include warden/fused.cuh");
};

/// State of a guarded array that logs and launches copy. Copies share ownership of its device
/// memory, so a log that has one stays valid when the guarded array is moved or destroyed.
template <class Policy, class Record, class... Sections>
class guarded_state {
 public:
  /// The policy of the guarded array.
  using policy = Policy;
  /// Argument that `launch_fused` gives a kernel.
  using ref = guarded_ref<Policy, Record, Sections...>;

  /// Returns the number of records.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the ordinal of the device that it lives on.
  [[nodiscard]] int device() const { return device_; }
  /// Returns the number of blocks that own records in a fused launch. Makes the channels if there
  /// are none. Throws as launch_fused does.
  [[nodiscard]] unsigned servers() const { return fused().options().servers; }
  /// Returns the slots of a channel. Makes the channels if there are none. Throws as launch_fused
  /// does.
  [[nodiscard]] unsigned capacity() const { return fused().options().capacity; }
  /// Returns the shared memory that a client block needs. Makes the channels if there are none.
  /// Units: bytes. Throws as launch_fused does.
  [[nodiscard]] std::size_t outbox_bytes() const { return fused().outbox_bytes(); }
  /// Returns the shared memory that a server needs, with its window halved `halvings` times. Makes
  /// the channels if there are none. Units: bytes. Throws as launch_fused does.
  [[nodiscard]] std::size_t server_bytes(unsigned halvings = 0) const {
    return fused().server_bytes(halvings);
  }

 protected:
  friend struct guarded_access;
  friend class fused_state<Policy, Record, Sections...>;

  /// Returns the state for fused launches, and makes it if there is none. Thread-safe.
  [[nodiscard]] auto& fused() const {
    using type = fused_state<Policy, Record, Sections...>;
    static_cast<void>(needs_fused_state<Policy, Record, Sections...>{});
    return static_cast<type&>(state_->fused([&] {
      runtime::device_scope const scope{device_, where_};
      return std::make_unique<type>(*this, where_);
    }));
  }

  int device_ = 0;
  guarded_options options_{};
  Record* records_ = nullptr;
  std::size_t size_ = 0;
  typename Policy::context context_{};
  bool has_owners_ = false;              ///< true if the user has chosen the owners
  typename Policy::owner_map owners_{};  ///< the user's owners
  std::source_location where_;
  std::shared_ptr<shared_state> state_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
