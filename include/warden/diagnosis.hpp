// SPDX-License-Identifier: Apache-2.0
/// @file
/// Facts about a launch that ended without progress: which thread waited for what, and the state of
/// every channel.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Thing that a device thread was waiting for when its time limit ran out.
enum class wait_kind : std::uint32_t {
  nothing,  ///< no wait has failed
  credit,   ///< a client waited for free slots of a channel
  message,  ///< a server waited for a reserved slot to be published
  lock,     ///< a server or a baseline waited for a lock
  answer,   ///< a caller waited for the answer of a section
  room,     ///< nothing: a ring was full of sections that sections had sent
  earlier,  ///< nothing: the launch did not run, because an earlier launch of one of its guarded
            ///< arrays had failed
  part,     ///< a run in rounds waited for a tile that an earlier tile pair has
  tile,     ///< an allocation in order waited for an earlier tile
};

/// The first wait that ran out of time. The thread that poisoned the launch wrote it.
struct failed_wait {
  wait_kind kind;         ///< kind of the thing waited for
  std::uint32_t block;    ///< block of the launch
  std::uint32_t thread;   ///< thread of that block
  std::uint32_t guarded;  ///< position of the guarded array among the launch's arguments
  std::uint32_t channel;  ///< server whose channel or lock table was waited for; or tile
  std::uint32_t launch;   ///< number of the launch among those of the first guarded array; all
                          ///< replays have one number
  std::uint64_t index;  ///< index of a slot, lock or tile; or number of tile pairs that come first
  std::uint32_t client_blocks;       ///< client blocks of the launch
  std::uint32_t client_blocks_done;  ///< client blocks that had finished
  wait_kind cause;  ///< kind `earlier`: the failed wait of the earlier launch or run
};

/// State of one channel. All four indices only grow. `executed` and `released` never exceed
/// `reserved`.
struct channel_state {
  std::uint32_t guarded;    ///< position of the guarded array among the launch's arguments
  std::uint32_t server;     ///< the channel's server
  std::uint32_t capacity;   ///< slots
  bool started;             ///< true if its server block ever ran
  bool is_ring;             ///< true if servers send to it, instead of clients
  std::uint64_t reserved;   ///< slots handed to senders
  std::uint64_t published;  ///< first slot not yet published
  std::uint64_t executed;   ///< messages executed, counted from the channel's first index
  std::uint64_t released;   ///< slots returned to senders
};

/// Credits for sections on their way between servers, of a guarded array whose sections send
/// sections.
struct credits_state {
  std::uint32_t guarded;   ///< position of the guarded array among the launch's arguments
  std::uint64_t credits;   ///< number of credits
  std::int64_t available;  ///< credits that no thread holds; negative if sections sent more than
                           ///< they declare
};

/// Dump of a poisoned launch.
struct diagnosis {
  failed_wait wait{};                    ///< the wait that poisoned the launch
  double limit_seconds = 0;              ///< time limit without progress. Units: seconds
  std::uint32_t client_blocks = 0;       ///< client blocks of the launch
  std::uint32_t client_blocks_done = 0;  ///< client blocks that had finished
  std::vector<channel_state> channels;   ///< all channels of the launch, by guarded and server
  std::vector<credits_state> credits;    ///< credits of the guarded arrays that have any
};

/// Returns the name of the thing that a failed wait waited for.
char const* to_string(wait_kind kind);
/// Returns the dump as text: one line for the failed wait, and one for each channel that is not
/// empty.
std::string to_string(diagnosis const& d);

WARDEN_HOST_NAMESPACE_END
