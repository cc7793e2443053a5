// SPDX-License-Identifier: Apache-2.0
/// @file
/// End of work: for messages of clients, and for messages between servers.
#pragma once

#include <warden/detail/fused/launch_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns true if all messages that clients will ever send to a channel of `ref` were executed.
/// Reads the count of finished clients first: only when all are done, `reserved` is final and
/// comparable with `executed`.
template <class Ref>
WARDEN_DEVICE bool clients_have_ended(Ref const& ref, typename Ref::channel const& c) {
  launch_ref const& launch = ref.launch;
  bool const done = simt::load_relaxed(&launch.control->counters.client_blocks_done) ==
                    launch.client_blocks;  // mutation: end-of-work
  if (!done) return false;
  // Acquire, once: the client blocks reserved before they counted themselves done.
  simt::fence_device();
  return simt::load_relaxed(&c.indices()->executed.value) ==
         simt::load_relaxed(&c.indices()->reserved.value);
}

/// Detects the end of work if servers send messages too: clients will send nothing more, and no
/// message is in progress between servers. Used by one thread of each server.
template <class Ref>
class termination_detector {
 public:
  /// Returns true if clients will send nothing more to any server, and no server has a message in
  /// progress. `own_channel` is the server's own channel.
  WARDEN_DEVICE bool has_ended(Ref const& ref, typename Ref::channel const& own_channel) {
    std::uint32_t* const count = word(ref);
    if (!counted_) {
      if (!clients_have_ended(ref, own_channel)) return false;
      counted_ = true;
      // Release: the server took its credits for clients' messages before this count.
      simt::fence_device();
      simt::fetch_add(count, 1u);
    }
    if (simt::load_relaxed(count) != ref.owners.servers())
      return false;  // mutation: forward-drained
    // Acquire: no server takes credits for clients any more. If all credits are back, none is ever
    // taken again.
    simt::fence_device();        // mutation: drain-acquire
    return ref.rings.has_all();  // mutation: forward-end
  }
  /// Watches the words, in addition to the channel's, that change when the work may have ended.
  template <class Watch>
  WARDEN_DEVICE static void watch(Ref const& ref, Watch watch_word) {
    watch_word(&ref.rings.available->value);
    watch_word(word(ref));
    watch_word(&ref.launch.control->counters.client_blocks_done);
  }

 private:
  WARDEN_DEVICE static std::uint32_t* word(Ref const& ref) {
    return &ref.launch.control->counters.servers_drained[ref.position];
  }

  bool counted_ = false;
};

}  // namespace detail
WARDEN_NAMESPACE_END
