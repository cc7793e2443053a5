// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exchange of messages between ranks, and the log that arriving messages form.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/spread/launch_blocks.cuh>
#include <warden/detail/spread/spread_kernels.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <source_location>
#include <utility>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Memory of both directions, and kernels of both ends. If the ranks can share memory, each copies
/// its packed messages to the others by copy engines, which take no multiprocessor from the kernel
/// that runs sections. Otherwise NCCL sends and receives. Movable, not copyable.
template <class Run>
class spread_exchange {
  using log_type = typename Run::log_type;
  using message_type = typename Run::message_type;

 public:
  /// Number of messages whose bytes are a multiple of 16.
  static constexpr std::uint32_t aligned =
      static_cast<std::uint32_t>(16 / std::gcd(std::size_t{16}, sizeof(message_type)));

  explicit spread_exchange(communicator world) : world_{std::move(world)} {}

  /// Allocates the memory for the messages of the log `from` and for arriving messages:
  /// `rooms[rank]` messages of logs of `rows[rank]` rows. Collective over the ranks. Throws
  /// cuda_error and communicator_error.
  void make(log_type const& from, partition_map columns, std::vector<std::uint32_t> const& rows,
            std::vector<std::uint32_t> const& rooms, std::source_location where) {
    columns_ = columns;
    std::uint32_t const all_rows = std::accumulate(rows.begin(), rows.end(), 0u);
    // Places left free after the messages of each rank.
    std::size_t const free_places = std::size_t{ranks()} * (aligned - 1);
    std::size_t const places = from.size + (from.last_shard + std::size_t{1}) * from.gap;
    cursors_ = buffer<std::uint32_t>{ranks(), where};
    sent_ = buffer<message_type>{places + free_places, where};
    sent_headers_ = buffer<std::byte>{ranks() * header_bytes(from.rows), where};
    std::size_t const room = rooms[own()] + free_places;
    headers_at_ = (room * sizeof(message_type) + 15) / 16 * 16;
    received_bytes_ = headers_at_;
    for (std::uint32_t const n : rows) received_bytes_ += header_bytes(n);
    // Shared memory has the same size on all ranks.
    if (std::ranges::count(rooms, rooms.front()) == std::ssize(rooms))
      shared_ = world_.transport().share(received_bytes_, where);
    if (shared_) {
      arrivals_ = buffer<std::uint32_t>{ranks() + std::size_t{1}, where};
    } else {
      received_ = buffer<std::byte>{received_bytes_, where};
    }
    offsets_ = buffer<std::uint16_t>{(columns_.partitions() + std::size_t{1}) * all_rows, where};
    begins_ = buffer<std::uint32_t>{all_rows, where};
    control_ = buffer<log_control>{1, where};
    control_.fill_bytes(0, {}, where);
    arrived_ = {};
    arrived_.pool = reinterpret_cast<message_type*>(received());
    arrived_.offsets = offsets_.data();
    arrived_.begins = begins_.data();
    arrived_.control = control_.data();
    arrived_.size = static_cast<std::uint32_t>(room);
    arrived_.rows = all_rows;
    arrived_.partitions = columns_;
    if constexpr (Run::in_order) {
      // Messages are put in their order when they are packed, and rank by rank.
      std::vector<std::uint32_t> turns(all_rows);
      std::iota(turns.begin(), turns.end(), 0u);
      turns_ = buffer<std::uint32_t>{turns, where};
      arrived_.order.rows = turns_.data();
    }
    pack_blocks_ = resident_blocks<Run>(pack_kernel_, packer_bytes(), from.rows, where);
    join_blocks_ =
        resident_blocks<Run>(join_kernel_, 0, std::min(columns_.partitions() + 2, all_rows), where);
  }
  /// Returns the memory of the table that is sent to rank `to`.
  [[nodiscard]] message_type* table_for(exchange_table const& t, std::uint32_t to) {
    return sent_.data() + t.packed_below(own(), to);
  }
  /// Returns the log of arrived messages. Its pool also holds the tables. Valid after `join`.
  [[nodiscard]] log_type const& arrived() const { return arrived_; }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return cursors_.bytes() + sent_.bytes() + sent_headers_.bytes() + received_bytes_ +
           arrivals_.bytes() + offsets_.bytes() + begins_.bytes() + turns_.bytes() +
           control_.bytes();
  }

  /// Enqueues the packing of a closed and sorted log's messages for other ranks. `t` is for the
  /// host, `on_device` is its copy for kernels.
  void pack(run_arguments<Run> const& run, exchange_table const& t, exchange_table const& on_device,
            stream_ref s, std::source_location where) {
    if (!sends_any_rows(t)) return;
    cursors_.fill_bytes(0, s, where);
    pack_arguments<Run> argument{
        run,          on_device,           own(), columns_.partitions(), cursors_.data(),
        sent_.data(), sent_headers_.data()};
    launch_blocks<Run>(pack_kernel_, pack_blocks_, packer_bytes(), argument, s, where);
  }
  /// Enqueues the transfer of packed messages. Work enqueued in `s` later finds the arrived
  /// messages. Collective over the ranks. Throws communicator_error.
  void send(exchange_table const& t, stream_ref s, std::source_location where) {
    if (shared_) {
      copy_pieces(t, s, where);
    } else {
      send_pieces(t, s, where);
    }
  }
  /// Enqueues the kernel that makes one log of the arrived messages, for run `number`.
  void join(exchange_table const& on_device, std::uint32_t number, stream_ref s,
            std::source_location where) {
    join_arguments<Run> argument{arrived_,
                                 on_device,
                                 own(),
                                 columns_.partitions(),
                                 received() + headers_at_,
                                 number,
                                 world_.transport().failed_word()};
    launch_blocks<Run>(join_kernel_, join_blocks_, 0, argument, s, where);
  }

 private:
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(world_.size()); }
  [[nodiscard]] std::uint32_t own() const { return static_cast<std::uint32_t>(world_.rank()); }
  [[nodiscard]] std::size_t packer_bytes() const { return log_packer<Run>::shared_bytes(ranks()); }
  [[nodiscard]] std::size_t header_bytes(std::uint32_t rows) const {
    return exchange_header::bytes(rows, columns_.partitions());
  }
  [[nodiscard]] bool sends_any_rows(exchange_table const& t) const {
    for (std::uint32_t to = 0; to < ranks(); ++to) {
      if (t.sends_rows(own(), to)) return true;
    }
    return false;
  }
  /// Returns the bytes of the header of the messages that rank `from` sends to rank `to`.
  [[nodiscard]] std::size_t header_of(exchange_table const& t, std::uint32_t from,
                                      std::uint32_t to) const {
    return t.sends_rows(from, to) ? header_bytes(t.rows(from)) : 0;
  }
  [[nodiscard]] std::byte* received() const {
    return shared_ ? shared_->at(world_.rank()) : received_.data();
  }

  /// A piece of messages, a table, or a header. Empty if there is none.
  struct span_of_bytes {
    std::byte* data;
    std::size_t bytes;
  };
  [[nodiscard]] std::array<span_of_bytes, 2> packed_for(exchange_table const& t,
                                                        std::uint32_t to) const {
    return {{{reinterpret_cast<std::byte*>(sent_.data() + t.packed_below(own(), to)),
              t.packed(own(), to) * sizeof(message_type)},
             {sent_headers_.data() + to * header_bytes(t.rows(own())), header_of(t, own(), to)}}};
  }
  /// Returns the places of the messages and the header that rank `from` sends to rank `to`, in the
  /// memory of rank `to` that begins at `memory`.
  [[nodiscard]] std::array<span_of_bytes, 2> place_of(exchange_table const& t, std::uint32_t from,
                                                      std::uint32_t to, std::byte* memory) const {
    std::size_t headers = headers_at_;
    for (std::uint32_t r = 0; r < from; ++r) headers += header_of(t, r, to);
    return {{{memory + std::size_t{t.packed_before(from, to)} * sizeof(message_type),
              t.packed(from, to) * sizeof(message_type)},
             {memory + headers, header_of(t, from, to)}}};
  }
  /// Copies this rank's packed messages to the memory of the other ranks. No kernel of theirs uses
  /// that memory now: a rank sends its counts after its last run.
  void copy_pieces(exchange_table const& t, stream_ref s, std::source_location where) {
    for (std::uint32_t k = 1; k <= ranks(); ++k) {
      std::uint32_t const to = (own() + k) % ranks();
      int const rank = static_cast<int>(to);  // mutation: copied-to-wrong-rank
      auto const from = packed_for(t, to);
      auto const places = place_of(t, own(), to, shared_->at(rank));
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i].bytes != 0)
          runtime::copy_async(places[i].data, from[i].data, from[i].bytes, s, where);
      }
    }
    await_copies(s, where);  // mutation: copies-awaited
  }
  /// Makes work that is enqueued in `s` from now on wait for the copies of all ranks: each rank's
  /// part of the gathering follows its copies in its stream.
  void await_copies(stream_ref s, std::source_location where) {
    std::uint32_t* const all = arrivals_.data();
    world_.transport().all_gather(all + ranks(), all, sizeof(std::uint32_t), s, where);
  }
  /// Sends this rank's packed messages, and receives those of other ranks.
  void send_pieces(exchange_table const& t, stream_ref s, std::source_location where) {
    std::vector<runtime::outgoing> sent;
    std::vector<runtime::incoming> received;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      int const rank = static_cast<int>(r);  // mutation: wrong-rank
      auto const pieces = packed_for(t, r);
      auto const places = place_of(t, r, own(), received_.data());
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (r == own() && pieces[i].bytes != 0)
          runtime::copy_async(places[i].data, pieces[i].data, pieces[i].bytes, s, where);
        if (r != own() && pieces[i].bytes != 0)
          sent.push_back({rank, pieces[i].data, pieces[i].bytes});
        if (r != own() && places[i].bytes != 0)
          received.push_back({rank, places[i].data, places[i].bytes});
      }
    }
    world_.transport().exchange(sent, received, s, where);
  }

  communicator world_;
  partition_map columns_;  ///< partitions of one rank
  log_type arrived_{};
  buffer<std::uint32_t> cursors_;
  buffer<message_type> sent_;
  buffer<std::byte> sent_headers_;
  /// Memory for arriving messages, and from `headers_at_` on for the headers of the ranks that sent
  /// any. Null if ranks cannot share memory: then `received_` is used.
  std::unique_ptr<runtime::shared_memory> shared_;
  buffer<std::byte> received_;
  std::size_t headers_at_ = 0, received_bytes_ = 0;
  buffer<std::uint32_t> arrivals_;  ///< [rank] words without meaning, and one more
  buffer<std::uint16_t> offsets_;
  buffer<std::uint32_t> begins_, turns_;
  buffer<log_control> control_;
  unsigned pack_blocks_ = 0, join_blocks_ = 0;
  runtime::kernel pack_kernel_ = simt::make_kernel(&pack_by_rank<Run>);
  runtime::kernel join_kernel_ = simt::make_kernel(&join_ranks<Run>);
};

}  // namespace detail
WARDEN_NAMESPACE_END
