// SPDX-License-Identifier: Apache-2.0
/// @file
/// The end of work where servers send.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Kept by the one thread of a server that looks for the end.
template <class Ref>
class drain {
 public:
  /// Whether clients will send nothing more to any server, and no server has anything under way.
  /// `of_clients` is the server's own channel.
  WARDEN_DEVICE bool has_ended(Ref const& ref, typename Ref::channel const& of_clients) {
    std::uint32_t* const count = word(ref);
    if (!counted_) {
      if (!ref.work_has_ended(of_clients)) return false;
      counted_ = true;
      // Release: the tokens that this server took for its clients come before.
      simt::fence_device();
      simt::fetch_add(count, 1u);
    }
    if (simt::load_relaxed(count) != ref.owners.servers())
      return false;  // sabotage: forward-drained
    // Acquire: no server takes tokens for clients any more. If all are back, none is ever taken.
    simt::fence_device();        // sabotage: drain-acquire
    return ref.rings.has_all();  // sabotage: forward-end
  }
  /// The words, beside the channel's, that change when the work may have ended.
  template <class Watch>
  WARDEN_DEVICE static void watch(Ref const& ref, Watch watch_word) {
    watch_word(&ref.rings.available->value);
    watch_word(word(ref));
    watch_word(&ref.frame.control->counters.client_blocks_done);
  }

 private:
  WARDEN_DEVICE static std::uint32_t* word(Ref const& ref) {
    return &ref.frame.control->counters.servers_drained[ref.position];
  }

  bool counted_ = false;
};

WARDEN_NAMESPACE_END
