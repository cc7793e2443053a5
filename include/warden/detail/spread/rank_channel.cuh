// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exchange of a few words between ranks, for which their hosts wait.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/detail/spread/pinned.cuh>
#include <warden/simt/annotations.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Gathers `count` words of each rank at all ranks, in a stream of its own. Movable, not copyable.
class rank_channel {
 public:
  /// Constructs a channel. Throws cuda_error.
  rank_channel(communicator world, std::uint32_t count, std::source_location where)
      : world_{std::move(world)},
        count_{count},
        stream_{stream_priority::high, where},
        own_{count, where},
        all_{std::size_t{count} * ranks(), where},
        host_{make_pinned<std::uint32_t>(std::size_t{count} * ranks(), where)} {}

  /// Returns the communicator.
  [[nodiscard]] communicator const& world() const { return world_; }
  /// Returns the channel's stream, for work that follows the exchange.
  [[nodiscard]] stream_ref stream() const { return stream_; }
  /// Returns this rank's words on the device. Work in any stream may write them.
  [[nodiscard]] buffer<std::uint32_t>& own() { return own_; }
  /// Returns the words of all ranks on the device, by rank, if there are several ranks.
  [[nodiscard]] std::uint32_t const* all() const { return all_.data(); }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const { return own_.bytes() + all_.bytes(); }

  /// Notes that the work which `s` contains now writes this rank's words.
  void written(stream_ref s, std::source_location where) {
    written_.record(s, where);
    stream_ref{stream_}.wait_for(written_, where);
  }
  /// Returns the words of all ranks, by rank, after this rank's are written. Collective over the
  /// ranks; blocks the host. Throws communicator_error.
  std::span<std::uint32_t const> gather(std::source_location where) {
    if (ranks() == 1) {
      // There is no other rank.
      copy(host_.get(), own_.data(), count_, stream_, where);
      stream_.synchronize(where);
    } else {
      world_.transport().all_gather(own_.data(), all_.data(), own_.bytes(), stream_, where);
      copy(host_.get(), all_.data(), all_.size(), stream_, where);
      world_.transport().wait(stream_, where);
    }
    return {host_.get(), all_.size()};
  }
  /// Gathers words that the host has.
  std::span<std::uint32_t const> gather(std::span<std::uint32_t const> words,
                                        std::source_location where) {
    std::copy(words.begin(), words.end(), host_.get());
    copy(own_.data(), host_.get(), count_, stream_, where);
    return gather(where);
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(world_.size()); }

  communicator world_;
  std::uint32_t count_;
  warden::stream stream_;
  event written_;
  buffer<std::uint32_t> own_, all_;
  pinned<std::uint32_t> host_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
