// SPDX-License-Identifier: Apache-2.0
/// @file
/// How ranks tell one another a few words that their hosts wait for.
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

/// `count` words of each rank, gathered by all, in a stream of its own. Moves, does not copy.
class rank_channel {
 public:
  /// Throws cuda_error.
  rank_channel(communicator world, std::uint32_t count, std::source_location where)
      : world_{std::move(world)},
        count_{count},
        stream_{stream_priority::high, where},
        own_{count, where},
        all_{std::size_t{count} * ranks(), where},
        host_{make_pinned<std::uint32_t>(std::size_t{count} * ranks(), where)} {}

  /// The ranks.
  [[nodiscard]] communicator const& world() const { return world_; }
  /// Its stream, for what comes behind.
  [[nodiscard]] stream_ref stream() const { return stream_; }
  /// This rank's words on the device, to be written by work in any stream.
  [[nodiscard]] buffer<std::uint32_t>& own() { return own_; }
  /// All ranks' on the device, by rank, where there are several.
  [[nodiscard]] std::uint32_t const* all() const { return all_.data(); }
  /// Bytes of device memory.
  [[nodiscard]] std::size_t bytes() const { return own_.bytes() + all_.bytes(); }

  /// The work that `s` holds by now writes this rank's words.
  void written(stream_ref s, std::source_location where) {
    written_.record(s, where);
    stream_ref{stream_}.wait_for(written_, where);
  }
  /// All ranks' words, by rank, once this rank's are written. Collective; blocks the host. Throws
  /// communicator_error.
  std::span<std::uint32_t const> gather(std::source_location where) {
    if (ranks() == 1) {
      // There is nobody to ask.
      copy(host_.get(), own_.data(), count_, stream_, where);
      stream_.synchronize(where);
    } else {
      world_.by().all_gather(own_.data(), all_.data(), own_.bytes(), stream_, where);
      copy(host_.get(), all_.data(), all_.size(), stream_, where);
      world_.by().wait(stream_, where);
    }
    return {host_.get(), all_.size()};
  }
  /// The same for words that the host has.
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
