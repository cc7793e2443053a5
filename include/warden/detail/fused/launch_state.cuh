// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of guarded arrays that a launch's other guarded arrays keep for its dump, and the
/// functions that make the dump.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/fused/channel.cuh>
#include <warden/detail/fused/launch_control.cuh>
#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Channels of one guarded array, or its rings. A launch state keeps them alive for its dump.
struct channel_memory {
  buffer<channel_index> available;  ///< credits; only of rings
  buffer<channel_indices> indices;
  buffer<simt::flit_words> slots;

  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return available.bytes() + indices.bytes() + slots.bytes();
  }
  /// Empties the channels; their next index is `first`. Blocks the host.
  template <class Channel>
  void reset(std::uint64_t first, unsigned capacity_log2, stream_ref s,
             std::source_location where) {
    channel_indices start{};
    start.reserved.value = start.released.value = start.executed.value = first;
    std::vector<channel_indices> const all(indices.size(), start);
    copy(indices.data(), all.data(), all.size(), s, where);
    auto const one = Channel::empty(first, capacity_log2);
    std::vector<simt::flit_words> flits;
    if (std::all_of(one.begin(), one.end(),
                    [](simt::flit_words w) { return (w.first | w.second) == 0; })) {
      slots.fill_bytes(0, s, where);
    } else {
      flits.reserve(slots.size());
      for (std::size_t c = 0; c < indices.size(); ++c)
        flits.insert(flits.end(), one.begin(), one.end());
      copy(slots.data(), flits.data(), flits.size(), s, where);
    }
    s.synchronize(where);  // the host memory above ends here
  }
};

/// State of one guarded array that launches and their dumps need. Constant, so that other guarded
/// arrays of its launches can keep it in other host threads.
struct launch_state {
  /// Channels of the guarded array, or its rings.
  struct channels {
    std::shared_ptr<channel_memory const> memory;
    unsigned servers, capacity_log2;
    std::uint64_t slots;  ///< elements of one channel
    bool (*is_published)(simt::flit_words const* slots, std::uint64_t index,
                         unsigned capacity_log2);
    std::uint64_t credits;  ///< number of a ring's credits; 0 for channels
  };

  std::vector<channels> groups;
  std::shared_ptr<buffer<launch_control> const> control;
};

/// Reads the progress of the channels of the guarded array at `position` when its launch `number`
/// failed. Blocks the host. Precondition: nothing runs on them.
inline void read_channels(diagnosis& d, launch_state::channels const& group, std::uint32_t position,
                          std::uint64_t number, stream_ref s, std::source_location where) {
  if (group.credits != 0) {
    channel_index available;
    copy(&available, group.memory->available.data(), 1, s, where);
    s.synchronize(where);
    d.credits.push_back({position, group.credits, static_cast<std::int64_t>(available.value)});
  }
  std::vector<channel_indices> indices(group.servers);
  std::size_t const capacity = std::size_t{1} << group.capacity_log2;
  std::vector<simt::flit_words> slots(group.slots);
  copy(indices.data(), group.memory->indices.data(), indices.size(), s, where);
  s.synchronize(where);
  for (std::uint32_t server = 0; server < group.servers; ++server) {
    channel_indices const& at = indices[server];
    channel_state c{position,
                    server,
                    static_cast<std::uint32_t>(capacity),
                    at.started.value == number,
                    group.credits != 0,
                    at.reserved.value,
                    at.released.value,
                    at.executed.value,
                    at.released.value};
    copy(slots.data(), group.memory->slots.data() + server * slots.size(), slots.size(), s, where);
    s.synchronize(where);
    while (c.published < c.reserved && c.published - c.released < capacity &&
           group.is_published(slots.data(), c.published, group.capacity_log2)) {
      ++c.published;
    }
    d.channels.push_back(c);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
