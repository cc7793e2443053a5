// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies of servers for sections on two records: one server that owns all records, or many
/// servers that each own a share.
#pragma once

#include <warden/error.hpp>
#include <warden/guarded.cuh>
#include <warden/runtime.hpp>

#include <cstddef>
#include <string>

namespace apps {

/// One server owns all records. Every pair has one owner, and no message passes between servers.
template <class Context, unsigned Threads, warden::placement Where>
using colocated =
    warden::policy<warden::options{.records = Where,
                                   .block_threads = Threads,
                                   .tuning = {.minimum_blocks_per_multiprocessor = 768 / Threads}},
                   warden::context<Context>, warden::executor::locks<>>;

/// Every server owns its share of the records. Large rings allow more concurrent sections.
template <class Context, warden::placement Where>
using nested = warden::policy<warden::options{.records = Where,
                                              .tuning = {.minimum_blocks_per_multiprocessor = 3,
                                                         .forward_bytes = 4 * 1024 * 1024}},
                              warden::context<Context>, warden::executor::pair_messages<>>;

/// Returns what `make(options)` makes, a pointer to an object with `server_bytes()`, for the
/// executor pair_messages. 2 of the 3 messages of a section on two records pass between servers, so
/// there are two servers for a client block or, if the records leave a multiprocessor no room for
/// that, one. Throws limit_error if there is no room for one either; `what` names the records.
template <class Make>
auto with_pair_servers(Make make, std::string const& what) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  auto const multiprocessors = static_cast<unsigned>(facts.multiprocessors);
  for (unsigned on_each = 2;; --on_each) {
    auto made =
        make(warden::guarded_options{.servers = facts.simulated ? 0 : on_each * multiprocessors});
    std::size_t const room = facts.shared_bytes_per_block / (on_each + 1);
    if (made->server_bytes() <= room) return made;
    if (on_each == 1) {
      throw warden::limit_error{
          what + ": with them on chip a server takes " + std::to_string(made->server_bytes()) +
          " bytes of shared memory; next to a client block the limit is " + std::to_string(room)};
    }
  }
}

/// Returns the default number of client blocks of a launch.
inline unsigned client_blocks() {
  // Simulated threads are slow.
  return warden::runtime::facts(warden::runtime::current_device()).simulated ? 4 : 2048;
}

}  // namespace apps
