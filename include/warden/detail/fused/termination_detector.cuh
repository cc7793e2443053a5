// SPDX-License-Identifier: Apache-2.0
/// @file
/// The end of work: of what clients send, and of what servers send one another.
#pragma once

#include <warden/detail/fused/launch_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Whether all that clients will ever send to a channel of `ref`'s was executed. Clients first:
/// only when all are done is `reserved` final, and only then does it mean something that as many
/// were executed.
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

/// Tells the end of work where servers send as well: clients will send nothing more, and no message
/// is under way between servers. Kept by the one thread of a server that looks for it.
template <class Ref>
class termination_detector {
 public:
  /// Whether clients will send nothing more to any server, and no server has anything under way.
  /// `of_clients` is the server's own channel.
  WARDEN_DEVICE bool has_ended(Ref const& ref, typename Ref::channel const& of_clients) {
    std::uint32_t* const count = word(ref);
    if (!counted_) {
      if (!clients_have_ended(ref, of_clients)) return false;
      counted_ = true;
      // Release: the credits that this server took for its clients come before.
      simt::fence_device();
      simt::fetch_add(count, 1u);
    }
    if (simt::load_relaxed(count) != ref.owners.servers())
      return false;  // mutation: forward-drained
    // Acquire: no server takes credits for clients any more. If all are back, none is ever taken.
    simt::fence_device();        // mutation: drain-acquire
    return ref.rings.has_all();  // mutation: forward-end
  }
  /// The words, beside the channel's, that change when the work may have ended.
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
