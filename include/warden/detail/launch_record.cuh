// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the guardeds of one launch share after it, and how a dump is made of it.
#pragma once

#include <warden/buffer.hpp>
#include <warden/channel.cuh>
#include <warden/diagnosis.hpp>
#include <warden/launch_control.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The channels of one guarded, or its rings; a launch's record keeps them alive for its dump.
struct channel_memory {
  buffer<channel_index> available;  ///< tokens; only of rings
  buffer<channel_indices> indices;
  buffer<simt::lane_words> slots;

  /// Device memory, in bytes.
  [[nodiscard]] std::size_t bytes() const {
    return available.bytes() + indices.bytes() + slots.bytes();
  }
  /// Empty channels whose next index is `first`. Blocks the host.
  template <class Channel>
  void reset(std::uint64_t first, unsigned capacity_log2, stream_ref s) {
    channel_indices start{};
    start.reserved.value = start.released.value = start.executed.value = first;
    std::vector<channel_indices> const all(indices.size(), start);
    copy(indices.data(), all.data(), all.size(), s);
    auto const one = Channel::empty(first, capacity_log2);
    std::vector<simt::lane_words> lanes;
    if (std::all_of(one.begin(), one.end(),
                    [](simt::lane_words w) { return (w.first | w.second) == 0; })) {
      slots.fill_bytes(0, s);
    } else {
      lanes.reserve(slots.size());
      for (std::size_t c = 0; c < indices.size(); ++c)
        lanes.insert(lanes.end(), one.begin(), one.end());
      copy(slots.data(), lanes.data(), lanes.size(), s);
    }
    s.synchronize();  // the host memory above ends here
  }
};

/// What the guardeds of one launch share after it: where its health is and what to dump.
struct launch_record {
  buffer<launch_control> control{1};
  struct channels {
    std::shared_ptr<channel_memory const> memory;
    unsigned servers, capacity_log2;
    std::uint64_t slots;  ///< elements of one channel
    bool (*is_published)(simt::lane_words const* slots, std::uint64_t index,
                         unsigned capacity_log2);
    std::uint64_t launch_number;
    std::uint32_t guarded;  ///< position of theirs in the launch
    std::uint64_t tokens;   ///< of rings; 0 of channels
  };
  std::vector<channels> groups;
  time_limit limit;
  std::uint32_t launches = 0;  ///< on this control; those after a failed one run nothing
  std::size_t user_shared_bytes = 0;
  /// The last failure that some guarded's `wait` found; the others report it from here.
  std::optional<diagnosis> failure;
  std::uint64_t failures = 0;  ///< found so far

  /// Healthy, and waits for that: the next launch may come in any stream.
  void clear(stream_ref s) {
    control.fill_bytes(0, s);
    s.synchronize();
  }
};

/// Reads everything a dump needs from a device that has stopped.
inline diagnosis diagnose(launch_record const& launch, launch_control const& control) {
  diagnosis d;
  d.wait = control.health.first;
  d.limit_seconds = static_cast<double>(launch.limit.nanoseconds) * 1e-9;
  d.client_blocks = d.wait.client_blocks;
  d.client_blocks_done = d.wait.client_blocks_done;
  // Later launches on the failed one have counted on, but started no server.
  std::uint32_t const later = launch.launches - d.wait.launch;
  for (auto const& group : launch.groups) {
    if (group.tokens != 0) {
      channel_index available;
      copy(&available, group.memory->available.data(), 1);
      stream_ref{}.synchronize();
      d.tokens.push_back({group.guarded, group.tokens, static_cast<std::int64_t>(available.value)});
    }
    std::vector<channel_indices> indices(group.servers);
    std::size_t const capacity = std::size_t{1} << group.capacity_log2;
    std::vector<simt::lane_words> slots(group.slots);
    copy(indices.data(), group.memory->indices.data(), indices.size());
    stream_ref{}.synchronize();
    for (std::uint32_t s = 0; s < group.servers; ++s) {
      channel_state c{group.guarded,
                      s,
                      static_cast<std::uint32_t>(capacity),
                      indices[s].started.value + later == group.launch_number,
                      group.tokens != 0,
                      indices[s].reserved.value,
                      indices[s].released.value,
                      indices[s].executed.value,
                      indices[s].released.value};
      copy(slots.data(), group.memory->slots.data() + s * slots.size(), slots.size());
      stream_ref{}.synchronize();
      while (c.published < c.reserved && c.published - c.released < capacity &&
             group.is_published(slots.data(), c.published, group.capacity_log2)) {
        ++c.published;
      }
      d.channels.push_back(c);
    }
  }
  return d;
}

}  // namespace detail

WARDEN_NAMESPACE_END
