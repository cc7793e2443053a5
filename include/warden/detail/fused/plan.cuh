// SPDX-License-Identifier: Apache-2.0
/// @file
/// Computes a guarded array's parameters from its options and defaults, and refuses impossible
/// ones.
#pragma once

#include <warden/detail/execute/check_owner_map.cuh>
#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/execute/minimum_blocks.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Fills in a guarded array's options and its ref. All functions throw limit_error.
template <class Ref>
class plan {
  using policy = typename Ref::policy;

 public:
  /// Plans a guarded array on a device. `where` is where it was made.
  plan(Ref& ref, guarded_options& options, int device, std::source_location where)
      : ref_{ref}, options_{options}, device_{device}, where_{where} {}

  /// Chooses the library's own owner map.
  void choose_owners(std::size_t size) {
    if (options_.servers == 0) options_.servers = default_servers(size);
    if (options_.chunk == 0) options_.chunk = default_chunk(size);
    if (options_.chunk > (1u << 20) || !std::has_single_bit(options_.chunk)) {
      refuse("chunk " + std::to_string(options_.chunk) +
             " is not a power of two from 1 to 1048576");
    }
    ref_.owners = decltype(ref_.owners){options_.servers, options_.chunk};
  }
  /// Checks a user's owner map: a wrong one would access memory outside the records.
  void check_owners(std::size_t size) const {
    std::string const error_text = owner_map_error(ref_.owners, size, ref_.locals, where_);
    if (!error_text.empty()) refuse(error_text);
  }

  /// Computes all other parameters. Precondition: the owner map is set.
  void make(std::size_t size) {
    if (size >= 0xffffffffull) refuse(std::to_string(size) + " records; the limit is 4294967294");
    auto const facts = runtime::facts(device_, where_);
    if (!facts.cooperative_launch) refuse("device " + facts.name + " has no cooperative launch");
    if (Ref::has_pairs && size > partner::limit) {
      refuse(std::to_string(size) + " records; with sections on two records the limit is " +
             std::to_string(partner::limit));
    }
    if (options_.servers == 0) refuse("the owner map has no servers");
    if (options_.servers >= Ref::outbox::nowhere) {
      refuse(std::to_string(options_.servers) + " servers; the limit is " +
             std::to_string(Ref::outbox::nowhere - 1));
    }
    unsigned const c = options_.capacity = capacity();
    if (c < 32 || c > (1u << 20) || (c & (c - 1)) != 0) {
      refuse("capacity " + std::to_string(c) + " is not a power of two from 32 to 1048576");
    }
    std::uint64_t const locals = ref_.owners.locals(size);
    if (locals > 0xffffffffull) {
      refuse(std::to_string(locals) + " places for each server; the limit is 4294967295");
    }
    ref_.locals = static_cast<std::uint32_t>(locals);
    std::size_t const on_chip =
        record_store<Ref>::on_chip ? sizeof(typename Ref::record) * ref_.locals : 0;
    // A launch can halve windows that often.
    if (on_chip != 0 && server_bytes() > facts.shared_bytes_per_block) {
      refuse(std::to_string(ref_.locals) + " records of " +
             std::to_string(sizeof(typename Ref::record)) +
             " bytes for each server are too many for the chip: they need " +
             std::to_string(on_chip) + " bytes of shared memory in addition to the server's own " +
             std::to_string(server_bytes() - on_chip) + "; the device has " +
             std::to_string(facts.shared_bytes_per_block) + "; keep them in memory" +
             more_servers(size, facts, server_bytes() - on_chip));
    }
    constexpr unsigned most = run_window::most_halvings;
    std::size_t const bytes = block_bytes(facts, options_.servers, ref_.locals, most);
    if (bytes > facts.shared_bytes_per_block) {
      bool const few_would_fit =
          block_bytes(facts, 1, ref_.locals, most) <= facts.shared_bytes_per_block;
      refuse(
          std::to_string(options_.servers) + " servers with capacity " + std::to_string(c) +
          " need " + std::to_string(bytes) +
          " bytes of shared memory for each block; the device has " +
          std::to_string(facts.shared_bytes_per_block) +
          (few_would_fit ? ": make fewer servers" : ": make the policy's block_threads smaller"));
    }
    ref_.capacity_log2 = 0;
    while ((1u << ref_.capacity_log2) < c) ++ref_.capacity_log2;
    if (options_.first_index == 0) options_.first_index = c;
    if (options_.first_index < c) {
      refuse("first index " + std::to_string(options_.first_index) +
             " is below the channel's capacity, " + std::to_string(c));
    }
    constexpr std::uint64_t last = std::uint64_t{1} << 63;
    if (options_.first_index > last) {
      refuse("first index " + std::to_string(options_.first_index) + "; the limit is " +
             std::to_string(last));
    }
  }

 private:
  [[noreturn]] void refuse(std::string const& reason) const {
    throw limit_error{"guarded: " + reason, where_};
  }
  [[nodiscard]] std::size_t server_bytes() const {
    return Ref::server::shared_bytes(options_.capacity, ref_.locals, run_window::most_halvings);
  }
  /// Returns the number of slots of a channel: the option, or as many as the policy's bytes hold.
  [[nodiscard]] unsigned capacity() const {
    return options_.capacity != 0
               ? options_.capacity
               : std::bit_floor(static_cast<unsigned>(policy::channel_bytes /
                                                      sizeof(typename Ref::client_message)));
  }
  /// Returns the bytes of shared memory of a block that is a client or a server. If an outbox is
  /// too large for the device even with one destination, launches use none.
  [[nodiscard]] std::size_t block_bytes(runtime::device_facts const& facts, unsigned servers,
                                        std::uint64_t locals, unsigned halvings) const {
    std::size_t const server = Ref::server::shared_bytes(capacity(), locals, halvings);
    if (Ref::outbox::shared_bytes(1) > facts.shared_bytes_per_block) return server;
    return std::max(Ref::outbox::shared_bytes(servers), server);
  }
  /// Returns one server for each multiprocessor, or the policy's number. Fewer, if these servers
  /// would take more than half of the resident blocks even with a launch's smallest windows.
  [[nodiscard]] unsigned default_servers(std::size_t size) const {
    auto const facts = runtime::facts(device_, where_);
    unsigned const most = std::max(
        1u, static_cast<unsigned>(facts.multiprocessors) / policy::multiprocessors_per_server);
    for (unsigned servers = most; servers != 0; --servers) {
      std::uint64_t const locals = interleaved_owner_map{servers, 1}.locals(size);
      for (unsigned halvings = 0; halvings <= run_window::most_halvings; ++halvings) {
        std::size_t const bytes = block_bytes(facts, servers, locals, halvings);
        if (2 * servers <= blocks_that_hold(facts, policy::block_threads, bytes)) return servers;
      }
    }
    return most;
  }
  /// Returns advice for records that do not fit on chip: how many servers would suffice, unless no
  /// number leaves a multiprocessor to clients. `own` is the bytes of a server without its records.
  [[nodiscard]] std::string more_servers(std::size_t size, runtime::device_facts const& facts,
                                         std::size_t own) const {
    if constexpr (std::is_same_v<typename policy::owner_map, interleaved_owner_map>) {
      std::size_t const room =
          facts.shared_bytes_per_block > own ? facts.shared_bytes_per_block - own : 0;
      // After the server's own memory, the records are rounded up to 16 bytes.
      std::size_t const each =
          room / 16 * 16 / sizeof(typename Ref::record) / options_.chunk * options_.chunk;
      if (each == 0) return "";
      std::size_t const needed = (size + each - 1) / each;
      if (needed >= static_cast<std::size_t>(facts.multiprocessors)) return "";
      return ", or make at least " + std::to_string(needed) + " servers";
    } else {
      return "";
    }
  }
  /// Returns the default chunk. If records of one cache line have different owners, the line moves
  /// between them. Each server gets at least 8 chunks, so that the servers' shares are similar.
  [[nodiscard]] unsigned default_chunk(std::size_t size) const {
    if (record_store<Ref>::on_chip) return 1;  // no cache line moves
    constexpr std::size_t line = 128;
    std::size_t const fair = size / (8 * std::size_t{options_.servers});
    return static_cast<unsigned>(std::bit_floor(std::clamp<std::size_t>(
        fair, 1, std::max<std::size_t>(1, line / sizeof(typename Ref::record)))));
  }

  Ref& ref_;
  guarded_options& options_;
  int device_;
  std::source_location where_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
