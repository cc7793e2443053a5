// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is known about a launch that ended without progress: who waited for what, and how far every
/// channel had come.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// What a device thread was waiting for when its time limit ran out.
enum class wait_kind : std::uint32_t {
  nothing,  ///< no wait has failed
  credit,   ///< a client waited for free slots of a channel
  message,  ///< a server waited for a reserved slot to be published
  lock,     ///< a server or a baseline waited for a lock
  answer,   ///< a caller waited for the answer of a section
  room,     ///< nothing: a ring was full of sections that sections had sent
  earlier,  ///< nothing: an earlier launch of one of its guarded arrays had failed, so this one did
            ///< not run
  part,     ///< a run in rounds waited for a part of the records that an earlier tile pair has
  tile,     ///< an allocation in order waited for an earlier tile
};

/// The first wait that ran out of time, written by the thread that poisoned the launch.
struct failed_wait {
  wait_kind kind;         ///< what was waited for
  std::uint32_t block;    ///< block of the launch
  std::uint32_t thread;   ///< thread of that block
  std::uint32_t guarded;  ///< position of the guarded among the launch's arguments
  std::uint32_t channel;  ///< server whose channel (or lock table) was waited for; or part
  std::uint32_t launch;   ///< which of the first guarded's launches; all replays alike
  std::uint64_t index;    ///< of a slot, lock or tile; or number of tile pairs that come first
  std::uint32_t client_blocks;       ///< client blocks of the launch
  std::uint32_t client_blocks_done;  ///< of these, how many had finished by then
  wait_kind cause;  ///< kind `earlier`: what the launch or run waited for that had failed
};

/// How far one channel had come. All four indices only grow: executed and released never pass
/// reserved.
struct channel_state {
  std::uint32_t guarded;    ///< position of the guarded among the launch's arguments
  std::uint32_t server;     ///< the channel's server
  std::uint32_t capacity;   ///< slots
  bool started;             ///< whether its server block ever ran
  bool is_ring;             ///< of messages between servers, not of clients
  std::uint64_t reserved;   ///< slots handed to senders
  std::uint64_t published;  ///< first slot not yet published
  std::uint64_t executed;   ///< messages executed, counted from the channel's first index
  std::uint64_t released;   ///< slots given back to senders
};

/// Sections that servers had under way, of a guarded array whose sections send sections.
struct credits_state {
  std::uint32_t guarded;   ///< position of the guarded among the launch's arguments
  std::uint64_t credits;   ///< there are
  std::int64_t available;  ///< of these, held by nobody; negative where sections sent more
};

/// The dump of a poisoned launch.
struct diagnosis {
  failed_wait wait{};                    ///< the wait that poisoned the launch
  double limit_seconds = 0;              ///< time limit without progress, in seconds
  std::uint32_t client_blocks = 0;       ///< client blocks of the launch
  std::uint32_t client_blocks_done = 0;  ///< of these, how many had finished
  std::vector<channel_state> channels;   ///< all channels of the launch, by guarded and server
  std::vector<credits_state> credits;    ///< of the guarded arrays that have any
};

/// What a failed wait waited for, as text.
char const* to_string(wait_kind kind);
/// The dump as text: one line for the failed wait, one for each channel that is not empty.
std::string to_string(diagnosis const& d);

WARDEN_HOST_NAMESPACE_END
